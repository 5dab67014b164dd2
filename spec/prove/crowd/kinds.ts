/** The kinds of bad clients that the proof `crowd` knows. */
import { basic } from '../../support/api-client.ts'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { Identity } from '../../support/identities.ts'
import type { ProcessServer } from '../../support/server-process.ts'
import { ACCESS_KEY, SECRET_KEY } from '../../support/test-clients.ts'
import type { Badness } from './bad-clients.ts'
import { requestText } from '../../support/raw/request-text.ts'

/** What the bad clients find. */
export interface BadPlace {
  readonly server: ProcessServer
  readonly bucket: string
  /** The address of a share with a password. */
  readonly lockedShare: string
  /** An account that may do everything in the bucket. */
  readonly bad: Identity
  /** A token of an auditor. */
  readonly auditor: string
  /** An upload of that account to the key `begun`. */
  readonly upload: string
}

const FLOODERS = 24
/** Nearly as much as a head may hold. */
const LONG_PATH = 'p'.repeat(14_000)
/** Six times as long in a document of XML. */
const QUOTES = "'".repeat(15_900)
/** Requests that are sent one after the other, so that the kernel does not take all answers. */
const PIPELINED = 8
/** A list of parts with one ETag that no part has, and that is six times as long in an answer that repeats it. */
const LONG_COMPLETION = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${'"'.repeat(3_600_000)}</ETag></Part></CompleteMultipartUpload>`

/** By name. On the management plane the bad client is root itself, who has no share and can use the places kept for it. */
export function badKinds(place: BadPlace): Readonly<Record<string, readonly Badness[]>> {
  const { server, bucket, lockedShare, bad, auditor, upload } = place
  const { port } = server
  const apiPort = Number(new URL(server.apiEndpoint).port)
  const sign = { ...bad.signing.sign, payloadHash: 'UNSIGNED-PAYLOAD' }
  const text = (method: string, target: string, ...unsignedHeaders: HeaderLine[]) =>
    server.wire.headText(method, target, { sign, unsignedHeaders })
  const unsigned = (key: string, ...lines: string[]) =>
    requestText('GET', `/${bucket}/${key}`, ['host: 127.0.0.1', ...lines])
  const authorization = `authorization: ${basic(ACCESS_KEY, SECRET_KEY)}`
  const managed = (method: string, path: string) => requestText(method, `/api/v1${path}`, ['host: a', authorization])
  const slowBody = (connections: number, bytes: number): Badness => {
    const first = text('PUT', `/${bucket}/slow`, ['content-length', String(bytes)])
    return { port, connections, first, piece: 'x', reads: false }
  }
  const completion = `/${bucket}/begun?uploadId=${encodeURIComponent(upload)}`
  return {
    'silent connections': [
      { port: apiPort, connections: 1500, first: '', reads: false },
      { port, connections: 1500, first: '', reads: false },
    ],
    'slow bodies': [slowBody(400, 100_000), slowBody(200, 1000)],
    'slow readers': [{ port, connections: 400, first: text('GET', `/${bucket}/large`), reads: false }],
    'anonymous flood': [{ port, connections: FLOODERS, first: unsigned('small'), reads: true }],
    'long paths': [{ port, connections: FLOODERS, first: unsigned(LONG_PATH), reads: true }],
    'unread lists': [{ port, connections: 60, first: text('GET', `/${bucket}?list-type=2`).repeat(20), reads: false }],
    'unread refusals': [{ port, connections: 1500, first: unsigned(QUOTES).repeat(PIPELINED), reads: false }],
    'unread long lists': [
      { port, connections: 400, first: text('GET', `/${bucket}?list-type=2&prefix=long-names%2F`), reads: false },
    ],
    'unread completions': [
      {
        port,
        connections: 16,
        first: text('POST', completion, ['content-length', String(LONG_COMPLETION.length)]) + LONG_COMPLETION,
        reads: false,
      },
    ],
    'unread audit pages': [
      {
        port: apiPort,
        connections: 200,
        first: requestText('GET', '/api/v1/audit/events?limit=1000', ['host: a', `authorization: Bearer ${auditor}`]),
        reads: false,
      },
    ],
    'audit scans': [
      { port: apiPort, connections: 320, first: managed('GET', '/audit/events?limit=1000'), reads: false },
      { port: apiPort, connections: 8, first: managed('GET', '/audit/events?limit=1000'), reads: true },
    ],
    'aborted verifies': [
      {
        port: apiPort,
        connections: 30,
        first: managed('POST', `/verify/buckets/${bucket}`),
        reads: false,
        leavesAfterMilliseconds: 60,
      },
    ],
    'wrong passwords': [{ port: apiPort, connections: FLOODERS, first: unlockText(lockedShare), reads: true }],
    'big heads': [
      { port, connections: FLOODERS, first: unsigned('small', `x-amz-meta-a: ${'a'.repeat(15_000)}`), reads: true },
    ],
  }
}

/** A wrong password for a share, by its address. */
function unlockText(share: string): string {
  const body = '{"password":"wrong"}'
  const lines = ['host: a', 'content-type: application/json', `content-length: ${body.length}`]
  return requestText('POST', `${new URL(share).pathname}/unlock`, lines) + body
}
