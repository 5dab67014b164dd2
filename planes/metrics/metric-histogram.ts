import { HISTOGRAM_BOUNDS, type MetricSample } from './metric-table.ts'

/** Slots of one histogram: one for each bucket, one above the last bound, and one for the sum. */
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

type Labels = Readonly<Record<string, string>>

/** Labels of the buckets by the histogram's labels. Cached, because the library caches the text of label objects. */
const bucketLabels = new WeakMap<Labels, readonly Labels[]>()

function labelsOfBuckets(labels: Labels): readonly Labels[] {
  let known = bucketLabels.get(labels)
  if (known === undefined) {
    known = [...HISTOGRAM_BOUNDS.map(String), '+Inf'].map((le) => ({ ...labels, le }))
    bucketLabels.set(labels, known)
  }
  return known
}

/**
 * The samples of a histogram. The count is the sum of the buckets, so that both agree while threads count.
 * @param sum returns a slot's sum over all threads
 */
export function histogramSamples(
  labels: Labels,
  first: number,
  sum: (slot: number) => number,
): readonly MetricSample[] {
  let count = 0
  const buckets = labelsOfBuckets(labels).map((one, index): MetricSample => {
    count += sum(first + index)
    return { suffix: '_bucket', labels: one, value: count }
  })
  const total = { suffix: '_sum', labels, value: sum(first + HISTOGRAM_SLOTS - 1) } as const
  return [...buckets, total, { suffix: '_count', labels, value: count }]
}
