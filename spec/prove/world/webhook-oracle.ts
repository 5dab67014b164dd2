/** What receivers of webhooks got, held against the events that clients see and against what the journal says. */
import { isDeepStrictEqual } from 'node:util'
import type { DeliveryAttempt } from '../../../engine/events/values.ts'
import type { JournalEntry } from '../../support/journal-entries.ts'
import type { StorageEvent } from '../../support/storage-events.ts'
import type { Arrival, Gap, Receivers } from './receivers.ts'
import { signatureProblem } from './webhook-signatures.ts'

const DIGITS = { sequence: 16, index: 4 }

/** A replay: the sequence of its entry, and its range, the end not included. */
interface Replay {
  readonly sequence: number
  readonly since: number
  readonly until: number
}

/** What the journal says of a webhook. */
export interface ToldWebhook {
  readonly id: string
  readonly target: string
  readonly created: number
  readonly eventTypes: readonly string[]
  readonly bucket: string | undefined
  readonly prefix: string | undefined
  isEnabled: boolean
  isDeleted: boolean
  /** Sequence of the entry that created or enabled it last. */
  start: number
  readonly replays: Replay[]
  /** Until when the secret before each of its rotations signs along, in microseconds since 1970. */
  readonly previousUntil: number[]
  /** By replay (0: the events as they come) and id of an event. */
  readonly ended: Set<string>
  /** Attempts with success, by id of an event. */
  readonly successes: Map<string, number>
}

/** What all webhooks of a journal are, by their ids, and the ids of made-up events. */
function toldWebhooks(entries: readonly JournalEntry[]): { webhooks: Map<string, ToldWebhook>; tests: Set<string> } {
  const webhooks = new Map<string, ToldWebhook>()
  const tests = new Set<string>()
  const of = (id: string) => {
    const found = webhooks.get(id)
    if (found === undefined) throw new Error(`the journal has changes of webhook ${id} before its creation`)
    return found
  }
  for (const { sequence, changes } of entries) {
    for (const change of changes) {
      switch (change.name) {
        case 'webhook.created': {
          const { webhook: id, target, eventTypes, bucket, prefix, enabled } = change
          const lists = { replays: [], previousUntil: [], ended: new Set<string>(), successes: new Map() }
          const at = { created: sequence, start: sequence, isEnabled: enabled, isDeleted: false }
          webhooks.set(id, { id, target, eventTypes, bucket, prefix, ...at, ...lists })
          break
        }
        case 'webhook.status-set': {
          const webhook = of(change.webhook)
          if (webhook.isEnabled === change.enabled) break
          webhook.isEnabled = change.enabled
          if (change.enabled) webhook.start = sequence
          break
        }
        case 'webhook.deleted':
          of(change.webhook).isDeleted = true
          break
        case 'webhook.replayed': {
          const { webhook, sinceMicroseconds: since, untilMicroseconds: until } = change
          of(webhook).replays.push({ sequence, since, until })
          break
        }
        case 'webhook.secret-rotated':
          of(change.webhook).previousUntil.push(change.previousUntilMicroseconds)
          break
        case 'webhook.delivered':
        case 'webhook.attempted':
          note(of(change.webhook), change.attempts, change.replay ?? 0)
          break
        case 'webhook.tested':
          tests.add(change.event)
          break
        default:
      }
    }
  }
  return { webhooks, tests }
}

function note({ ended, successes }: ToldWebhook, attempts: readonly DeliveryAttempt[], replay: number): void {
  for (const { event, error, nextMicroseconds } of attempts) {
    const id = eventId(event)
    if (error === undefined) successes.set(id, (successes.get(id) ?? 0) + 1)
    if (nextMicroseconds === undefined) ended.add(`${replay} ${id}`)
  }
}

function eventId({ sequence, index }: { readonly sequence: number; readonly index: number }): string {
  return `${String(sequence).padStart(DIGITS.sequence, '0')}-${String(index).padStart(DIGITS.index, '0')}`
}

/**
 * Every event that an enabled webhook wants has an end in the journal: success, which its receiver had as well, or the last
 * of its attempts; and again for each of its replays. Events that could not be read while a file was rotten may be missing. What arrived is an event that happened, as clients see it,
 * which the webhook wants, signed by its secret, and not after its deletion was answered.
 * @param events as clients see them
 * @param orderly numbers of the starts that ended in order
 * @returns the first thing that is wrong
 */
export function webhookProblem(
  entries: readonly JournalEntry[],
  events: readonly StorageEvent[],
  receivers: Pick<Receivers, 'arrivals' | 'secrets' | 'deletions' | 'gaps'>,
  orderly: ReadonlySet<number>,
): string | undefined {
  const { webhooks, tests } = toldWebhooks(entries)
  const known = new Map(events.map((event) => [event.id, event]))
  const byTarget = new Map([...webhooks.values()].map((webhook) => [webhook.target, webhook]))
  for (const arrival of receivers.arrivals) {
    const webhook = byTarget.get(arrival.target)
    const problem =
      webhook === undefined
        ? 'is of no webhook'
        : (arrivalProblem(arrival, webhook, known, tests) ??
          deletionProblem(arrival, receivers.deletions.get(webhook.id)) ??
          signatureProblem(arrival, webhook, receivers.secrets))
    if (problem !== undefined) return `what came to ${arrival.target} ${problem}: ${arrival.body}`
  }
  for (const webhook of webhooks.values()) {
    const problem =
      successProblem(webhook, receivers.arrivals, orderly) ?? missingProblem(webhook, events, receivers.gaps)
    if (problem !== undefined) return `webhook ${webhook.id}: ${problem}`
  }
  return undefined
}

function arrivalProblem(
  arrival: Arrival,
  webhook: ToldWebhook,
  known: ReadonlyMap<string, StorageEvent>,
  tests: ReadonlySet<string>,
): string | undefined {
  const { headers, body } = arrival
  const sent = JSON.parse(body.toString()) as StorageEvent
  const { id } = sent
  const names = ['webhook-id', 'x-object-store-event-id', 'ce-id'].map((name) => headers[name])
  if (names.some((name) => name !== id)) return `is named ${names.join(', ')}`
  if (isTest(arrival)) return tests.has(id) ? undefined : 'is a test without a record'
  const event = known.get(id)
  if (event === undefined) return 'never happened'
  if (!isDeepStrictEqual(sent, event)) return `is not what clients see: ${JSON.stringify(event)}`
  if (!isWanted(webhook, event)) return 'is nothing that it wants'
  const isOfReplay = webhook.replays.some((replay) => isInRange(replay, event))
  return sequenceOf(event) > webhook.created || isOfReplay ? undefined : 'happened before it was created'
}

function deletionProblem({ moment }: Arrival, deleted: number | undefined): string | undefined {
  return deleted !== undefined && moment > deleted ? 'came after its deletion was answered' : undefined
}

/**
 * A success that the journal has is one that a receiver gave, and the other way round where the start that had it ended in
 * order: a webhook that is disabled meanwhile was asked all the same. One that is deleted has no log.
 */
function successProblem(
  { target, successes, isDeleted }: ToldWebhook,
  arrivals: readonly Arrival[],
  orderly: ReadonlySet<number>,
): string | undefined {
  const taken = arrivals.filter((one) => one.target === target && one.isTaken && !isTest(one))
  for (const [id, count] of successes) {
    const times = taken.filter(({ headers }) => headers['webhook-id'] === id).length
    if (times < count) return `the journal has ${count} successes of event ${id}, and its receiver ${times}`
  }
  if (isDeleted) return undefined
  for (const { headers } of taken.filter(({ life }) => orderly.has(life))) {
    const id = String(headers['webhook-id'])
    const times = taken.filter((one) => one.headers['webhook-id'] === id && orderly.has(one.life)).length
    const count = successes.get(id) ?? 0
    if (count < times) return `its receiver took event ${id} ${times} times, and the journal has ${count} successes`
  }
  return undefined
}

function isTest({ headers }: Arrival): boolean {
  return headers['x-object-store-test'] !== undefined
}

function missingProblem(
  webhook: ToldWebhook,
  events: readonly StorageEvent[],
  gaps: readonly Gap[],
): string | undefined {
  if (!webhook.isEnabled || webhook.isDeleted) return undefined
  const { id, start, replays, ended } = webhook
  const isMissed = (sequence: number) =>
    gaps.some(({ webhook: of, after, through }) => of === id && sequence > after && sequence <= through)
  for (const event of events.filter((one) => isWanted(webhook, one))) {
    const sequence = sequenceOf(event)
    if (isMissed(sequence)) continue
    if (sequence > start && !ended.has(`0 ${event.id}`)) return `event ${event.id} was neither delivered nor given up`
    for (const replay of replays) {
      // A replay from before it was enabled last was dropped when it was disabled.
      if (replay.sequence < start || sequence > replay.sequence || !isInRange(replay, event)) continue
      if (!ended.has(`${replay.sequence} ${event.id}`)) return `replay ${replay.sequence} leaves event ${event.id} out`
    }
  }
  return undefined
}

function isWanted({ eventTypes, bucket, prefix }: ToldWebhook, event: StorageEvent): boolean {
  if (!eventTypes.includes(event.type) || (bucket !== undefined && event.bucket !== bucket)) return false
  return prefix === undefined || event.object?.startsWith(prefix) === true
}

function isInRange({ since, until }: Replay, { time }: StorageEvent): boolean {
  // The last three digits are microseconds.
  const at = Date.parse(`${time.slice(0, -4)}Z`) * 1000 + Number(time.slice(-4, -1))
  return at >= since && at < until
}

function sequenceOf({ id }: StorageEvent): number {
  return Number(id.slice(0, id.indexOf('-')))
}
