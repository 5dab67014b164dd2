/** Requests that are signed as they should be, for the attack to spoil. */
import { createHash, hash } from 'node:crypto'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { presign, requestTarget, signHeaders } from '../../support/signing.ts'
import type { QueryParameter } from '../../../planes/s3/request/query-parameters.ts'
import { deletionDocument, digestOf } from '../../support/wire-deletions.ts'
import { bearer } from '../../support/api-client.ts'
import { pairsOf } from '../pairs.ts'
import { type Arena, BUCKET } from './arena.ts'
import { requestBytes } from '../../support/raw/request-text.ts'

/** What the request line and the lines behind it say; the signature is in the headers or in the target. */
export interface SignedRequest {
  readonly name: string
  readonly mode: 'header' | 'presigned'
  readonly method: string
  readonly target: string
  readonly headers: readonly HeaderLine[]
  readonly body: string
}

/** What is to be signed, and how it differs from what is usual. */
export interface Signable {
  readonly name: string
  /** Where the signature goes; by default into a header. */
  readonly mode?: 'header' | 'presigned'
  readonly method: string
  readonly path: string
  readonly query?: readonly QueryParameter[]
  readonly headers?: readonly HeaderLine[]
  readonly body?: string
  readonly now?: number
  readonly expiresSeconds?: number
  readonly payloadHash?: string
}

export function signed(arena: Arena, signable: Signable): SignedRequest {
  const { name, mode = 'header', method, path, query = [], headers = [], body = '', now = Date.now() } = signable
  const { host } = arena.server.wire
  const common = { method, path, query, headers, region: 'us-east-1', now, ...arena.signers.everything }
  if (mode === 'presigned') {
    const endpoint = `http://${host}`
    const url = presign({ ...common, endpoint, expiresSeconds: signable.expiresSeconds ?? 300 })
    return { name, mode, method, target: url.slice(endpoint.length), headers: [['host', host], ...headers], body }
  }
  const payloadHash = signable.payloadHash ?? hash('sha256', Buffer.from(body), 'hex')
  const lines = signHeaders({ ...common, host, payloadHash })
  return { name, mode, method, target: requestTarget(path, query), headers: lines, body }
}

/** The bytes of a signed request. */
export function bytesOf({ method, target, headers, body }: SignedRequest): string {
  return requestBytes(method, target, headers, body)
}

/** The bytes of a request to the management plane; with the system token, where no other is given. */
export function apiBytes(
  { server, known }: Pick<Arena, 'server' | 'known'>,
  method: string,
  target: string,
  { body = '', token = known.systemToken, headers = [] }: ManagedRequest = {},
): string {
  const own: HeaderLine[] = [['host', server.apiEndpoint.slice('http://'.length)]]
  return requestBytes(method, target, [...own, ['authorization', bearer(token)], ...headers], body)
}

interface ManagedRequest {
  readonly body?: string
  readonly token?: string
  readonly headers?: readonly HeaderLine[]
}

const BODY = 'bytes that are signed for'
const LINES: readonly HeaderLine[] = [
  ['content-md5', createHash('md5').update(BODY).digest('base64')],
  ...pairsOf('content-type=text/plain&cache-control=no-cache&x-amz-meta-a=one&x-amz-meta-b=two  blanks'),
]
const COPY: readonly HeaderLine[] = [['x-amz-copy-source', `${BUCKET}/key`]]
const RANGE: HeaderLine = ['x-amz-copy-source-range', 'bytes=0-3']
const BATCH = deletionDocument([{ Key: 'tampered' }])
const LISTING = pairsOf('list-type=2&prefix=a b/c&max-keys=5')

/** One of every kind; the key `tampered` is written by no other part of the attack. */
export function baseRequests(arena: Arena): SignedRequest[] {
  const path = `/${BUCKET}/tampered`
  const upload: QueryParameter[] = [['uploadId', arena.uploads.open]]
  const part: QueryParameter[] = [['partNumber', '2'], ...upload]
  const signables: readonly Signable[] = [
    { name: 'PUT', method: 'PUT', path, headers: LINES, body: BODY },
    { name: 'PUT presigned', mode: 'presigned', method: 'PUT', path, headers: LINES, body: BODY },
    { name: 'part', method: 'PUT', path: `/${BUCKET}/open`, query: part, body: BODY },
    { name: 'copy', method: 'PUT', path, headers: COPY },
    { name: 'part copy', method: 'PUT', path: `/${BUCKET}/open`, query: part, headers: [...COPY, RANGE] },
    { name: 'copy presigned', mode: 'presigned', method: 'PUT', path, headers: COPY },
    { name: 'GET', method: 'GET', path: `/${BUCKET}/key`, headers: [['range', 'bytes=0-3']] },
    { name: 'GET presigned', mode: 'presigned', method: 'GET', path: `/${BUCKET}/key`, query: [['x-id', 'GetObject']] },
    { name: 'list', method: 'GET', path: `/${BUCKET}`, query: LISTING },
    { name: 'list presigned', mode: 'presigned', method: 'GET', path: `/${BUCKET}`, query: LISTING },
    { name: 'DELETE', method: 'DELETE', path },
    {
      name: 'batch',
      method: 'POST',
      path: `/${BUCKET}`,
      query: [['delete', '']],
      headers: [digestOf(BATCH)],
      body: BATCH,
    },
    { name: 'DELETE presigned', mode: 'presigned', method: 'DELETE', path },
  ]
  return signables.map((signable) => signed(arena, signable))
}
