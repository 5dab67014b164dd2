import type { Milliseconds } from '../../engine/brands.ts'
import type { MetricSlots } from '../http/metric-slots.ts'

/** Time between two readings. */
export const SAMPLE_SECONDS = 15
/** Readings of one hour, including the first and the last. */
const READINGS_MAXIMUM = 3600 / SAMPLE_SECONDS + 1

/** The values of the counters at one time. */
interface CounterReading {
  readonly timeMilliseconds: number
  /** By the name of the metric, summed over its labels. */
  readonly counters: ReadonlyMap<string, number>
}

/** Readings of the counters over the last hour. They are in memory and begin with the process. */
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
  start(): void {
    this.sample()
    this.#timer = setInterval(() => this.sample(), SAMPLE_SECONDS * 1000).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  sample(): void {
    const counters = new Map<string, number>()
    for (const { row, value } of this.#slots.read()) {
      if (row.type === 'counter') counters.set(row.name, (counters.get(row.name) ?? 0) + value)
    }
    this.#readings.push({ timeMilliseconds: this.#clock(), counters })
    if (this.#readings.length > READINGS_MAXIMUM) this.#readings.shift()
  }
}
