import type { Microseconds, Sequence } from '../../engine/brands.ts'
import type { DeliveryReport } from '../../engine/webhooks/commands.ts'
import type { ReplayState, WebhookState } from '../../engine/webhooks/state.ts'
import type { DeliveryAttempt, EventPlace } from '../../engine/events/values.ts'
import type { StorageEvent } from '../../projections/events/storage-event.ts'
import type { DeliveryLine } from '../../projections/webhooks/tables.ts'

/** Events of one line that are read and pending. Further events stay in the journal until there is room. */
export const LINE_EVENTS_MAXIMUM = 256
/** Bytes of attempts in one report: an entry of the journal has 32 KiB at most. */
const REPORT_BYTES_MAXIMUM = 14 * 1024
/** Bytes in an entry: an attempt without its error; a waiting event; the rest of a report. */
const ATTEMPT_BYTES = 64
const WAITING_BYTES = 16
const REPORT_HEAD_BYTES = 320
/** An error is cut to 256 bytes, with a digest after it. */
const ERROR_BYTES_MAXIMUM = 400
/** Record the position after this many entries without a delivery. */
const SILENT_ENTRIES_MAXIMUM = 100_000
/** Due as soon as there is a place. */
const NOW = Number.NEGATIVE_INFINITY

/** A page of storage events (projections/events/event-log.ts). */
export interface EventsRead {
  readonly events: readonly StorageEvent[]
  readonly position: EventPlace
  readonly isAtEnd: boolean
  /** A part of the journal could not be read: events may be missing. */
  readonly damaged: boolean
}
export type ReadEvents = (query: {
  readonly after: EventPlace | undefined
  readonly sinceMicroseconds?: Microseconds
  readonly untilMicroseconds?: Microseconds
  readonly limit: number
}) => Promise<EventsRead>

/** An event on its way to one webhook. */
export interface Delivery {
  readonly place: EventPlace
  /** Undefined after a restart until it is read again. */
  event: StorageEvent | undefined
  /** POSTs so far. */
  attempts: number
  /** By the clock that is never set. */
  dueMilliseconds: number
  isInFlight: boolean
}

/** A report on its way to the journal. */
export interface PendingReport {
  readonly report: DeliveryReport
  /** The events of its attempts, as far as they could be read, for the record. */
  readonly events: readonly StorageEvent[]
  /** Its maximum bytes in an entry. */
  readonly bytes: number
  /** The journal has it. */
  readonly done: () => void
}

function nameOf({ sequence, index }: EventPlace): string {
  return `${sequence} ${index}`
}

/** Where reading must start for this event to be the first. */
export function placeBefore({ sequence, index }: EventPlace): EventPlace {
  return index > 0 ? { sequence, index: index - 1 } : { sequence: (sequence - 1) as Sequence, index: 9999 }
}

/**
 * The events for one webhook, in memory: as they come, or of one replay. The journal has the same as of the last report; an
 * event is sent again when the process ends between its POST and the next report.
 */
export class WebhookLine {
  /** Its secrets may be changed meanwhile. */
  webhook: WebhookState
  readonly replay: ReplayState | undefined
  readonly stopped = new AbortController()
  /** The webhook was deleted or disabled, even if it was enabled again: nothing is sent any more. */
  isDropped = false
  /** Every event up to here is done or in `#deliveries`. */
  position: EventPlace | undefined
  /** The journal has recorded the end of the replay. */
  isClosed = false
  /** There was nothing more when it was last read. */
  isAtEnd = false
  readonly #deliveries: Map<string, Delivery>
  /** Attempts that no report had yet, oldest first. */
  #attempts: (DeliveryAttempt & { readonly sent: StorageEvent | undefined })[] = []
  /** Deliveries that the journal has. */
  readonly #known: Set<string>
  #reported: EventPlace | undefined
  /** Its page had damage, and is read again at this time. */
  #againAt: number | undefined

  /** @param dueAt when a delivery is due that is to be tried again at this time of day */
  constructor(
    webhook: WebhookState,
    stored: DeliveryLine,
    dueAt: (nextMicroseconds: Microseconds) => number,
    replay?: ReplayState,
  ) {
    this.webhook = webhook
    this.replay = replay
    this.position = stored.position
    this.#reported = stored.position
    const pending = stored.pending.map(({ event: place, attempts, nextMicroseconds: next }): [string, Delivery] => {
      const dueMilliseconds = next === undefined ? NOW : dueAt(next)
      return [nameOf(place), { place, event: undefined, attempts, dueMilliseconds, isInFlight: false }]
    })
    this.#deliveries = new Map(pending)
    this.#known = new Set(this.#deliveries.keys())
  }

  get pending(): number {
    return this.#deliveries.size
  }

  /** Attempts that are not in the journal yet. */
  get unreported(): number {
    return this.#attempts.length
  }

  /** Attempts are on their way or not in the journal yet. */
  get isTried(): boolean {
    return this.#attempts.length > 0 || Array.from(this.#deliveries.values()).some(({ isInFlight }) => isInFlight)
  }

  /** Whether there is room for a page, and no damage to wait for. */
  mayRead(now: number): boolean {
    return this.#deliveries.size < LINE_EVENTS_MAXIMUM / 2 && now >= (this.#againAt ?? NOW)
  }

  /**
   * Puts off a page with damage, once: an error of the disk may pass, and the events that it hid must not be left out.
   * @returns false when its page had damage the last time too
   */
  waitsForDamage(againAt: number): boolean {
    if (this.#againAt !== undefined) return false
    this.#againAt = againAt
    return true
  }

  /** Takes events of a page, as far as there is room. */
  take({ events, position, isAtEnd }: EventsRead): void {
    this.#againAt = undefined
    for (const event of events) {
      const { sequence, index } = event
      const place = { sequence, index }
      if (this.#isWanted(event)) {
        if (this.#deliveries.size >= LINE_EVENTS_MAXIMUM) {
          this.isAtEnd = false
          return
        }
        this.#deliveries.set(nameOf(place), { place, event, attempts: 0, dueMilliseconds: NOW, isInFlight: false })
      }
      this.position = place
    }
    this.position = { sequence: position.sequence, index: position.index }
    this.isAtEnd = isAtEnd
  }

  #isWanted({ type, bucket, object }: StorageEvent): boolean {
    const { eventTypes, bucket: onlyBucket, prefix } = this.webhook
    if (!eventTypes.includes(type)) return false
    if (onlyBucket !== undefined && bucket !== onlyBucket) return false
    return prefix === undefined || object?.startsWith(prefix) === true
  }

  /** The next delivery whose time has come; oldest event first. */
  due(now: number): Delivery | undefined {
    for (const delivery of this.#deliveries.values()) {
      if (!delivery.isInFlight && delivery.dueMilliseconds <= now) return delivery
    }
    return undefined
  }

  /** Ends an attempt; with `nextMicroseconds` the delivery is tried again. */
  attempted(delivery: Delivery, attempt: Omit<DeliveryAttempt, 'event' | 'attempt'>, dueMilliseconds: number): void {
    const { place, event: sent } = delivery
    delivery.isInFlight = false
    delivery.attempts += 1
    this.#attempts.push({ event: place, attempt: delivery.attempts, ...attempt, sent })
    if (attempt.nextMicroseconds === undefined) this.#deliveries.delete(nameOf(place))
    else delivery.dueMilliseconds = dueMilliseconds
  }

  /** Whether a replay has no more events. */
  get isOver(): boolean {
    return this.replay !== undefined && this.isAtEnd && this.#deliveries.size === 0
  }

  /** Whether the journal should hear of it even without an attempt. */
  get hasNews(): boolean {
    if (this.isClosed) return false
    if (this.isDropped) return this.#attempts.length > 0
    if (this.#attempts.length > 0 || this.isOver) return true
    return (this.position?.sequence ?? 0) - (this.#reported?.sequence ?? 0) > SILENT_ENTRIES_MAXIMUM
  }

  /**
   * The next report for the journal, and its callback. It has the attempts that fit into one entry; events whose
   * attempts do not fit count as waiting in the journal.
   */
  report(): PendingReport | undefined {
    const { position } = this
    if (position === undefined) return undefined
    const attempts: DeliveryAttempt[] = []
    let bytes = REPORT_HEAD_BYTES
    const events: StorageEvent[] = []
    for (const { sent, ...attempt } of this.#attempts) {
      const size = ATTEMPT_BYTES + Math.min(ERROR_BYTES_MAXIMUM, 3 * (attempt.error?.length ?? 0))
      if (bytes + size > REPORT_BYTES_MAXIMUM) break
      bytes += size
      attempts.push(attempt)
      if (sent !== undefined) events.push(sent)
    }
    const told = new Set(attempts.map(({ event }) => nameOf(event)))
    const left = this.#attempts.slice(attempts.length).map(({ event }) => event)
    const unknown = [...left, ...Array.from(this.#deliveries.values(), ({ place }) => place)]
    const waiting = new Map(
      unknown
        .map((place): [string, EventPlace] => [nameOf(place), place])
        .filter(([name]) => !this.#known.has(name) && !told.has(name)),
    )
    const isOver = this.isOver && left.length === 0
    const start = this.webhook.startSequence
    const replay = this.replay?.replay
    return {
      report: {
        webhook: this.webhook.webhook,
        start,
        replay,
        position,
        waiting: [...waiting.values()],
        attempts,
        isOver,
      },
      events,
      bytes: bytes + waiting.size * WAITING_BYTES,
      done: () => {
        this.isClosed = isOver
        this.#attempts = this.#attempts.slice(attempts.length)
        this.#reported = position
        for (const name of waiting.keys()) this.#known.add(name)
        for (const { event, nextMicroseconds } of attempts) {
          if (nextMicroseconds === undefined) this.#known.delete(nameOf(event))
          else this.#known.add(nameOf(event))
        }
      },
    }
  }
}
