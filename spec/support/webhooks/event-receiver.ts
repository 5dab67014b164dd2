/** A receiver of webhooks without sockets, which outlives the store that sends to it. */
import { isDeepStrictEqual } from 'node:util'
import { microsecondsOf, millisecondsOf } from '../../../engine/brands.ts'
import type { EngineClient } from '../../../engine/client/engine-client.ts'
import { serverTurns } from '../../../projections/audit/turns.ts'
import { WebhookReader } from '../../../projections/webhooks/reader.ts'
import { type StorageEvent, storageEventId } from '../../../projections/events/storage-event.ts'
import { ProjectionEnvironment } from '../../../projections/lmdb-environment.ts'
import { WebhookDelivery } from '../../../workers/webhooks/deliver-webhooks.ts'
import type { Sent } from '../../../workers/webhooks/sender.ts'
import { timesOwed } from '../../model/naive-webhooks.ts'
import type { ModelState } from '../../model/state.ts'
import { eventLogOf, expectedEvents, toldEvent } from '../model/event-differences.ts'
import type { TestStore } from '../test-store.ts'

/** Between two steps of the worker: longer than any delay of the first attempts. */
const STEP_MILLISECONDS = 60_000
const STEPS_MAXIMUM = 60
/** Of the event loop: enough for some requests, and not for all. */
const TURNS_PER_STEP = 4
const KILLED = 'the process was killed'

export class EventReceiver {
  /** Whether the n-th request of an event is refused. */
  readonly #refuses: (request: number) => boolean
  /** By webhook and id of the event: what it was about, and how often it was answered with success. */
  readonly #arrived = new Map<string, { readonly event: StorageEvent; requests: number; taken: number }>()
  readonly #wrong: string[] = []

  constructor(refuses: (request: number) => boolean = () => false) {
    this.#refuses = refuses
  }

  /** Requests so far. */
  get requests(): number {
    return [...this.#arrived.values()].reduce((sum, { requests }) => sum + requests, 0)
  }

  /** In place of a sender. */
  async send({ webhook }: { readonly webhook: string }, event: StorageEvent): Promise<Sent> {
    const name = `${webhook} ${storageEventId(event)}`
    const known = this.#arrived.get(name) ?? { event, requests: 0, taken: 0 }
    if (!isDeepStrictEqual(toldEvent(known.event), toldEvent(event))) this.#wrong.push(`${name} is another event now`)
    known.requests += 1
    this.#arrived.set(name, known)
    const isRefused = this.#refuses(known.requests)
    // Meanwhile others wait.
    await new Promise(setImmediate)
    if (!isRefused) known.taken += 1
    const answer = { timeMicroseconds: microsecondsOf(1), askedMilliseconds: 0 }
    return isRefused
      ? { ...answer, status: 503, error: 'the target answered 503' }
      : { ...answer, status: 200, error: undefined }
  }

  /** What arrived and never happened. An event is durable before it is sent, so this holds at any moment. */
  strangers({ events }: ModelState): string[] {
    const expected = new Map(expectedEvents(events).map((event) => [event.id, event]))
    const wrong = [...this.#arrived].flatMap(([name, { event }]) =>
      isDeepStrictEqual(toldEvent(event), expected.get(storageEventId(event)))
        ? []
        : [`${name} was delivered as ${JSON.stringify(toldEvent(event))} and is none of the events`],
    )
    return [...wrong, ...this.#wrong]
  }

  /**
   * What webhooks are owed and never got, when everything was delivered.
   * @param through events of later entries are still to come
   */
  missing({ events, webhooks }: ModelState, through = Number.POSITIVE_INFINITY): string[] {
    return [...webhooks].flatMap(([id, webhook]) => {
      const least = (times: number) =>
        expectedEvents(events, (event) => {
          return webhook.enabled && event.sequence <= through && timesOwed(webhook, event) >= times
        })
          .filter((event) => (this.#arrived.get(`${id} ${event.id}`)?.taken ?? 0) < times)
          .map((event) => `event ${event.id} came to ${id} fewer than ${times} times: ${JSON.stringify(event)}`)
      return Array.from({ length: 1 + webhook.replays.length }, (_, index) => least(index + 1)).flat()
    })
  }
}

/**
 * Delivers until nothing is pending, by a clock that goes on a minute with each step.
 * A step that fails is tried again some times, as the supervisor of a server does.
 * @returns whether nothing is pending any more
 * @param now milliseconds, not before the attempts of an earlier run
 */
export async function deliverAll(
  store: TestStore,
  receiver: EventReceiver,
  { now, engine = store.client, steps = STEPS_MAXIMUM, told = () => undefined }: DeliveryOptions,
): Promise<boolean> {
  const environment = ProjectionEnvironment.open(store.paths.projections, { readOnly: true })
  const log = eventLogOf(store, environment)
  let clock = now
  let isKilled = false
  const worker = new WebhookDelivery({
    engine: { execute: (command) => (isKilled ? Promise.reject(new Error(KILLED)) : engine.execute(command)) },
    webhooks: new WebhookReader(environment),
    read: (query) => log.read(query, serverTurns),
    sender: receiver,
    pace: { take: () => true, wait: 0 },
    clock: () => millisecondsOf(clock),
    timer: () => clock,
    onDamaged: (webhook) => {
      throw new Error(`webhook ${webhook} reads a journal that is damaged`)
    },
    maximumAttempts: 16,
    pollMilliseconds: 1,
  })
  const failures: unknown[] = []
  const attempt = async <R>(work: () => Promise<R>): Promise<R | undefined> => {
    try {
      return await work()
    } catch (error) {
      told(error)
      failures.push(error)
      return undefined
    }
  }
  // Two steps with nothing to do: the first one may have read what the second sends.
  let idle = 0
  for (let step = 0; step < steps && idle < 2 && failures.length < 3; step += 1) {
    clock += STEP_MILLISECONDS
    const result = await attempt(() => worker.step())
    for (let turn = 0; turn < TURNS_PER_STEP; turn += 1) await new Promise(setImmediate)
    idle = result === 'idle' && worker.counts.pending === 0 ? idle + 1 : 0
  }
  // An end in the middle: what is on its way is not reported. It ends before the rows are closed, which it reads when it ends.
  isKilled = steps < STEPS_MAXIMUM
  if (isKilled) await worker.close().catch(ignoreKill)
  else await attempt(() => worker.close())
  await environment.close()
  return idle === 2
}

function ignoreKill(error: unknown): void {
  if (!(error instanceof Error && error.message === KILLED)) throw error
}

interface DeliveryOptions {
  readonly now: number
  /** Stands between the worker and the engine. */
  readonly engine?: EngineClient
  /** Fewer end in the middle, as a process that is killed. */
  readonly steps?: number
  /** Told of each step that failed. */
  readonly told?: (error: unknown) => void
}
