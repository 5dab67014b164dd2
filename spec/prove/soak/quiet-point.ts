/** A moment at which nothing is asked for: whatever requests held must have been let go of. */
import { setTimeout as sleep } from 'node:timers/promises'
import { bearer } from '../../support/api-client.ts'
import { elements } from '../../support/wire-client.ts'
import { openUploads } from '../open-uploads.ts'
import { type Clients, mustBe } from './actor.ts'
import { type Descriptors, descriptorKindsOf } from './process-gauges.ts'
import { SoakApi } from './soak-clients.ts'

const IDLE_MILLISECONDS_MAXIMUM = 60_000
const LOOK_MILLISECONDS = 250
/** Background jobs look once a second, and files are closed beside the answers. */
const SETTLE_MILLISECONDS_MAXIMUM = 20_000
/** The connections of a quiet moment close by themselves. */
const SOCKETS_BEYOND_CONNECTIONS = 32

const GAUGES = {
  active: 'object_store_operations_active',
  queued: 'object_store_operations_queued',
  temporary: 'object_store_temporary_bytes',
  physical: 'object_store_storage_physical_bytes',
  logical: 'object_store_storage_logical_bytes',
  records: 'object_store_journal_records_total',
} as const

export type Gauges = Readonly<Record<keyof typeof GAUGES, number>>

/** The metrics as they are at this moment. @throws NoAnswerError */
export async function gaugesOf({ life }: Clients): Promise<Gauges> {
  const api = new SoakApi(life, bearer(life.server.scrapeToken), true)
  const { text } = mustBe('metrics', await api.call('GET /metrics', {}).finally(() => api.close()), 200)
  const read = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  return Object.fromEntries(Object.entries(GAUGES).map(([gauge, name]) => [gauge, read(name)])) as unknown as Gauges
}

/** Bytes of the parts of all uploads, as the S3 plane lists them. @throws NoAnswerError */
async function openUploadBytes({ wire }: Clients): Promise<number> {
  let bytes = 0
  const { text } = mustBe('buckets', await wire.send('GET', '/'), 200)
  for (const bucket of elements(text, 'Name')) {
    for (const target of await openUploads(wire, bucket)) {
      const parts = mustBe('parts', await wire.send('GET', target), 200)
      for (const size of elements(parts.text, 'Size')) bytes += Number(size)
    }
  }
  return bytes
}

export interface QuietPoint {
  readonly descriptors: Descriptors
  readonly gauges: Gauges
  /** What was not let go of, in sentences. */
  readonly held: readonly string[]
}

/**
 * Pauses all others, and waits until nothing is held; requests go on when it returns.
 * @param clients those that are not paused
 * @throws NoAnswerError
 */
export async function quietPoint(clients: Clients, connections: number): Promise<QuietPoint> {
  const { life } = clients
  life.pause()
  try {
    const idleUntil = performance.now() + IDLE_MILLISECONDS_MAXIMUM
    while (life.inFlight > 0 && performance.now() < idleUntil) await sleep(LOOK_MILLISECONDS)
    const settledUntil = performance.now() + SETTLE_MILLISECONDS_MAXIMUM
    for (;;) {
      const found = await look(clients, connections)
      if (found.held.length === 0 || performance.now() > settledUntil) return found
      await sleep(LOOK_MILLISECONDS)
    }
  } finally {
    life.resume()
  }
}

async function look(clients: Clients, connections: number): Promise<QuietPoint> {
  const uploads = await openUploadBytes(clients)
  const gauges = await gaugesOf(clients)
  const descriptors = descriptorKindsOf(clients.life.server.process.pid ?? 0)
  const rules: readonly (readonly [isHeld: boolean, what: string])[] = [
    [clients.life.inFlight > 0, `${clients.life.inFlight} requests without an answer`],
    [gauges.active > 0, `${gauges.active} operations active`],
    [gauges.queued > 0, `${gauges.queued} operations queued`],
    [gauges.temporary !== uploads, `${gauges.temporary} temporary bytes, ${uploads} in uploads that are listed`],
    [descriptors.payloads > 0, `${descriptors.payloads} payload files open`],
    [descriptors.deleted > 0, `${descriptors.deleted} deleted files open`],
    [descriptors.sockets > connections + SOCKETS_BEYOND_CONNECTIONS, `${descriptors.sockets} sockets open`],
  ]
  return { descriptors, gauges, held: rules.filter(([isHeld]) => isHeld).map(([, what]) => what) }
}
