import type { EngineClient } from '../../engine/client/engine-client.ts'
import { type Microseconds, microsecondsOf, type Milliseconds } from '../../engine/brands.ts'
import type { ReplayState, WebhookState } from '../../engine/webhooks/state.ts'
import type { WebhookReader } from '../../projections/webhooks/reader.ts'
import { deliveryAudit } from './delivery-audit.ts'
import type { EventPlace } from '../../engine/events/values.ts'
import type { BackgroundWorker, StepResult } from '../worker.ts'
import type { DeliveryLine } from '../../projections/webhooks/tables.ts'
import { storageEventId } from '../../projections/events/storage-event.ts'
import {
  type Delivery,
  type EventsRead,
  LINE_EVENTS_MAXIMUM,
  type PendingReport,
  placeBefore,
  type ReadEvents,
  WebhookLine,
} from './delivery-line.ts'
import type { DeliveryPace } from './delivery-pace.ts'
import { RETRY_DELAY_MAXIMUM, retryDelay } from './retry.ts'
import type { Sent, WebhookSender } from './sender.ts'
import { TargetCircuits } from './target-circuits.ts'

/** Maximum attempts that are not in the journal yet: nothing new is sent until they are. */
const UNREPORTED_MAXIMUM = 512
/** Attempts in one report; fewer after a second. */
const REPORT_ATTEMPTS = 256
const REPORT_MILLISECONDS = 1000
/** Reports in one entry of the journal, which has 32 KiB at most, 5 of them for what it says of itself. One report is smaller. */
const ENTRY_BYTES_MAXIMUM = 26 * 1024
/** Entries that one step writes at most. */
const ENTRIES_PER_REPORT = 8
/** Grace period of deliveries in flight when the server stops. */
const STOP_MILLISECONDS = 2000
/** Why an attempt has no answer; the target may have got it. */
const GIVEN_UP = 'given up: the webhook was disabled or deleted'
const CUT_OFF = 'given up: the server was stopped'

interface DeliveryParts {
  readonly engine: Pick<EngineClient, 'execute'>
  readonly webhooks: Pick<WebhookReader, 'version' | 'webhooks' | 'progress'>
  readonly read: ReadEvents
  readonly sender: Pick<WebhookSender, 'send'>
  readonly pace: Pick<DeliveryPace, 'take' | 'wait'>
  /** The time of day. */
  readonly clock: () => Milliseconds
  /** Milliseconds of a monotonic clock, which decides what is due. */
  readonly timer: () => number
  /** A webhook continues after a part of the journal that cannot be read; it may not get the events in it. */
  readonly onDamaged: (webhook: string, after: EventPlace | undefined, through: EventPlace) => void
  readonly maximumAttempts: number
  readonly pollMilliseconds: number
}

/** Counts since the start, and the present number of pending deliveries. */
export interface DeliveryCounts {
  readonly pending: number
  readonly succeeded: number
  readonly failedAttempts: number
  readonly failed: number
}

/**
 * Delivers storage events to webhooks, at least once each. The queue is the journal: each webhook has a position in the
 * events, and a bounded number of them in memory. Attempts are recorded in passes, many in one entry
 * (spec/decisions/0066-webhooks.md).
 */
export class WebhookDelivery implements BackgroundWorker {
  readonly name = 'deliver-webhooks'
  readonly #parts: DeliveryParts
  readonly #circuits = new TargetCircuits()
  #lines: WebhookLine[] = []
  /** Lines that were dropped, with attempts that are on their way or not in the journal yet. */
  #dropped: WebhookLine[] = []
  #version: number | undefined
  #nextReading = Number.NEGATIVE_INFINITY
  #lastReport = Number.NEGATIVE_INFINITY
  /** The line that may send first, so that none is always last. */
  #first = 0
  readonly #flights = new Set<Promise<void>>()
  #isStopping = false
  #wake: () => void = () => undefined
  /** Fires when the pace allows more. */
  #pause: NodeJS.Timeout | undefined
  #succeeded = 0
  #failedAttempts = 0
  #failed = 0

  constructor(parts: DeliveryParts) {
    this.#parts = parts
  }

  get status(): string {
    const { pending, succeeded, failed } = this.counts
    return `${succeeded} deliveries succeeded, ${failed} failed for good, ${pending} pending`
  }

  get counts(): DeliveryCounts {
    return {
      pending: this.#lines.reduce((sum, line) => sum + line.pending, 0),
      succeeded: this.#succeeded,
      failedAttempts: this.#failedAttempts,
      failed: this.#failed,
    }
  }

  async step(): Promise<StepResult> {
    this.#refresh()
    await this.#readEvents()
    this.#start()
    const { timer } = this.#parts
    const unreported = this.#unreported
    if (unreported >= REPORT_ATTEMPTS || timer() - this.#lastReport >= REPORT_MILLISECONDS) await this.#report()
    return this.#hasWork ? 'more' : 'idle'
  }

  /** Resolves when a line that is behind has room again, or when enough attempts can be reported. */
  woken(): Promise<void> {
    return this.#hasWork ? Promise.resolve() : new Promise((resolve) => (this.#wake = resolve))
  }

  get #hasWork(): boolean {
    const now = this.#parts.timer()
    return this.#unreported >= REPORT_ATTEMPTS || this.#lines.some((line) => !line.isAtEnd && line.mayRead(now))
  }

  /** Deliveries in flight may end; then the last report is made. */
  async close(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#pause)
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(), STOP_MILLISECONDS)
    timeout.signal.addEventListener('abort', () => this.#lines.forEach((line) => line.stopped.abort()))
    await Promise.all(this.#flights)
    clearTimeout(timer)
    await this.#report()
  }

  get #unreported(): number {
    return unreportedOf(this.#lines) + unreportedOf(this.#dropped)
  }

  /**
   * Takes over changes of webhooks, and new replays. The line of a deleted or disabled webhook is dropped, also if it
   * was enabled again: its deliveries in flight are given up, and their attempts are still reported.
   */
  #refresh(): void {
    const { webhooks, timer } = this.#parts
    const version = webhooks.version()
    if (version === this.#version && timer() < this.#nextReading) return
    this.#version = version
    const before = new Map(this.#lines.map((line) => [keyOf(line.webhook, line.replay), line]))
    this.#lines = webhooks.webhooks().flatMap((webhook) => this.#linesOf(webhook, before))
    for (const line of before.values()) if (!this.#lines.includes(line)) this.#drop(line)
    this.#circuits.keep(new Set(this.#lines.map(({ webhook }) => webhook.target)))
  }

  #drop(line: WebhookLine): void {
    line.isDropped = true
    line.stopped.abort()
    if (line.isTried) this.#dropped.push(line)
  }

  #linesOf(webhook: WebhookState, before: ReadonlyMap<string, WebhookLine>): WebhookLine[] {
    const progress = webhook.enabled ? this.#parts.webhooks.progress(webhook.webhook) : undefined
    if (progress === undefined) return []
    const { line, replay } = progress
    const begun = (stored: DeliveryLine, of?: ReplayState) =>
      before.get(keyOf(webhook, of)) ?? new WebhookLine(webhook, stored, (next) => this.#dueAt(next), of)
    const lines = [begun(line), ...(replay === undefined ? [] : [begun(replay, replay)])]
    for (const one of lines) one.webhook = webhook
    return lines.filter(({ isClosed }) => !isClosed)
  }

  /** Lines at the end are read when the poll is due, the others as soon as they have room. Lines at one place share a page. */
  async #readEvents(): Promise<void> {
    const { timer, pollMilliseconds } = this.#parts
    const now = timer()
    const isDue = now >= this.#nextReading
    if (isDue) this.#nextReading = now + pollMilliseconds
    const pages = new Map<string, EventsRead>()
    for (const line of this.#lines) {
      if (!line.mayRead(now) || (line.isAtEnd && (!isDue || line.replay !== undefined))) continue
      const { position: after, replay } = line
      const name = `${after?.sequence} ${after?.index} ${replay?.replay}`
      const page =
        pages.get(name) ?? (await this.#parts.read({ after, ...rangeOf(replay), limit: LINE_EVENTS_MAXIMUM }))
      pages.set(name, page)
      if (page.damaged && line.waitsForDamage(now + pollMilliseconds)) continue
      if (page.damaged) this.#parts.onDamaged(line.webhook.webhook, after, page.position)
      line.take(page)
    }
  }

  /** Sends due deliveries, one of each line in turn, as long as there are places. */
  #start(): void {
    if (this.#isStopping) return
    // Changes are in force at once: no delivery starts to a disabled target, or with a rotated secret.
    if (this.#parts.webhooks.version() !== this.#version) this.#refresh()
    for (let isBusy = true; isBusy; ) {
      isBusy = false
      const count = this.#lines.length
      this.#first = count === 0 ? 0 : (this.#first + 1) % count
      for (let index = 0; index < count; index += 1) {
        if (this.#unreported + this.#flights.size >= UNREPORTED_MAXIMUM) return
        const line = this.#lines[(this.#first + index) % count] as WebhookLine
        if (this.#startOne(line)) isBusy = true
      }
    }
  }

  #startOne(line: WebhookLine): boolean {
    const { target } = line.webhook
    if (!this.#circuits.mayStart(target)) return false
    const delivery = line.due(this.#parts.timer())
    if (delivery === undefined || !this.#mayBegin()) return false
    delivery.isInFlight = true
    this.#circuits.started(target)
    const flight = this.#deliver(line, delivery, target).finally(() => {
      this.#flights.delete(flight)
      this.#start()
      if (this.#hasWork) this.#wake()
    })
    this.#flights.add(flight)
    return true
  }

  /** Whether the pace allows another delivery; if not, they go on when it does. */
  #mayBegin(): boolean {
    const { pace } = this.#parts
    if (pace.take()) return true
    this.#pause ??= setTimeout(() => {
      this.#pause = undefined
      this.#start()
    }, pace.wait)
    return false
  }

  async #deliver(line: WebhookLine, delivery: Delivery, target: string): Promise<void> {
    const sent = await this.#send(line, delivery)
    const isSuccess = sent.error === undefined
    const isGivenUp = !isSuccess && line.stopped.signal.aborted
    this.#circuits.ended(target, isGivenUp ? undefined : isSuccess)
    const { timeMicroseconds, status } = sent
    const error = isGivenUp ? (line.isDropped ? GIVEN_UP : CUT_OFF) : sent.error
    // An attempt that the server itself cut off at its stop is made again after the start, also the last one.
    const again = isGivenUp && !line.isDropped ? 0 : this.#delay(line, delivery, sent.askedMilliseconds)
    const delay = isSuccess || line.isDropped ? undefined : again
    if (isSuccess) this.#succeeded += 1
    else this.#failedAttempts += 1
    if (!isSuccess && !line.isDropped && delay === undefined) this.#failed += 1
    const { clock, timer } = this.#parts
    const nextMicroseconds = delay === undefined ? undefined : microsecondsOf((clock() + delay) * 1000)
    line.attempted(delivery, { timeMicroseconds, status, error, nextMicroseconds }, timer() + (delay ?? 0))
  }

  async #send({ webhook, stopped }: WebhookLine, delivery: Delivery): Promise<Sent> {
    const timeMicroseconds = microsecondsOf(this.#parts.clock() * 1000)
    const failed = { timeMicroseconds, status: undefined, askedMilliseconds: 0 }
    try {
      delivery.event ??= (await this.#parts.read({ after: placeBefore(delivery.place), limit: 1 })).events[0]
    } catch (error) {
      return { ...failed, error: `the event cannot be read: ${String(error)}` }
    }
    const { event, place } = delivery
    if (event === undefined || event.sequence !== place.sequence || event.index !== place.index) {
      return { ...failed, error: 'the event cannot be read' }
    }
    return this.#parts.sender.send(webhook, event, { signal: stopped.signal })
  }

  /** How long until a delivery that failed is tried again; undefined when that was its last attempt. */
  #delay(line: WebhookLine, { place, attempts }: Delivery, asked: number): number | undefined {
    const attempt = attempts + 1
    if (attempt >= this.#parts.maximumAttempts) return undefined
    const delivery = `${line.webhook.webhook} ${storageEventId(place)} ${line.replay?.replay ?? 0}`
    return retryDelay(delivery, attempt, asked)
  }

  /** When a delivery of before the start is due. The clock may have been set back since its time was written. */
  #dueAt(nextMicroseconds: Microseconds): number {
    const { clock, timer } = this.#parts
    return timer() + Math.min(nextMicroseconds / 1000 - clock(), RETRY_DELAY_MAXIMUM)
  }

  /** Writes due reports into the journal, in as few entries as possible. */
  async #report(): Promise<void> {
    this.#lastReport = this.#parts.timer()
    for (let entry = 0; entry < ENTRIES_PER_REPORT; entry += 1) {
      const reports = this.#nextReports()
      if (reports.length === 0) return
      await this.#parts.engine.execute({
        kind: 'record-deliveries',
        audit: deliveryAudit(reports),
        reports: reports.map(({ report }) => report),
      })
      for (const { done } of reports) done()
      this.#lines = this.#lines.filter(({ isClosed }) => !isClosed)
      this.#dropped = this.#dropped.filter(({ isTried }) => isTried)
    }
  }

  #nextReports(): PendingReport[] {
    const reports: PendingReport[] = []
    let bytes = 0
    for (const line of [...this.#dropped, ...this.#lines]) {
      const report = line.hasNews ? line.report() : undefined
      if (report === undefined) continue
      bytes += report.bytes
      if (bytes > ENTRY_BYTES_MAXIMUM && reports.length > 0) break
      reports.push(report)
    }
    return reports
  }
}

function unreportedOf(lines: readonly WebhookLine[]): number {
  return lines.reduce((sum, line) => sum + line.unreported, 0)
}

function keyOf({ webhook, startSequence }: WebhookState, replay: ReplayState | undefined): string {
  return `${webhook} ${startSequence} ${replay?.replay ?? 0}`
}

function rangeOf(
  replay: ReplayState | undefined,
): Pick<ReplayState, 'sinceMicroseconds' | 'untilMicroseconds'> | undefined {
  if (replay === undefined) return undefined
  const { sinceMicroseconds, untilMicroseconds } = replay
  return { sinceMicroseconds, untilMicroseconds }
}
