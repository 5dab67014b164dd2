/** A worker that delivers webhooks, with events, receivers and clocks of the spec. */
import { rmSync } from 'node:fs'
import type { Test } from 'tap'
import { microsecondsOf, millisecondsOf, sequenceOf } from '../../../engine/brands.ts'
import type { EventPlace } from '../../../engine/events/values.ts'
import { DomainError } from '../../../engine/errors.ts'
import type { StorageEvent } from '../../../projections/events/storage-event.ts'
import { WebhookReader } from '../../../projections/webhooks/reader.ts'
import { ProjectionEnvironment } from '../../../projections/lmdb-environment.ts'
import { WebhookDelivery } from '../../../workers/webhooks/deliver-webhooks.ts'
import type { ReadEvents } from '../../../workers/webhooks/delivery-line.ts'
import type { Sent } from '../../../workers/webhooks/sender.ts'
import { storageEvent } from './sample-events.ts'
import { temporaryDirectory } from '../test-clients.ts'
import { openTestStore } from '../test-store.ts'

/** A POST on its way: what it is about, and how it ends. */
interface Flight {
  readonly webhook: string
  readonly event: string
  end(sent?: Partial<Sent>): Promise<void>
}

const OK: Sent = { timeMicroseconds: microsecondsOf(1), status: 200, error: undefined, askedMilliseconds: 0 }
export const FAILED = { status: 500, error: 'the target answered 500' }

function isAfter(event: StorageEvent, place: EventPlace): boolean {
  return event.sequence > place.sequence || (event.sequence === place.sequence && event.index > place.index)
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

export async function deliveryWorld(t: Test) {
  const root = temporaryDirectory()
  const store = await openTestStore(root)
  const environment = ProjectionEnvironment.open(store.paths.projections, { readOnly: true })
  t.teardown(async () => {
    await environment.close()
    await store.close(true)
    rmSync(root, { recursive: true })
  })
  const events: StorageEvent[] = []
  const flights: Flight[] = []
  const reads: EventPlace[] = []
  /** Webhooks that may have missed events. */
  const damaged: string[] = []
  // Of a damaged page the first event is missing.
  const state = { now: 1_000_000, timer: 0, isFull: false, isDamaged: false, pace: true }
  const read: ReadEvents = async ({
    after = { sequence: sequenceOf(0), index: 0 },
    sinceMicroseconds = 0,
    untilMicroseconds = Infinity,
    limit,
  }) => {
    if (limit > 1) reads.push(after)
    const wanted = events.filter(
      (event) =>
        isAfter(event, after) &&
        event.timeMicroseconds >= sinceMicroseconds &&
        event.timeMicroseconds < untilMicroseconds,
    )
    const found = wanted.slice(state.isDamaged ? 1 : 0)
    const page = found.slice(0, limit)
    const head = { sequence: sequenceOf(1_000_000), index: 9999 }
    return {
      events: page,
      position:
        found.length > limit ? (page.at(-1) ?? head) : after.sequence > 900_000 ? after : (page.at(-1) ?? after),
      isAtEnd: found.length <= limit,
      damaged: state.isDamaged,
    }
  }
  const start = () =>
    new WebhookDelivery({
      engine: {
        execute: (command) =>
          state.isFull ? Promise.reject(new DomainError('journal-full')) : store.client.execute(command),
      },
      webhooks: new WebhookReader(environment),
      read,
      sender: {
        send: ({ webhook }, event, { signal } = {}) =>
          new Promise((resolve) => {
            const flight: Flight = {
              webhook,
              event: String(event.sequence),
              end: (sent = {}) => {
                flights.splice(flights.indexOf(flight), 1)
                resolve({ ...OK, ...sent })
                return settled()
              },
            }
            flights.push(flight)
            signal?.addEventListener('abort', () => void flight.end({ status: undefined, error: 'aborted' }))
          }),
      },
      pace: { take: () => state.pace, wait: 0 },
      clock: () => millisecondsOf(state.now),
      timer: () => state.timer,
      onDamaged: (webhook) => damaged.push(webhook),
      maximumAttempts: 3,
      pollMilliseconds: 2000,
    })
  /** A step after so many seconds. */
  const later = async (worker: WebhookDelivery, seconds: number) => {
    state.now += seconds * 1000
    state.timer += seconds * 1000
    const result = await worker.step()
    await settled()
    return result
  }
  const reader = new WebhookReader(environment)
  const sequences = () => flights.map(({ event }) => Number(event) - 1000)
  const happen = (...numbers: number[]) => events.push(...numbers.map((number) => storageEvent(1000 + number)))
  return { store, reader, events, flights, reads, damaged, state, start, later, sequences, happen }
}
