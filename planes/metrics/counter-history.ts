import type { Milliseconds } from '../../engine/brands.ts'
import type { HistogramCounts, MetricSlots } from './metric-slots.ts'

/** Time between two readings. */
export const SAMPLE_SECONDS = 15
/** Readings of one hour, including the first and the last. */
export const READINGS_MAXIMUM = 3600 / SAMPLE_SECONDS + 1

/** The values of the counters at one time, all since the start of the process. */
export interface CounterReading {
  readonly timeMilliseconds: Milliseconds
  /** By the name of the metric, summed over its labels. */
  readonly counters: ReadonlyMap<string, number>
  /** Counts of the buckets of histograms, without empty histograms. */
  readonly histograms: readonly HistogramCounts[]
}

/** Values by name of counters outside the slots; undefined while unknown. */
type OtherCounters = () => Readonly<Record<string, number | undefined>>

/**
 * Readings of the counters over the last hour, in memory, from the start of the process: up to 241 readings with 20
 * numbers for each of at most 15 histograms, about 1 MiB.
 */
export class CounterHistory {
  readonly #slots: MetricSlots
  readonly #clock: () => Milliseconds
  readonly #readings: CounterReading[] = []
  #timer: NodeJS.Timeout | undefined

  /** `clock`: milliseconds since 1970. */
  constructor(slots: MetricSlots, clock: () => Milliseconds) {
    this.#slots = slots
    this.#clock = clock
  }

  /** Oldest first. */
  get readings(): readonly CounterReading[] {
    return this.#readings
  }

  /** Samples now and every `SAMPLE_SECONDS`; does not keep the process alive. */
  start(others?: OtherCounters): void {
    this.sample(others)
    this.#timer = setInterval(() => this.sample(others), SAMPLE_SECONDS * 1000).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  sample(others: OtherCounters = () => ({})): void {
    const counters = new Map<string, number>()
    for (const { row, value } of this.#slots.read()) {
      if (row.type === 'counter') counters.set(row.name, (counters.get(row.name) ?? 0) + value)
    }
    for (const [name, value] of Object.entries(others())) if (value !== undefined) counters.set(name, value)
    this.#readings.push({ timeMilliseconds: this.#clock(), counters, histograms: this.#slots.histograms() })
    if (this.#readings.length > READINGS_MAXIMUM) this.#readings.shift()
  }
}
