/** The proof `crowd`: one bad client of each kind beside good ones, who must hardly notice. */
import { join } from 'node:path'
import { environment } from '../../../cli/environment.ts'
import type { PolicyStatement } from '../../../engine/events/values.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { ApiClient, basic } from '../../support/api-client.ts'
import { allow, type Identity, newIdentity } from '../../support/identities.ts'
import { writtenBytes } from '../../support/journal-files.ts'
import { anonymousMebibytes, processorSeconds } from '../../support/process-gauges.ts'
import { type ProcessServer, startProcess } from '../../support/server-process.ts'
import { ACCESS_KEY, SECRET_KEY } from '../../support/test-clients.ts'
import type { Proof, ProofTask } from '../proof.ts'
import { type Badness, startBadClients } from './bad-clients.ts'
import type { GoodClient } from './good-clients.ts'
import { badKinds } from './kinds.ts'
import { multipartKinds } from './multipart-kinds.ts'
import { queueKinds } from './queue-kinds.ts'
import { slowness } from './slowness.ts'
import { ACCOUNTS_JOURNAL_MEBIBYTES, STRANGERS_JOURNAL_MEBIBYTES, tryCrowd } from './trial.ts'

/** Names one kind of bad client, to be tried alone. */
const ONE_KIND = 'PROVE_CROWD'
/** Path of another checkout, built, whose server is tried. */
const CHECKOUT = 'PROVE_CHECKOUT'

const MEBIBYTE = 1024 ** 2
const BUCKET = 'crowd-bucket'
const MODEST_BUCKET = 'modest-bucket'
/** Each may be verified once at a time. */
const VERIFIED = Array.from({ length: 8 }, (_, index) => `verified-${index}`)
const SMALL_BYTES = 4096
const LARGE_BYTES = 8 * 1024 * 1024
const MEDIUM_BYTES = 32 * 1024
const LISTED_OBJECTS = 300
/** Objects whose names are long in a list, where each `&` is five characters. */
const LONG_NAMES = 120
const LONG_NAME_BYTES = 1000
/** Requests with a long path, of which somebody who reads the audit log gets many bytes. */
const LONG_REQUESTS = 1000
const LONG_PATH_BYTES = 14_000
/** How long good clients ask beside each kind of bad ones. */
const SECONDS = 6
const LEAD_MILLISECONDS = 1500
const REST_MILLISECONDS = 100
const PATIENCE_MILLISECONDS = 5000
/** Others may hold up the machine for a moment: a crowd is judged by the best of so many tries. */
const TRIES = 3
/** The last lines of the server's log, for a server that stops answering. */
const LOG_LINES = 20
const GET_MILLISECONDS_MAXIMUM = 250
const PROBE_MILLISECONDS_MAXIMUM = 1000
const SETTINGS = {
  OBJECT_STORE_LIMITS_MAXIMUM_CONCURRENT_OPERATIONS: '128',
  OBJECT_STORE_LIMITS_MAXIMUM_QUEUED_OPERATIONS: '256',
  OBJECT_STORE_LOG_REQUESTS: 'none',
  OBJECT_STORE_S3_EXTENSIONS: 'upload-part-copy,bucket-policy',
  OBJECT_STORE_S3_PUBLIC_READ_PREFIXES: `${BUCKET}/`,
}

export const crowd: Proof = {
  name: 'crowd',
  tries: 'that one bad client, slow, silent or greedy, neither keeps others from their answers nor makes them wait',
  unit: 'seconds',
  amount: SECONDS,
  run: async (task) => {
    const checkout = environment[CHECKOUT]
    const server = await startProcess({
      dataDirectory: `${task.directory}/data`,
      frontEnds: 2,
      environment: SETTINGS,
      ...(checkout === undefined ? {} : { program: join(checkout, 'cli/object-store.mjs') }),
    })
    try {
      return await tryAll(task, server)
    } catch (error) {
      for (const line of server.log.slice(-LOG_LINES)) task.say(line)
      throw error
    } finally {
      await server.kill9()
    }
  },
}

/** Bad clients of one kind, and the good ones beside them. */
interface Crowd {
  readonly kind: string
  /** Makes what one try uses up. */
  readonly prepare: () => Promise<readonly Badness[]>
  readonly goods: readonly GoodClient[]
  readonly journalMebibytesMaximum: number
}

async function tryAll(task: ProofTask, server: ProcessServer) {
  const { good, ...found } = await prepare(server)
  const place = { server, bucket: BUCKET, ...found }
  const queues = Object.entries(await queueKinds({ ...place, good })).map(
    ([kind, { bad, modest }]) => [kind, { prepare: async () => bad, modest }] as const,
  )
  // Digests that are left would be computed beside the next kind.
  const accounts = [...queues, ...Object.entries(multipartKinds({ ...place, good }))]
  const all: readonly Crowd[] = [
    ...Object.entries(badKinds(place)).map(([kind, bad]) => ({
      kind,
      prepare: async () => bad,
      goods: goodClients(server, good),
      journalMebibytesMaximum: STRANGERS_JOURNAL_MEBIBYTES,
    })),
    ...accounts.map(([kind, { prepare: prepareTry, modest }]) => ({
      kind,
      prepare: prepareTry,
      goods: [...goodClients(server, good), modest],
      journalMebibytesMaximum: ACCOUNTS_JOURNAL_MEBIBYTES,
    })),
  ]
  const only = environment[ONE_KIND]
  const kinds = all.filter(({ kind }) => (only ?? kind) === kind)
  if (kinds.length === 0) throw new Error(`no bad client is called ${only}`)
  let [held, heldAtOnce] = [0, 0]
  for (const one of kinds) {
    const tries = await triesUntilHeld(task, server, one)
    if (tries !== undefined) held += 1
    if (tries === 1) heldAtOnce += 1
  }
  const kept = kinds.length - held
  const summary = `${kinds.length} crowds, ${kept} kept others from their answers, ${heldAtOnce} held at the first try`
  return { summary, passed: kept === 0 }
}

/** What there is to be read, and two accounts that may do everything with it. */
async function prepare(server: ProcessServer) {
  const api = ApiClient.of(server.apiEndpoint, basic(ACCESS_KEY, SECRET_KEY))
  const manager = { api, endpoint: server.endpoint }
  const good = await newIdentity(manager, [everythingIn(BUCKET), everythingIn(MODEST_BUCKET)])
  const bad = await newIdentity(manager, [everythingIn(BUCKET)])
  const [early, buckets] = [new Date(), [...VERIFIED, MODEST_BUCKET]]
  const put = async (path: string, body?: Buffer | string) => {
    const { status, text } = await server.raw('PUT', path, body === undefined ? {} : { body })
    if (status !== 200) throw new Error(`PUT ${path}: ${status} ${text}`)
  }
  await put(`/${BUCKET}`)
  await put(`/${BUCKET}/small`, Buffer.alloc(SMALL_BYTES, 's'))
  for (const name of buckets) {
    await put(`/${name}`)
    await put(`/${name}/object`, Buffer.alloc(name === MODEST_BUCKET ? SMALL_BYTES : LARGE_BYTES, 'v'))
  }
  await put(`/${BUCKET}/medium`, Buffer.alloc(MEDIUM_BYTES, 'm'))
  await put(`/${BUCKET}/large`, Buffer.alloc(LARGE_BYTES, 'l'))
  for (let key = 0; key < LISTED_OBJECTS; key += 1) await put(`/${BUCKET}/listed-${key}`, 'x')
  for (let key = 0; key < LONG_NAMES; key += 1) {
    await put(`/${BUCKET}/long-names/${'%26'.repeat(LONG_NAME_BYTES - 20)}${key}`, 'x')
  }
  for (let request = 0; request < LONG_REQUESTS; request += 1) {
    await server.raw('GET', `/${BUCKET}/${request}-${'p'.repeat(LONG_PATH_BYTES)}`)
  }
  const sharing = `/buckets/${BUCKET}/object-shares/small`
  const { url: lockedShare } = await api.get<{ readonly url: string }>('POST', sharing, { password: 'right-password' })
  const { token } = await api.get<{ readonly token: string }>('POST', '/management-tokens', {
    name: 'crowd',
    role: 'auditor',
  })
  const { text } = await server.raw('POST', `/${BUCKET}/begun?uploads`, bad.signing)
  const [, upload = ''] = /<UploadId>([^<]+)/.exec(text) ?? []
  const administrator = { name: 'crowd', role: 'storage-administrator' }
  const { token: greedy } = await api.get<{ readonly token: string }>('POST', '/management-tokens', administrator)
  const { token: modest } = await api.get<{ readonly token: string }>('POST', '/management-tokens', administrator)
  api.close()
  return { good, bad, lockedShare, auditor: token, upload, greedy, modest, buckets, early }
}

function everythingIn(bucket: string): PolicyStatement {
  return allow(['s3:*'], `bucket:${bucket}`, `bucket:${bucket}/*`)
}

/** At which try nobody noticed the bad clients; undefined when they always did. */
async function triesUntilHeld(
  task: ProofTask,
  server: ProcessServer,
  { kind, prepare: prepareTry, goods, journalMebibytesMaximum }: Crowd,
): Promise<number | undefined> {
  const { pid } = server.process
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const bad = await prepareTry()
    const { line, wrong } = await tryCrowd({
      goods,
      journalMebibytesMaximum,
      startBad: () => startBadClients(bad),
      leadMilliseconds: LEAD_MILLISECONDS,
      restMilliseconds: REST_MILLISECONDS,
      milliseconds: task.amount * 1000,
      patienceMilliseconds: PATIENCE_MILLISECONDS,
      slowness,
      server: {
        seconds: () => processorSeconds(pid),
        memoryMebibytes: () => anonymousMebibytes(pid),
        inUse: () => inUse(server),
        journalMebibytes: () => writtenBytes(new StorePaths(server.dataDirectory)) / MEBIBYTE,
      },
    })
    task.say(`${kind}: ${line}`)
    for (const what of wrong) task.say(`  ${what}`)
    if (wrong.length === 0) return tries
    if (server.process.exitCode !== null) throw new Error(`the server ended with ${server.process.exitCode}`)
  }
  return undefined
}

/** Of the metrics those that are 0 when nobody asks for anything. */
const IN_USE = /^object_store_(operations_active|operations_queued|shared_used|shared_waiting)(\{.*\})? (?!0$)/

async function inUse({ apiEndpoint, scrapeToken }: ProcessServer): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${scrapeToken}` }
  const text = await fetch(`${apiEndpoint}/metrics`, { headers }).then((answer) => answer.text())
  return text.split('\n').filter((line) => IN_USE.test(line))
}

function goodClients(server: ProcessServer, good: Identity): readonly GoodClient[] {
  const get = (options = {}, key = 'small') =>
    server.raw('GET', `/${BUCKET}/${key}`, options).then(({ status }) => status)
  const headers = { authorization: basic(ACCESS_KEY, SECRET_KEY) }
  const managed = (path: string, options: RequestInit = {}): GoodClient => ({
    name: path,
    ask: async () => {
      const answer = await fetch(`${server.apiEndpoint}${path}`, options)
      await answer.arrayBuffer()
      return answer.status
    },
    ...SELDOM,
  })
  return [
    {
      name: 'GET',
      ask: () => get(good.signing),
      count: 4,
      pauseMilliseconds: 20,
      percent: 99,
      millisecondsMaximum: GET_MILLISECONDS_MAXIMUM,
    },
    { name: 'GET by root', ask: () => get(), ...SELDOM },
    { name: 'GET of 32 KiB', ask: () => get(good.signing, 'medium'), ...SELDOM },
    managed('/health'),
    managed('/ready'),
    managed('/api/v1/openapi.json', { headers }),
    { ...managed('/api/v1/audit/events?limit=10', { headers }), millisecondsMaximum: PATIENCE_MILLISECONDS },
  ]
}

const SELDOM = {
  count: 1,
  pauseMilliseconds: 100,
  percent: 100,
  millisecondsMaximum: PROBE_MILLISECONDS_MAXIMUM,
} as const
