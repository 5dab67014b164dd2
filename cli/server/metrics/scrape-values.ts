import type { X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import type { Milliseconds } from '../../../engine/brands.ts'
import type { Disk } from '../../../engine/disk/disk.ts'
import type { ReadVerdicts } from '../../../engine/journal/chain-verdicts.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import {
  type Degradation,
  degradationNames,
  type MetricSample,
  type ScrapeValues,
} from '../../../planes/metrics/metric-table.ts'
import { physicalBytes } from '../../../planes/management/storage/physical-bytes.ts'
import type { CatalogReader } from '../../../projections/catalog/catalog-reader.ts'
import type { CheckpointState } from '../../../engine/checkpoints/state.ts'
import type { SigningFacts } from '../../../projections/checkpoints/checkpoint-facts.ts'
import type { SnapshotFacts } from '../../../projections/snapshots/snapshot-facts.ts'
import type { NotedBackup } from '../../backup/backup-note.ts'
import { type WorkerSources, workerValues } from './worker-values.ts'
import { systemMilliseconds } from '../../../engine/clock.ts'
import type { ClockBehind } from '../clock-behind.ts'
import { openFiles, openFilesMaximum } from '../open-files.ts'

/** Sources of a scrape. */
export interface ScrapeSources {
  readonly disk: Disk
  readonly paths: StorePaths
  readonly catalog: CatalogReader
  readonly concurrencyLimit: number
  readonly eventStreams: { readonly open: number }
  /** Of the program. */
  readonly version: string
  /** Undefined when it was built without git. */
  readonly commit: string | undefined
  /** By listener. */
  readonly certificates: () => ReadonlyMap<string, X509Certificate>
  readonly threads: () => readonly WatchedThread[]
  readonly workers: () => WorkerSources
  readonly snapshots: () => SnapshotFacts
  readonly checkpoints: {
    facts(): SigningFacts
    last(): CheckpointState | undefined
    lateSeconds(): number | undefined
  }
  /** The last backup of a journal with this last sequence. */
  readonly backup: (head: number) => NotedBackup | undefined
  /** The setting `storage.reserved_mib`, in bytes. */
  readonly reservedBytes: number
  /** The last verdicts on the chain of a journal with this last sequence. */
  readonly chain: (head: number) => ReadVerdicts
  readonly degradations: () => readonly Degradation[]
  readonly clockBehind: () => ClockBehind
  /** The time of day. */
  readonly clock: () => Milliseconds
}

/** The metrics that are measured at the time of a scrape. */
export function scrapeValues({ disk, paths, catalog, ...sources }: ScrapeSources): ScrapeValues {
  const space = disk.space(paths.root)
  const snapshot = catalog.snapshot()
  const totals = snapshot.totals()
  const uploads = snapshot.uploadUsage()
  const scrub = snapshot.scrub()
  const verdicts = sources.chain(snapshot.journalSequence())
  const backup = sources.backup(snapshot.journalSequence())
  const physical = physicalBytes(disk, paths, snapshot)
  const snapshots = sources.snapshots()
  const made = snapshots.newest?.createdMilliseconds
  const arriving = disk.list(paths.uploads).reduce((sum, name) => sum + disk.sizeOf(join(paths.uploads, name)), 0)
  return {
    ...processValues(sources),
    object_store_tls_certificate_not_after_seconds: [...sources.certificates()].map(([listener, { validTo }]) => ({
      labels: { listener },
      value: Date.parse(validTo) / 1000,
    })),
    object_store_degraded: degradedSamples(sources.degradations()),
    object_store_clock_behind_seconds: sources.clockBehind().milliseconds / 1000,
    object_store_operations_concurrency_limit: sources.concurrencyLimit,
    object_store_filesystem_available_bytes: space.availableBytes,
    object_store_filesystem_reserved_bytes: sources.reservedBytes,
    object_store_filesystem_capacity_bytes: space.capacityBytes,
    object_store_temporary_bytes: arriving + uploads.bytes,
    object_store_multipart_uploads: uploads.uploads,
    object_store_multipart_bytes: uploads.bytes,
    object_store_storage_physical_bytes: physical.physicalBytes,
    object_store_storage_unused_volume_bytes: physical.unusedVolumeBytes,
    object_store_storage_logical_bytes: totals.logicalBytes,
    object_store_scrub_read_bytes: scrub?.progress.bytes ?? 0,
    object_store_scrub_damaged: scrub?.damage.length ?? 0,
    object_store_scrub_completed_seconds: scrub?.completedMicroseconds && scrub.completedMicroseconds / 1_000_000,
    object_store_backup_completed_seconds: backup && backup.atMilliseconds / 1000,
    object_store_backup_sequence: backup?.sequence,
    object_store_buckets: totals.buckets,
    object_store_objects: totals.objects,
    object_store_event_streams: sources.eventStreams.open,
    ...workerValues(sources.workers()),
    ...chainValues(verdicts),
    ...checkpointValues(sources),
    object_store_snapshot_age_seconds: made === undefined ? undefined : Math.max(0, sources.clock() - made) / 1000,
    object_store_snapshot_bytes: snapshots.newest?.bytes,
    object_store_snapshot_sequence: snapshots.newest?.sequence,
    object_store_snapshots_made_total: snapshots.made,
    object_store_snapshot_written_bytes_total: snapshots.writtenBytes,
    object_store_snapshot_failures_total: snapshots.failures,
  }
}

function degradedSamples(found: readonly Degradation[]): readonly MetricSample[] {
  return degradationNames.map((reason) => ({ labels: { reason }, value: found.includes(reason) ? 1 : 0 }))
}

function chainValues({ whole }: ReadVerdicts) {
  return {
    object_store_chain_intact: whole && (whole.problem === undefined ? 1 : 0),
    object_store_chain_verified_seconds: whole && whole.atMilliseconds / 1000,
    object_store_chain_verified_sequence: whole?.through,
  }
}

function checkpointValues({ checkpoints, clock }: Pick<ScrapeSources, 'checkpoints' | 'clock'>) {
  const { treeSize, mendedHashes, refusal } = checkpoints.facts()
  const last = checkpoints.last()
  return {
    object_store_checkpoint_size: last?.size,
    object_store_checkpoint_late_seconds: checkpoints.lateSeconds(),
    object_store_checkpoint_age_seconds: last && Math.max(0, clock() - last.timeMicroseconds / 1000) / 1000,
    object_store_checkpoint_tree_size: treeSize,
    object_store_checkpoint_mended_hashes_total: mendedHashes,
    object_store_checkpoint_refused: refusal === undefined ? 0 : 1,
  }
}

/** A thread that tells how long its event loop has been at work since its start, in milliseconds. */
interface WatchedThread {
  /** Value of the label `thread`. */
  readonly name: string
  activeMilliseconds(): number
}

type ProcessValues = Pick<
  ScrapeValues,
  | 'object_store_build_info'
  | 'nodejs_eventloop_active_seconds_total'
  | 'process_cpu_seconds_total'
  | 'process_resident_memory_bytes'
  | 'process_open_fds'
  | 'process_max_fds'
  | 'process_start_time_seconds'
>

type ProcessSources = Pick<ScrapeSources, 'version' | 'commit' | 'threads'>

const STARTED_SECONDS = systemMilliseconds() / 1000 - process.uptime()

/** The system's values for this process and its threads, under the usual names of Prometheus. */
function processValues({ version, commit = 'unknown', threads }: ProcessSources): ProcessValues {
  const { user, system } = process.cpuUsage()
  const filesMaximum = openFilesMaximum()
  return {
    object_store_build_info: [{ labels: { version, commit, node: process.version }, value: 1 }],
    nodejs_eventloop_active_seconds_total: threads().map(activeOf),
    process_cpu_seconds_total: (user + system) / 1_000_000,
    process_resident_memory_bytes: process.memoryUsage.rss(),
    process_open_fds: openFiles(),
    process_max_fds: Number.isFinite(filesMaximum) ? filesMaximum : undefined,
    process_start_time_seconds: STARTED_SECONDS,
  }
}

function activeOf(thread: WatchedThread): MetricSample {
  return { labels: { thread: thread.name }, value: thread.activeMilliseconds() / 1000 }
}
