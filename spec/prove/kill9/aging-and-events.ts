/** Objects that come due while a server is killed, a webhook for everything, and the events that clients were promised. */
import { isDeepStrictEqual } from 'node:util'
import { setTimeout as pause } from 'node:timers/promises'
import { ApiClient, basic } from '../../support/api-client.ts'
import { type Finding, lost, wrong } from '../../support/dying-servers/client-findings.ts'
import { type Receiver, startReceiver } from '../../support/webhooks/receiver.ts'
import type { ProcessServer } from '../../support/server-process.ts'
import { allEvents, type StorageEvent } from '../../support/storage-events.ts'
import { ACCESS_KEY, SECRET_KEY } from '../../support/test-clients.ts'
import { elements, type WireClient } from '../../support/wire-client.ts'
import { VERSION_BUCKET } from '../../support/dying-servers/version-client.ts'
import { CRASH_BUCKET } from './acknowledging-client.ts'

const DAY = 24 * 60 * 60 * 1000
const OLD = 'aging'
const LOCKED = 'aging-locked'
const OBJECTS = 40
const VERSIONS = 12
/** Removals of one pass. */
const BATCH = 4
/** One of so many events is refused at first. */
const REFUSED_EVERY = 16
const DELIVERED_PREFIX = 'client-1/'
const DELIVERY_LOOKS = 200
const DELIVERY_LOOK_MILLISECONDS = 100

/** Passes come as often as can be set, to a receiver on this machine. */
export const AGING_SETTINGS = {
  OBJECT_STORE_LIFECYCLE_INTERVAL_SECONDS: '1',
  OBJECT_STORE_LIFECYCLE_BATCH_SIZE: String(BATCH),
  OBJECT_STORE_WEBHOOKS_ALLOW_HTTP: 'true',
  OBJECT_STORE_WEBHOOKS_ALLOW_PRIVATE_NETWORKS: 'true',
  OBJECT_STORE_WEBHOOKS_MAXIMUM_ATTEMPTS: '20',
}
/** The clock of the first start: two days ago. */
export const LONG_AGO = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`const now = Date.now; Date.now = () => now() - ${2 * DAY}`)}`,
}

/** What one store must keep of it over all kills. */
export class AgingAndEvents {
  removals = 0
  #receiver: Receiver | undefined
  /** Events as they were first read. */
  #events: readonly StorageEvent[] = []
  /** Requests that were acknowledged and changed something. */
  readonly #promised = new Set<string>()
  /** Ids of events that were answered with success. */
  readonly #taken = new Set<string>()

  /** Deliveries so far, repeated ones included. */
  get deliveries(): number {
    return this.#receiver?.received.length ?? 0
  }

  promise(requestId: string): void {
    this.#promised.add(requestId)
  }

  /** Has the first start, whose clock is in the past, write what comes due later. */
  async prepare({ wire, apiEndpoint }: ProcessServer): Promise<void> {
    const seen = new Set<string>()
    const receiver = await startReceiver((response, request) => {
      const id = String(request.headers['webhook-id'])
      // The first request of some events is refused, so that deliveries wait when the server is killed.
      const isTaken = seen.has(id) || Number(id.slice(0, 16)) % REFUSED_EVERY !== 0
      seen.add(id)
      if (isTaken) this.#taken.add(id)
      response.writeHead(isTaken ? 204 : 503).end()
    })
    this.#receiver = receiver
    const api = ApiClient.of(apiEndpoint, basic(ACCESS_KEY, SECRET_KEY))
    const filtered = { target_url: receiver.url, event_types: EVERY_TYPE }
    await api.get('POST', '/webhooks', { ...filtered, bucket_filter: OLD })
    await api.get('POST', '/webhooks', {
      ...filtered,
      bucket_filter: CRASH_BUCKET,
      object_prefix_filter: DELIVERED_PREFIX,
    })
    const put = (path: string, headers: readonly (readonly [string, string])[] = []) => mustPut(wire, path, headers)
    await put(`/${OLD}`)
    await put(`/${CRASH_BUCKET}`)
    for (const name of [LOCKED, VERSION_BUCKET]) await put(`/${name}`, [['x-amz-bucket-object-lock-enabled', 'true']])
    for (let number = 0; number < OBJECTS; number += 1) await put(`/${OLD}/old/${number}`)
    await put(`/${OLD}/kept`)
    for (let number = 0; number < VERSIONS; number += 1) {
      await put(`/${LOCKED}/free/${number % 2}`)
      await put(`/${LOCKED}/held`, [['x-amz-object-lock-legal-hold', 'ON']])
    }
    await api.get('POST', `/buckets/${OLD}/lifecycle`, { prefix: 'old/', expiration: 1 })
    await api.get('POST', `/buckets/${LOCKED}/lifecycle`, { noncurrent_version_expiration: 1 })
    api.close()
  }

  /** What is not as it must be, of a server that has just started. */
  async check({ wire, apiEndpoint }: ProcessServer): Promise<Finding[]> {
    const api = ApiClient.of(apiEndpoint, basic(ACCESS_KEY, SECRET_KEY))
    try {
      const events = await allEvents(api, { limit: '1000' })
      const changed = this.#events.findIndex((event, index) => !isDeepStrictEqual(event, events[index]))
      const found = changed === -1 ? [] : [lost(`event ${changed} was ${JSON.stringify(this.#events[changed])}`)]
      this.#events = events
      return [...found, ...this.#unkept(events), ...(await this.#checkAges(wire, api))]
    } finally {
      api.close()
    }
  }

  /** Waits until nothing is left to be delivered; returns what never came. */
  async finish(server: ProcessServer): Promise<Finding[]> {
    const found = await this.check(server)
    const owed = this.#events.filter(({ bucket, object, type }) => {
      if (object === undefined || !EVERY_TYPE.includes(type)) return false
      return bucket === OLD || (bucket === CRASH_BUCKET && object.startsWith(DELIVERED_PREFIX))
    })
    let missing = owed
    for (let look = 0; look < DELIVERY_LOOKS && missing.length > 0; look += 1) {
      if (look > 0) await pause(DELIVERY_LOOK_MILLISECONDS)
      missing = owed.filter(({ id }) => !this.#taken.has(id))
    }
    for (const { id, type } of missing.slice(0, 3)) found.push(lost(`${type} ${id} was never delivered`))
    const known = new Map(this.#events.map((event) => [event.id, event]))
    for (const { body } of this.#receiver?.received ?? []) {
      const event = JSON.parse(body.toString()) as StorageEvent
      const same = known.get(event.id)
      if (same !== undefined && !isDeepStrictEqual(event, same))
        found.push(wrong(`${event.id} was delivered as another`))
    }
    return found
  }

  async close(): Promise<void> {
    await this.#receiver?.close()
  }

  /** Each acknowledged change is there, exactly once. */
  #unkept(events: readonly StorageEvent[]): Finding[] {
    const counts = new Map<string, number>()
    for (const { type, metadata } of events) {
      const request = String(metadata['request_id'])
      if (type !== 'multipart.completed' && type !== 'object.restored')
        counts.set(request, (counts.get(request) ?? 0) + 1)
    }
    const unkept = [...this.#promised].filter((request) => counts.get(request) !== 1)
    return unkept
      .slice(0, 3)
      .map((request) => lost(`${request} was acknowledged and has ${counts.get(request) ?? 0} events`))
  }

  /** What is gone has its event, and nothing is gone that is young, held or of another prefix. A pass may run meanwhile. */
  async #checkAges(wire: WireClient, api: ApiClient): Promise<Finding[]> {
    const goneBefore = await removedKeys(api)
    const keys = elements((await wire.send('GET', `/${OLD}?list-type=2`)).text, 'Key')
    const versions = elements((await wire.send('GET', `/${LOCKED}?versions`)).text, 'Key')
    const gone = await removedKeys(api)
    this.removals = gone.length
    const found: Finding[] = []
    const left = keys.length + versions.length
    const all = OBJECTS + 1 + 2 * VERSIONS
    if (left < all - gone.length || left > all - goneBefore.length)
      found.push(lost(`${left} of ${all} objects and versions are left, and ${gone.length} were removed`))
    if (!keys.includes('kept')) found.push(lost('an object of another prefix is gone'))
    const held = versions.filter((key) => key === 'held').length
    if (held !== VERSIONS) found.push(lost(`${VERSIONS - held} versions under a legal hold are gone`))
    if (new Set(gone).size !== gone.length) found.push(wrong('something went twice'))
    return found
  }
}

/** What rules removed, each with its version. */
async function removedKeys(api: ApiClient): Promise<string[]> {
  const pages = await Promise.all([OLD, LOCKED].map((bucket) => allEvents(api, { bucket, limit: '1000' })))
  return pages.flat().flatMap(({ type, object, version_id: version, bucket }) => {
    return type === 'object.deleted' ? [`${bucket}/${object} ${bucket === OLD ? '' : version}`] : []
  })
}

const EVERY_TYPE = [
  'object.created',
  'object.updated',
  'object.deleted',
  'object.restored',
  'multipart.completed',
  'multipart.aborted',
]

async function mustPut(wire: WireClient, path: string, headers: readonly (readonly [string, string])[]): Promise<void> {
  const body = path.indexOf('/', 1) === -1 ? '' : path
  const answer = await wire.send('PUT', path, { headers, sign: { now: Date.now() - 2 * DAY }, body })
  if (answer.status !== 200) throw new Error(`PUT ${path}: ${answer.status} ${answer.text}`)
}
