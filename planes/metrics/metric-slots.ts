import { type ShareName, shareNames } from '../../engine/shares/share-table.ts'
import { HISTOGRAM_SLOTS, Histogram, histogramSamples } from './metric-histogram.ts'
import {
  ACCESS_DENIED_METRIC,
  ACCESS_METRIC,
  CONNECTIONS_REFUSED_METRIC,
  connectionRefusals,
  DAMAGE_METRIC,
  type DamageFinder,
  damageFinders,
  DURATION_METRIC,
  type LinkAccess,
  linkAccesses,
  type ListenerName,
  listenerNames,
  type LinkRefusal,
  linkRefusals,
  type MetricRow,
  type MetricSample,
  metricTable,
  type Plane,
  type RefusedConnection,
  REQUESTS_METRIC,
  type RequestClass,
  type RequestResult,
  requestClasses,
  requestResults,
  SHARED_METRICS,
  type SharedMetricName,
  SYNC_DURATION_METRIC,
  type ThreadMetricName,
} from './metric-table.ts'

/**
 * Counting without locks or messages: a SharedArrayBuffer holds one region for each thread, a region holds one
 * 64-bit float (a slot) for each series, or one for each bucket of a histogram, and only its own thread writes a region. A
 * reader adds up the regions; it may see a number that is a moment old, never half of one.
 *
 * Floats count exactly up to 2^53. A byte counter gets there after 97 days at 1 GiB/s; from then on an addition is
 * rounded by a byte or two, which no rate shows.
 */

/** Regions are aligned to two cache lines, to avoid false sharing between threads. */
const REGION_ALIGNMENT_SLOTS = 16

/** Shares the metrics with another thread, through `workerData` and postMessage. */
export interface SharedMetrics {
  readonly buffer: SharedArrayBuffer
  /** Values of the label `operation`. */
  readonly operations: readonly string[]
  readonly expected: ExpectedResults
  readonly threads: number
}

/**
 * By operation, the results whose series exist from the start at zero, as rates need; by default all results. Other
 * series appear when they are first counted.
 */
type ExpectedResults = Readonly<Record<string, readonly RequestResult[]>>

/** One sample of a metric. The values are sums over all threads. */
interface MetricSeries extends MetricSample {
  readonly row: MetricRow
}

type Labels = Readonly<Record<string, string>>

/** Counts of a histogram's buckets: one for each bound, and one above the last. Sums over all threads. */
export interface HistogramCounts {
  readonly row: MetricRow
  readonly labels: Labels
  readonly buckets: readonly number[]
  readonly sumSeconds: number
}

/** The series with their first slots. */
interface SlotLayout {
  readonly series: readonly {
    readonly row: MetricRow
    readonly labels: Labels
    readonly slot: number
    /** Whether the series is hidden while it is zero. */
    readonly isUnexpected: boolean
  }[]
  readonly slotByKey: ReadonlyMap<string, number>
  readonly slots: number
}

/** The labels of each series, for the metrics that have any. */
function labelsOf(name: string, operations: readonly string[]): readonly Labels[] {
  if (name === REQUESTS_METRIC) {
    return operations.flatMap((operation) => requestResults.map((result) => ({ operation, result })))
  }
  if (name === DAMAGE_METRIC) return damageFinders.map((one) => ({ found_by: one }))
  if (name === ACCESS_METRIC) return linkAccesses.map((access) => ({ access }))
  if (name === CONNECTIONS_REFUSED_METRIC) {
    return listenerNames.flatMap((listener) => connectionRefusals.map((reason) => ({ listener, reason })))
  }
  if (name === ACCESS_DENIED_METRIC) return linkRefusals.map((operation) => ({ operation }))
  if (SHARED_METRICS.some((one) => one === name)) return shareNames.map((resource) => ({ resource }))
  if (name !== DURATION_METRIC) return [{}]
  return Object.entries(requestClasses).flatMap(([plane, classes]) => classes.map((one) => ({ plane, class: one })))
}

function seriesKey(name: string, labels: Labels = {}): string {
  return [name, ...Object.values(labels)].join(' ')
}

function isExpected({ operation, result }: Labels, expected: ExpectedResults): boolean {
  const results: readonly (string | undefined)[] | undefined = operation === undefined ? undefined : expected[operation]
  return results === undefined || results.includes(result)
}

function createLayout(operations: readonly string[], expected: ExpectedResults): SlotLayout {
  const series: SlotLayout['series'][number][] = []
  const slotByKey = new Map<string, number>()
  let slots = 0
  for (const row of metricTable) {
    if (row.origin !== 'threads') continue
    for (const labels of labelsOf(row.name, operations)) {
      slotByKey.set(seriesKey(row.name, labels), slots)
      const isUnexpected = row.name === REQUESTS_METRIC && !isExpected(labels, expected)
      series.push({ row, labels, slot: slots, isUnexpected })
      slots += row.type === 'histogram' ? HISTOGRAM_SLOTS : 1
    }
  }
  return { series, slotByKey, slots }
}

function regionSlots(layout: SlotLayout): number {
  return Math.ceil(layout.slots / REGION_ALIGNMENT_SLOTS) * REGION_ALIGNMENT_SLOTS
}

function sumOf(regions: readonly Float64Array[], slot: number): number {
  return regions.reduce((total, region) => total + (region[slot] ?? 0), 0)
}

/** The slots of all threads. */
export class MetricSlots {
  readonly shared: SharedMetrics
  readonly #layout: SlotLayout
  readonly #regionSlots: number

  /** Attaches to metrics created by another thread. */
  constructor(shared: SharedMetrics) {
    this.shared = shared
    this.#layout = createLayout(shared.operations, shared.expected)
    this.#regionSlots = regionSlots(this.#layout)
    const bytes = this.#regionSlots * shared.threads * Float64Array.BYTES_PER_ELEMENT
    if (shared.buffer.byteLength !== bytes) throw new RangeError('the shared metrics were made with another layout')
  }

  /**
   * Creates the slots, all zero.
   * @param operations values of the label `operation`, each once
   * @param threads number of threads that count
   * @param expected results of operations that cannot have all results
   */
  static create(operations: readonly string[], threads: number, expected: ExpectedResults = {}): MetricSlots {
    const bytes = regionSlots(createLayout(operations, expected)) * threads * Float64Array.BYTES_PER_ELEMENT
    return new MetricSlots({ buffer: new SharedArrayBuffer(bytes), operations: [...operations], expected, threads })
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
    return new Float64Array(this.shared.buffer, offset, this.#layout.slots)
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
    return this.#slot(seriesKey(REQUESTS_METRIC, { operation, result }))
  }

  /** Slot of `object_store_damage_found_total`. */
  damageSlot(finder: DamageFinder): number {
    return this.#slot(seriesKey(DAMAGE_METRIC, { found_by: finder }))
  }

  /** Slot of `object_store_share_access_total`. */
  accessSlot(access: LinkAccess): number {
    return this.#slot(seriesKey(ACCESS_METRIC, { access }))
  }

  /** Slot of `object_store_share_access_denied_total`. */
  accessDeniedSlot(operation: LinkRefusal): number {
    return this.#slot(seriesKey(ACCESS_DENIED_METRIC, { operation }))
  }

  /** Slot of `object_store_connections_refused_total`. */
  connectionSlot(listener: ListenerName, reason: RefusedConnection): number {
    return this.#slot(seriesKey(CONNECTIONS_REFUSED_METRIC, { listener, reason }))
  }

  /** Slot of a metric of a shared resource. */
  sharedSlot(name: SharedMetricName, resource: ShareName): number {
    return this.#slot(seriesKey(name, { resource }))
  }

  /** Histogram of one thread for the duration of requests of a class. */
  requestDuration<P extends Plane>(thread: number, plane: P, requestClass: RequestClass<P>): Histogram {
    const key = seriesKey(DURATION_METRIC, { plane, class: requestClass })
    return new Histogram(this.region(thread), this.#slot(key))
  }

  /** Histogram of one thread for the duration of journal syncs. */
  syncDuration(thread: number): Histogram {
    return new Histogram(this.region(thread), this.#slot(seriesKey(SYNC_DURATION_METRIC)))
  }

  /** Sum of a slot over all threads. */
  total(slot: number): number {
    return sumOf(this.#regions(), slot)
  }

  /** Every sample with its sum over all threads, except unexpected series that are zero. */
  read(): readonly MetricSeries[] {
    const regions = this.#regions()
    const sum = (slot: number) => sumOf(regions, slot)
    return this.#layout.series.flatMap(({ row, labels, slot, isUnexpected }): readonly MetricSeries[] => {
      if (row.type === 'histogram') return histogramSamples(labels, slot, sum).map((sample) => ({ row, ...sample }))
      const value = sum(slot)
      return isUnexpected && value === 0 ? [] : [{ row, labels, value }]
    })
  }

  /** Every histogram that is not empty. */
  histograms(): readonly HistogramCounts[] {
    const regions = this.#regions()
    return this.#layout.series.flatMap(({ row, labels, slot }): readonly HistogramCounts[] => {
      if (row.type !== 'histogram') return []
      const slots = Array.from({ length: HISTOGRAM_SLOTS }, (_, index) => sumOf(regions, slot + index))
      const sumSeconds = slots.pop() ?? 0
      return slots.some((count) => count > 0) ? [{ row, labels, buckets: slots, sumSeconds }] : []
    })
  }

  #regions(): readonly Float64Array[] {
    return Array.from({ length: this.shared.threads }, (_, thread) => this.region(thread))
  }

  #slot(key: string): number {
    const slot = this.#layout.slotByKey.get(key)
    if (slot === undefined) throw new RangeError(`there is no metric series "${key}"`)
    return slot
  }
}
