import type { Sequence } from '../../../engine/brands.ts'
import type { Disk } from '../../../engine/disk/disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { segmentFirsts } from '../../../engine/journal/segment.ts'
import { openSegment } from '../../../engine/journal/segment-file.ts'
import { MetricSlots, type SharedMetrics } from '../../../planes/metrics/metric-slots.ts'
import type { OpenStore } from '../store/opened-store.ts'

type Counted = Pick<OpenStore, 'journal' | 'loop' | 'strangers'>

/** Publishes the engine thread's values of its journal, for scrapes. */
export class EngineMetrics {
  readonly #region: Float64Array
  readonly #slots: ReturnType<typeof slotsOf>
  readonly #size: JournalSize
  readonly #store: Counted

  /** @param thread its region of the metrics */
  constructor(metrics: SharedMetrics, thread: number, disk: Disk, paths: StorePaths, store: Counted) {
    const slots = new MetricSlots(metrics)
    this.#region = slots.region(thread)
    this.#slots = slotsOf(slots)
    this.#size = new JournalSize(disk, paths, store.journal.place.segmentFirstSequence)
    this.#store = store
  }

  /** Called after every batch and now and then, since records may wait without one. */
  publish(): void {
    const { journal, loop, strangers } = this.#store
    const { records, bytes, syncs, syncSeconds } = journal.statistics
    const region = this.#region
    const slots = this.#slots
    region[slots.records] = records
    region[slots.written] = bytes
    region[slots.syncs] = syncs
    region[slots.syncSeconds] = syncSeconds
    region[slots.counted] = strangers.countedTotal
    region[slots.refused] = loop.refusedTotal
    region[slots.waiting] = loop.waiting
    region[slots.sequence] = journal.position.sequence
    region[slots.bytes] = this.#size.bytes(journal.place)
  }
}

function slotsOf(slots: MetricSlots) {
  return {
    records: slots.slot('object_store_journal_records_total'),
    written: slots.slot('object_store_journal_written_bytes_total'),
    syncs: slots.slot('object_store_journal_syncs_total'),
    syncSeconds: slots.slot('object_store_journal_sync_seconds_total'),
    counted: slots.slot('object_store_audit_counted_requests_total'),
    refused: slots.slot('object_store_journal_refused_changes_total'),
    waiting: slots.slot('object_store_journal_waiting_requests'),
    sequence: slots.slot('object_store_journal_head_sequence'),
    bytes: slots.slot('object_store_journal_bytes'),
  }
}

/** Length of the journal, with compressed segments at their plain length. Each is read once: it does not change. */
class JournalSize {
  readonly #disk: Disk
  readonly #paths: StorePaths
  /** Of the segments before the one being written. */
  #sealedBytes: number
  #written: Sequence

  constructor(disk: Disk, paths: StorePaths, written: Sequence) {
    this.#disk = disk
    this.#paths = paths
    this.#written = written
    const sealed = segmentFirsts(disk, paths).filter((first) => first < written)
    this.#sealedBytes = sealed.reduce((sum, first) => sum + this.#lengthOf(first), 0)
  }

  /** Without the zeros that are written ahead. Called after every batch, in which at most one segment ends. */
  bytes({
    segmentFirstSequence,
    offset,
  }: {
    readonly segmentFirstSequence: Sequence
    readonly offset: number
  }): number {
    if (segmentFirstSequence !== this.#written) {
      this.#sealedBytes += this.#lengthOf(this.#written)
      this.#written = segmentFirstSequence
    }
    return this.#sealedBytes + offset
  }

  #lengthOf(first: Sequence): number {
    const file = openSegment(this.#disk, this.#paths.segment(first))
    try {
      return file.size()
    } finally {
      file.close()
    }
  }
}
