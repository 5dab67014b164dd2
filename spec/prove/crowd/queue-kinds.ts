/** A kind of bad client for each queue of `engine/shares`: one greedy account beside a modest one that uses the same. */
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { ShareName, shareTable } from '../../../engine/shares/share-table.ts'
import { policyOf, putPolicy, statement } from '../../support/bucket-policies.ts'
import { createUpload, partTarget, uploadTarget } from '../../support/multipart.ts'
import type { Identity } from '../../support/identities.ts'
import type { ProcessServer } from '../../support/server-process.ts'
import type { Badness } from './bad-clients.ts'
import type { GoodClient } from './good-clients.ts'
import { requestText } from '../../support/raw/request-text.ts'

/** What both find. */
export interface QueuePlace {
  readonly server: ProcessServer
  /** Has the objects `small`, `medium` and `large`. */
  readonly bucket: string
  readonly good: Identity
  readonly bad: Identity
  /** Tokens of storage administrators. */
  readonly greedy: string
  readonly modest: string
  /** Buckets that both may have verified, each with an object of some MiB; the last is the modest one's. */
  readonly buckets: readonly string[]
  /** A time at which the log had little. */
  readonly early: Date
}

interface QueueKind {
  readonly bad: readonly Badness[]
  readonly modest: GoodClient
}

const GREEDY_CONNECTIONS = 40
/** A scan is the cheapest of them to ask for. */
const SCANNERS = 80
/** What the modest account may wait for, as a GET may. */
export const MODEST = { count: 1, pauseMilliseconds: 50, percent: 99, millisecondsMaximum: 250 } as const
const TWO_HASHES_MILLISECONDS = 500
const SECOND_MILLISECONDS = 1000
const SMALL_RANGE = 'bytes=0-65535'
const NO_MATCH = '/audit/events?operation=none&limit=1000'
const PASSWORD = '{"password":"right-password"}'
const JSON_LINES = ['content-type: application/json', `content-length: ${PASSWORD.length}`]

const LISTED = Array.from(
  { length: 10_000 },
  (_, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>9a0364b9e99bb480dd25e1f0284c8555</ETag></Part>`,
)
/** A list of 10,000 parts that do not exist. */
const LIST = `<CompleteMultipartUpload>${LISTED.join('')}</CompleteMultipartUpload>`
const CORS_RULE =
  '<CORSRule><AllowedMethod>GET</AllowedMethod><AllowedOrigin>https://a.example</AllowedOrigin></CORSRule>'
/** Just long enough for the thread. */
const CORS = `<CORSConfiguration>${' '.repeat(20_000)}${CORS_RULE}</CORSConfiguration>`
/** A list that is being read is not interrupted; it takes 200 ms of processor time. */
const BESIDE_A_LIST_MILLISECONDS = 1000

interface GreedyWrites {
  readonly copies: string
  readonly copy: GoodClient
  readonly completions: string
  readonly completion: GoodClient
}

/** The queues of `shareTable`: one without a kind does not compile. */
type QueueName = {
  [Name in ShareName]: (typeof shareTable)[Name]['unit'] extends 'places' ? Name : never
}[ShareName]

/** The server as an account asks it. */
export function signedAs(server: ProcessServer, { signing }: Identity): ProcessServer {
  return { ...server, raw: (method, path, options) => server.raw(method, path, { ...signing, ...options }) }
}

export async function queueKinds(place: QueuePlace): Promise<Readonly<Record<QueueName, QueueKind>>> {
  const { server, bucket, bad, buckets, early } = place
  const { port } = server
  const apiPort = Number(new URL(server.apiEndpoint).port)
  const asked = (method: string, path: string, lines: readonly string[] = [], body = ''): string =>
    requestText(method, `/api/v1${path}`, ['host: a', `authorization: Bearer ${place.greedy}`, ...lines]) + body
  const greedy = (connections: number, first: string): Badness => ({ port: apiPort, connections, first, reads: true })
  const sharing = `/buckets/${bucket}/object-shares/small`
  const until = new Date(early.getTime() + SECOND_MILLISECONDS)
  const range = `from=${early.toISOString()}&to=${until.toISOString()}`
  const modestBucket = buckets.at(-1) ?? bucket
  const opened = policyOf(statement('Allow', '*', 's3:GetObject', `${bucket}/large`))
  const answer = await putPolicy(server, bucket, opened)
  if (answer.status !== 204) throw new Error(`no public object: ${answer.text}`)
  const publicRead = requestText('GET', `/${bucket}/large`, ['host: localhost'])
  const { copies, copy, completions, completion } = await greedyWrites(place)
  return {
    'copy-turns': { bad: [{ port, connections: GREEDY_CONNECTIONS, first: copies, reads: true }], modest: copy },
    'big-documents': {
      bad: [{ port, connections: GREEDY_CONNECTIONS, first: completions, reads: true }],
      modest: completion,
    },
    scans: { bad: [greedy(SCANNERS, asked('GET', NO_MATCH))], modest: modest(place, 'GET', '/audit/events?limit=10') },
    exports: {
      bad: [greedy(GREEDY_CONNECTIONS, asked('GET', '/audit/export'))],
      modest: modest(place, 'GET', `/audit/export?${range}`),
    },
    'object-verifications': {
      bad: [greedy(GREEDY_CONNECTIONS, asked('POST', `/verify/objects/${bucket}/large`))],
      modest: modest(place, 'POST', `/verify/objects/${bucket}/medium`),
    },
    'bucket-verifications': {
      bad: buckets.slice(0, -1).map((name) => greedy(GREEDY_CONNECTIONS / 8, asked('POST', `/verify/buckets/${name}`))),
      modest: modest(place, 'POST', `/verify/buckets/${modestBucket}`),
    },
    'event-streams': {
      // Streams that are read, and asked for once.
      bad: [
        {
          port: apiPort,
          connections: GREEDY_CONNECTIONS,
          first: asked('GET', '/events/stream'),
          piece: '',
          reads: false,
        },
      ],
      modest: { ...MODEST, name: 'event on a stream', ask: () => seesEvent(place) },
    },
    'public-reads': {
      bad: [{ port, connections: GREEDY_CONNECTIONS, first: publicRead, reads: true }],
      modest: {
        ...MODEST,
        name: 'signed GET beside strangers',
        ask: async () => (await signedAs(server, place.good).raw('GET', `/${bucket}/small`)).status,
      },
    },
    'password-hashes': {
      bad: [greedy(GREEDY_CONNECTIONS, asked('POST', sharing, JSON_LINES, PASSWORD))],
      // A hash takes some 90 ms of a processor: one of the other account is running, then comes the modest one's own.
      modest: { ...modest(place, 'POST', sharing, PASSWORD), millisecondsMaximum: TWO_HASHES_MILLISECONDS },
    },
  }

  /** A copy and a completion of the greedy account, each as the text of a request, and the modest one beside each. */
  async function greedyWrites({ good }: QueuePlace): Promise<GreedyWrites> {
    const source = ['x-amz-copy-source', `${bucket}/large`] as const
    const [many, few] = [`/${bucket}/many-copies`, `/${bucket}/few-copies`]
    const target = partTarget(many, await createUpload(signedAs(server, bad), many), 1)
    const own = partTarget(few, await createUpload(signedAs(server, good), few), 1)
    const sign = { ...bad.signing.sign, payloadHash: 'UNSIGNED-PAYLOAD' }
    const signed = (method: string, path: string, ...headers: HeaderLine[]) =>
      server.wire.headText(method, path, { headers, sign })
    const completed = uploadTarget(many, await createUpload(signedAs(server, bad), many))
    return {
      completions: signed('POST', completed, ['content-length', String(LIST.length)]) + LIST,
      completion: {
        ...MODEST,
        name: 'document of 20 KB',
        millisecondsMaximum: BESIDE_A_LIST_MILLISECONDS,
        ask: async () => (await signedAs(server, good).raw('PUT', `/${modestBucket}?cors`, { body: CORS })).status,
      },
      copies: signed('PUT', target, source, ['x-amz-copy-source-range', 'bytes=0-8388606']),
      copy: {
        ...MODEST,
        name: 'copy of 64 KiB',
        ask: async () =>
          (
            await signedAs(server, good).raw('PUT', own, {
              headers: [source, ['x-amz-copy-source-range', SMALL_RANGE]],
            })
          ).status,
      },
    }
  }
}

function modest({ server, modest: token }: QueuePlace, method: string, path: string, body?: string): GoodClient {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  return {
    ...MODEST,
    name: `${method} ${path.split('?')[0]} of the modest`,
    ask: async () => {
      const answer = await fetch(`${server.apiEndpoint}/api/v1${path}`, {
        method,
        headers,
        ...(body !== undefined && { body }),
      })
      await answer.arrayBuffer()
      return answer.status === 201 ? 200 : answer.status
    },
  }
}

/** Opens a stream, writes an object and reads until its event comes. */
async function seesEvent({ server, bucket, modest: token, good }: QueuePlace): Promise<number> {
  const leave = new AbortController()
  const key = `seen-${performance.now()}`
  const since = new Date(Date.now() - SECOND_MILLISECONDS).toISOString()
  try {
    const answer = await fetch(`${server.apiEndpoint}/api/v1/events/stream?prefix=${key}&since=${since}`, {
      headers: { authorization: `Bearer ${token}` },
      signal: leave.signal,
    })
    if (answer.status !== 200 || answer.body === null) return answer.status
    await server.raw('PUT', `/${bucket}/${key}`, { ...good.signing, body: 'x' })
    let text = ''
    for await (const piece of answer.body) {
      text += Buffer.from(piece).toString()
      if (text.includes(key)) return answer.status
    }
    return 0
  } finally {
    leave.abort()
  }
}
