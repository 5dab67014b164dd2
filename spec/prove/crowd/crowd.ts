/** The proof `crowd`: one bad client of each kind beside good ones, who must hardly notice. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { ApiClient, basic, bearer } from '../../support/api-client.ts'
import { allow, type Identity, newIdentity } from '../../support/identities.ts'
import type { IssuedToken } from '../../support/management-records.ts'
import { type ProcessServer, startProcess } from '../../support/server-process.ts'
import { ACCESS_KEY, SECRET_KEY } from '../../support/test-clients.ts'
import type { Proof, ProofTask } from '../proof.ts'
import type { Badness } from './bad-clients.ts'
import { goOn, percentile, type Seen } from './good-clients.ts'

const BUCKET = 'crowd-bucket'
const LARGE_BYTES = 8 * 1024 * 1024
const SECONDS = 6
/** The bad clients are there before the good ones begin. */
const LEAD_MILLISECONDS = 1500
const READERS = 4
/** Others may hold up the machine for a moment: a crowd is judged by the best of so many tries. */
const TRIES = 3
const GET_MILLISECONDS_MAXIMUM = 250
const PROBE_MILLISECONDS_MAXIMUM = 1000
const SETTINGS = {
  OBJECT_STORE_LIMITS_MAXIMUM_CONCURRENT_OPERATIONS: '128',
  OBJECT_STORE_LIMITS_MAXIMUM_QUEUED_OPERATIONS: '256',
  OBJECT_STORE_LOG_REQUESTS: 'none',
}

export const crowd: Proof = {
  name: 'crowd',
  tries: 'that one bad client, slow, silent or greedy, neither keeps others from their answers nor makes them wait',
  unit: 'cycles',
  amount: 1,
  run: async (task) => {
    const server = await startProcess({ dataDirectory: `${task.directory}/data`, frontEnds: 2, environment: SETTINGS })
    try {
      return await tryAll(task, server)
    } finally {
      await server.kill9()
    }
  },
}

interface Place {
  readonly server: ProcessServer
  readonly api: ApiClient
  readonly good: Identity
  readonly bad: Identity
  /** Of an auditor, who is bad, too. */
  readonly token: string
}

async function tryAll(task: ProofTask, server: ProcessServer) {
  const place = await prepare(server)
  const kinds = badnessOf(place)
  let held = 0
  const tried = task.amount * Object.keys(kinds).length
  for (let cycle = 0; cycle < task.amount; cycle += 1) {
    for (const [kind, badness] of Object.entries(kinds)) if (await tryUntilHeld(task, place, kind, badness)) held += 1
  }
  place.api.close()
  return { summary: `${tried} crowds, ${tried - held} kept others from their answers`, passed: held === tried }
}

async function prepare(server: ProcessServer): Promise<Place> {
  const api = ApiClient.of(server.apiEndpoint, basic(ACCESS_KEY, SECRET_KEY))
  const manager = { api, endpoint: server.endpoint }
  const everything = [allow(['s3:*'], `bucket:${BUCKET}`, `bucket:${BUCKET}/*`)]
  const [good, bad] = [await newIdentity(manager, everything), await newIdentity(manager, everything)]
  await server.raw('PUT', `/${BUCKET}`)
  await server.raw('PUT', `/${BUCKET}/small`, { body: Buffer.alloc(4096, 's') })
  await server.raw('PUT', `/${BUCKET}/large`, { body: Buffer.alloc(LARGE_BYTES, 'l') })
  for (let key = 0; key < 300; key += 1) await server.raw('PUT', `/${BUCKET}/listed-${key}`, { body: 'x' })
  const { token } = await api.get<IssuedToken>('POST', '/management-tokens', { name: 'bad', role: 'auditor' })
  return { server, api, good, bad, token }
}

function badnessOf({ server, bad, token }: Place): Readonly<Record<string, readonly Badness[]>> {
  const { port } = server
  const apiPort = Number(new URL(server.apiEndpoint).port)
  const text = (method: string, target: string, ...lines: string[]) => {
    const payloadHash = 'UNSIGNED-PAYLOAD'
    const headers = server.wire.headersOf(method, target, { sign: { ...bad.signing.sign, payloadHash } })
    return requestText(method, target, [...headers.map(([name, value]) => `${name}: ${value}`), ...lines])
  }
  const unsigned = (...lines: string[]) => requestText('GET', `/${BUCKET}/small`, ['host: 127.0.0.1', ...lines])
  const authorization = `authorization: ${bearer(token)}`
  const managed = (method: string, path: string) => requestText(method, `/api/v1${path}`, ['host: a', authorization])
  const listing = text('GET', `/${BUCKET}?list-type=2`).repeat(20)
  return {
    'silent connections': [
      { port: apiPort, connections: 1500, first: '', reads: false },
      { port, connections: 1500, first: '', reads: false },
    ],
    'slow bodies': [
      {
        port,
        connections: 400,
        first: text('PUT', `/${BUCKET}/slow`, 'content-length: 100000'),
        piece: 'x',
        reads: false,
      },
      {
        port,
        connections: 200,
        first: text('PUT', `/${BUCKET}/slow`, 'content-length: 1000'),
        piece: 'x',
        reads: false,
      },
    ],
    'slow readers': [{ port, connections: 400, first: text('GET', `/${BUCKET}/large`), reads: false }],
    'refused requests': [{ port, connections: 8, first: unsigned(), reads: true }],
    'unread lists': [
      { port, connections: 60, first: listing, reads: false },
      { port: apiPort, connections: 30, first: managed('GET', '/audit/events?limit=1000').repeat(4), reads: false },
    ],
    'aborted verifies': [
      {
        port: apiPort,
        connections: 30,
        first: managed('POST', `/verify/buckets/${BUCKET}`),
        reads: false,
        leavesAfterMilliseconds: 60,
      },
    ],
    'big heads': [{ port, connections: 8, first: unsigned(`x-amz-meta-a: ${'a'.repeat(15_000)}`), reads: true }],
  }
}

function requestText(method: string, target: string, lines: readonly string[]): string {
  return `${[`${method} ${target} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`
}

async function tryUntilHeld(
  task: ProofTask,
  place: Place,
  kind: string,
  badness: readonly Badness[],
): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries += 1) if (await tryKind(task, place, kind, badness)) return true
  return false
}

async function tryKind(task: ProofTask, place: Place, kind: string, badness: readonly Badness[]): Promise<boolean> {
  const { server, good } = place
  const worker = new Worker(new URL('./bad-clients.js', import.meta.url), { workerData: badness })
  await sleep(LEAD_MILLISECONDS)
  const endsAt = performance.now() + SECONDS * 1000
  const isOver = () => performance.now() >= endsAt
  const get = (options = {}) => server.raw('GET', `/${BUCKET}/small`, options).then(({ status }) => status)
  const probe = (path: string) => fetch(`${server.apiEndpoint}${path}`).then(({ status }) => status)
  const [root, health, ready, ...readers] = await Promise.all([
    goOn(() => get(), 100, isOver),
    goOn(() => probe('/health'), 100, isOver),
    goOn(() => probe('/ready'), 100, isOver),
    ...Array.from({ length: READERS }, () => goOn(() => get(good.signing), 20, isOver)),
  ])
  await worker.terminate()
  const gets: Seen = {
    milliseconds: readers.flatMap(({ milliseconds }) => milliseconds),
    failures: readers.flatMap(({ failures }) => failures),
  }
  const wrong = [
    ...judge('GET', percentile(gets.milliseconds, 99), GET_MILLISECONDS_MAXIMUM, gets),
    ...[root, health, ready].flatMap((seen, index) =>
      judge(
        ['root', '/health', '/ready'][index] ?? '',
        percentile(seen.milliseconds, 100),
        PROBE_MILLISECONDS_MAXIMUM,
        seen,
      ),
    ),
  ]
  const p99 = percentile(gets.milliseconds, 99).toFixed(0)
  task.say(`${kind}: ${gets.milliseconds.length} GETs, p99 ${p99} ms${wrong.map((what) => `; ${what}`).join('')}`)
  // The next crowd begins when this one has gone.
  await sleep(LEAD_MILLISECONDS)
  return wrong.length === 0
}

function judge(what: string, milliseconds: number, maximum: number, { failures }: Seen): string[] {
  const late = milliseconds > maximum ? [`${what} took ${milliseconds.toFixed(0)} ms, ${maximum} are allowed`] : []
  return failures.length === 0 ? late : [...late, `${what} failed ${failures.length} times: ${failures[0]}`]
}
