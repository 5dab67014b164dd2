import {
  type MetricRow,
  metricTable,
  REQUESTS_METRIC,
  type RequestResult,
  requestResults,
  type ThreadMetricName,
} from './metric-table.ts'

/**
 * Counting without locks or messages: a SharedArrayBuffer holds one region for each thread, a region holds one
 * 64-bit float (a slot) for each series, and only its own thread writes a region. A reader adds up the regions; it
 * may see a number that is a moment old, never half of one.
 *
 * Floats count exactly up to 2^53. A byte counter gets there after 97 days at 1 GiB/s; from then on an addition is
 * rounded by a byte or two, which no rate shows.
 */

/** Regions begin on borders of two cache lines, so that threads do not slow each other down by counting. */
const REGION_ALIGNMENT_SLOTS = 16

/** What another thread needs to count as well; goes through `workerData` and postMessage. */
export interface SharedMetrics {
  readonly buffer: SharedArrayBuffer
  /** Values of the label `operation`. */
  readonly operations: readonly string[]
  readonly threads: number
}

/** One series of a metric. */
interface MetricSeries {
  readonly row: MetricRow
  readonly labels: Readonly<Record<string, string>>
  /** Sum over all threads. */
  readonly value: number
}

/** The series in the order of their slots. */
interface SlotLayout {
  readonly series: readonly Omit<MetricSeries, 'value'>[]
  readonly slotByKey: ReadonlyMap<string, number>
}

function seriesKey(name: string, operation = '', result = ''): string {
  return `${name} ${operation} ${result}`
}

function createLayout(operations: readonly string[]): SlotLayout {
  const series: Omit<MetricSeries, 'value'>[] = []
  const slotByKey = new Map<string, number>()
  const add = (row: MetricRow, operation?: string, result?: string): void => {
    slotByKey.set(seriesKey(row.name, operation, result), series.length)
    const labels = operation === undefined || result === undefined ? {} : { operation, result }
    series.push({ row, labels })
  }
  for (const row of metricTable) {
    if (row.origin !== 'threads') continue
    if (row.labels.length === 0) add(row)
    else for (const operation of operations) for (const result of requestResults) add(row, operation, result)
  }
  return { series, slotByKey }
}

function regionSlots(layout: SlotLayout): number {
  return Math.ceil(layout.series.length / REGION_ALIGNMENT_SLOTS) * REGION_ALIGNMENT_SLOTS
}

/** The slots of all threads. */
export class MetricSlots {
  readonly shared: SharedMetrics
  readonly #layout: SlotLayout
  readonly #regionSlots: number

  /** Attaches to metrics that another thread made. */
  constructor(shared: SharedMetrics) {
    this.shared = shared
    this.#layout = createLayout(shared.operations)
    this.#regionSlots = regionSlots(this.#layout)
    const bytes = this.#regionSlots * shared.threads * Float64Array.BYTES_PER_ELEMENT
    if (shared.buffer.byteLength !== bytes) throw new RangeError('the shared metrics were made with another layout')
  }

  /**
   * Makes the slots, all zero.
   * @param operations values of the label `operation`, each once
   * @param threads how many threads will count
   */
  static create(operations: readonly string[], threads: number): MetricSlots {
    const bytes = regionSlots(createLayout(operations)) * threads * Float64Array.BYTES_PER_ELEMENT
    return new MetricSlots({ buffer: new SharedArrayBuffer(bytes), operations: [...operations], threads })
  }

  /**
   * The region of one thread: `region[slot] += 1` counts. No two threads may write the same region.
   * @param thread 0 to `threads` - 1
   * @throws RangeError for a thread there is no region for
   */
  region(thread: number): Float64Array {
    if (!Number.isInteger(thread) || thread < 0 || thread >= this.shared.threads) {
      throw new RangeError(`there are metric regions for ${this.shared.threads} threads, none for number ${thread}`)
    }
    const offset = thread * this.#regionSlots * Float64Array.BYTES_PER_ELEMENT
    return new Float64Array(this.shared.buffer, offset, this.#layout.series.length)
  }

  /** Slot of a metric without labels. Look it up once, not for every request. */
  slot(name: ThreadMetricName): number {
    return this.#slot(seriesKey(name))
  }

  /**
   * Slot of `object_store_requests_total`. Look it up once for each operation, not for every request.
   * @throws RangeError for an operation that was not named when the slots were made
   */
  requestSlot(operation: string, result: RequestResult): number {
    return this.#slot(seriesKey(REQUESTS_METRIC, operation, result))
  }

  /** Every series with its sum over all threads. */
  read(): readonly MetricSeries[] {
    const regions = Array.from({ length: this.shared.threads }, (_, thread) => this.region(thread))
    return this.#layout.series.map((series, slot) => ({
      ...series,
      value: regions.reduce((sum, region) => sum + (region[slot] ?? 0), 0),
    }))
  }

  #slot(key: string): number {
    const slot = this.#layout.slotByKey.get(key)
    if (slot === undefined) throw new RangeError(`there is no metric series "${key.trim()}"`)
    return slot
  }
}
