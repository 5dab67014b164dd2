import type { ConnectionRefusal } from '../../planes/http/limits/connection-rules.ts'
import { connectionRefusals, type ListenerName, listenerNames } from '../../planes/metrics/metric-table.ts'
import { MetricSlots, type SharedMetrics } from '../../planes/metrics/metric-slots.ts'
import type { Logger } from './log/logger.ts'

const LOOK_MILLISECONDS = 5000
/** One line for each of these: refused connections come in thousands. */
const LINE_MILLISECONDS = 60_000

/** Counts the refused connections of a listener; `thread` is the region of its thread in the metrics. */
export function refusedCounter(
  metrics: SharedMetrics,
  thread: number,
  listener: ListenerName,
): (reason: ConnectionRefusal) => void {
  const slots = new MetricSlots(metrics)
  const region = slots.region(thread)
  return (reason) => {
    const slot = slots.connectionSlot(listener, reason)
    region[slot] = (region[slot] ?? 0) + 1
  }
}

/** Says in the log that connections are refused: at once, and from then on at most once a minute. */
export class RefusedConnectionsWatch {
  readonly #log: Pick<Logger, 'warn'>
  readonly #metrics: MetricSlots
  readonly #timer: NodeJS.Timeout
  readonly #clock: () => number
  #said = 0
  #saidAt = Number.NEGATIVE_INFINITY

  /** @param clock milliseconds since some moment */
  constructor(log: Pick<Logger, 'warn'>, metrics: MetricSlots, clock: () => number = () => performance.now()) {
    this.#log = log
    this.#metrics = metrics
    this.#clock = clock
    this.#timer = setInterval(() => this.look(), LOOK_MILLISECONDS).unref()
  }

  look(): void {
    const now = this.#clock()
    if (now - this.#saidAt < LINE_MILLISECONDS) return
    const total = listenerNames.reduce((sum, listener) => sum + this.#refusedBy(listener), 0)
    if (total === this.#said) return
    const refused = total - this.#said
    this.#said = total
    this.#saidAt = now
    this.#log.warn(
      { refused, ...this.#totals() },
      'connections were closed for want of places: raise the limit of open files, or find the address that holds them',
    )
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #totals(): Record<string, number> {
    return Object.fromEntries(listenerNames.map((listener) => [listener, this.#refusedBy(listener)]))
  }

  #refusedBy(listener: ListenerName): number {
    return connectionRefusals.reduce(
      (sum, reason) => sum + this.#metrics.total(this.#metrics.connectionSlot(listener, reason)),
      0,
    )
  }
}
