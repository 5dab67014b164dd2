import { HISTOGRAM_BOUNDS, type MetricSample } from './metric-table.ts'

/** Slots of one histogram: one for each bucket, one for what is above the last bound, and one for the sum. */
export const HISTOGRAM_SLOTS = HISTOGRAM_BOUNDS.length + 2

/** A histogram in the region of one thread. */
export class Histogram {
  readonly #region: Float64Array
  readonly #first: number

  constructor(region: Float64Array, first: number) {
    this.#region = region
    this.#first = first
  }

  /** Two additions to memory of this thread alone. The bounds ascend, and most values are below the first few. */
  observe(seconds: number): void {
    let bucket = 0
    while (seconds > (HISTOGRAM_BOUNDS[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1
    this.#add(this.#first + bucket, 1)
    this.#add(this.#first + HISTOGRAM_SLOTS - 1, seconds)
  }

  #add(slot: number, value: number): void {
    this.#region[slot] = (this.#region[slot] ?? 0) + value
  }
}

/**
 * The samples of a histogram. The count is the sum of the buckets, so that both agree while others count.
 * @param sum of a slot over all threads
 */
export function histogramSamples(
  labels: Readonly<Record<string, string>>,
  first: number,
  sum: (slot: number) => number,
): readonly MetricSample[] {
  let count = 0
  const buckets = [...HISTOGRAM_BOUNDS, Number.POSITIVE_INFINITY].map((bound, index): MetricSample => {
    count += sum(first + index)
    const le = bound === Number.POSITIVE_INFINITY ? '+Inf' : String(bound)
    return { suffix: '_bucket', labels: { ...labels, le }, value: count }
  })
  const total = { suffix: '_sum', labels, value: sum(first + HISTOGRAM_SLOTS - 1) } as const
  return [...buckets, total, { suffix: '_count', labels, value: count }]
}
