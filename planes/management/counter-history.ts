import type { MetricSlots } from '../http/metric-slots.ts'

/** Rest between two readings. */
export const SAMPLE_SECONDS = 15
/** Readings of one hour; the one that begins it and the one that ends it are both kept. */
const READINGS_MAXIMUM = 3600 / SAMPLE_SECONDS + 1

/** What the counters stood at. */
export interface CounterReading {
  readonly timeMilliseconds: number
  /** By the name of the metric, summed over its labels. */
  readonly counters: ReadonlyMap<string, number>
}

/** Readings of the counters over the last hour, in memory: they begin when the process does. */
export class CounterHistory {
  readonly #slots: MetricSlots
  readonly #clock: () => number
  readonly #readings: CounterReading[] = []
  #timer: NodeJS.Timeout | undefined

  /** `clock`: milliseconds since 1970. */
  constructor(slots: MetricSlots, clock: () => number) {
    this.#slots = slots
    this.#clock = clock
  }

  /** Oldest first. */
  get readings(): readonly CounterReading[] {
    return this.#readings
  }

  /** Takes a reading now and every `SAMPLE_SECONDS`; does not keep the process alive. */
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
