import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { lifecycleWorker } from '../lifecycle/start.ts'
import { scrubWorker } from '../scrub/start.ts'
import type { Config } from '../config/config-types.ts'
import { systemMilliseconds } from '../../engine/clock.ts'
import type { RowDamagedError } from '../../engine/errors.ts'
import type { CatalogReader } from '../../projections/catalog/catalog-reader.ts'
import { COUNTED_ROWS_MAXIMUM, RowWalk } from '../../projections/row-walk.ts'
import { type DamagedSnapshot, SnapshotWalk } from '../../projections/snapshots/snapshot-walk.ts'
import { getApplied } from '../../projections/tables/applied.ts'
import { openTables } from '../../projections/tables/table-list.ts'
import { targetOfRow } from '../../projections/row-target.ts'
import { IndexCheck } from '../../projections/record-index/check-index.ts'
import { runIndex } from '../../projections/record-index/index-run.ts'
import { RecordIndexing } from '../../workers/index-records.ts'
import { RowCheck } from '../../workers/check-rows.ts'
import { SNAPSHOT_PIECE_BYTES, SnapshotCheck } from '../../workers/check-snapshots.ts'
import { VolumeCompaction } from '../../workers/compact-volumes.ts'
import { SegmentCompression } from '../../workers/compress-segments.ts'
import { MultipartDigest } from '../../workers/digest-multipart.ts'
import type { LifecycleExpiry } from '../../workers/lifecycle/expire-objects.ts'
import { UploadReclaim } from '../../workers/reclaim-uploads.ts'
import { Supervisor } from '../../workers/supervisor.ts'
import type { StoreScrub } from '../../workers/scrub/scrub-store.ts'
import { PayloadFileSweep } from '../../workers/sweep-payload-files.ts'
import type { SnapshotMaker } from '../../workers/make-snapshots.ts'
import type { WebhookDelivery } from '../../workers/webhooks/deliver-webhooks.ts'
import type { CheckpointTimeStamps } from '../../workers/checkpoints/time-stamp-checkpoints.ts'
import type { CheckpointWitnesses } from '../../workers/checkpoints/witness-checkpoints.ts'
import type { CheckpointWorkers } from '../checkpoints/start.ts'
import type { Logger } from './log/logger.ts'
import type { StoreSession } from './store/store-session.ts'

const timer = () => performance.now()

/** The running workers, and their results. */
export interface RunningWorkers {
  readonly lifecycle: Pick<LifecycleExpiry, 'totals' | 'lastPass'>
  readonly compaction: Pick<VolumeCompaction, 'removed' | 'movedBytes'>
  readonly compression: Pick<SegmentCompression, 'totals'>
  readonly scrub: Pick<StoreScrub, 'dueSeconds'>
  readonly timeStamps: Pick<CheckpointTimeStamps, 'facts'>
  readonly witnesses: Pick<CheckpointWitnesses, 'facts'> | undefined
  stop(): Promise<void>
}

interface WorkerParts {
  readonly log: Logger
  readonly config: Config
  readonly store: StoreSession
  readonly delivery: WebhookDelivery
  readonly snapshots: SnapshotMaker
  readonly checkpoints: CheckpointWorkers
}

/**
 * Starts the workers. Called when the front ends listen, because nothing may wait for a worker.
 * @param start name of the running start
 */
export function startWorkers(
  start: string,
  { log, config, store, delivery, snapshots, checkpoints }: WorkerParts,
): RunningWorkers {
  const { engine, environment, paths, catalog, payloads } = store
  const supervisor = new Supervisor((worker, error) => {
    log.error({ worker: worker.name, err: error }, 'a background worker failed and will be retried')
  })
  supervisor.start(new PayloadFileSweep(nodeDisk, paths, start, (name) => catalog.snapshot().payloadFileIsUsed(name)))
  const abandoned = { afterDays: config['storage.reclaim_uploads_after_days'], clock: systemMilliseconds }
  supervisor.start(new UploadReclaim(engine, catalog, { ...abandoned, uploadIds: store.uploadIds }))
  const compaction = new VolumeCompaction(nodeDisk, paths, engine, catalog)
  supervisor.start(compaction)
  supervisor.start(new MultipartDigest(engine, catalog, payloads))
  supervisor.start(
    new RowCheck(new RowWalk(environment, COUNTED_ROWS_MAXIMUM), { timer, onDamage: damagedRow(log, catalog) }),
  )
  const walk = new SnapshotWalk(nodeDisk, paths, SNAPSHOT_PIECE_BYTES)
  supervisor.start(new SnapshotCheck(walk, { timer, onDamage: damagedSnapshot(log, snapshots) }))
  const lifecycle = lifecycleWorker(log, store, config)
  supervisor.start(lifecycle)
  const scrub = scrubWorker(log, store, config, () => checkpoints.signing.compare())
  supervisor.start(scrub)
  const compression = compressionWorker(store, start, config)
  supervisor.start(compression)
  supervisor.start(indexWorker(log, store, config))
  supervisor.start(delivery)
  supervisor.start(snapshots)
  const { signing, publication, timeStamps, lock, witnesses } = checkpoints
  for (const worker of [signing, publication, timeStamps, lock, witnesses]) {
    if (worker !== undefined) supervisor.start(worker)
  }
  return { lifecycle, compaction, compression, scrub, timeStamps, witnesses, stop: () => supervisor.stop() }
}

function damagedRow(log: Logger, catalog: CatalogReader) {
  return ({ table, key }: RowDamagedError) =>
    log.error(
      { worker: 'check-rows', table, key, object: namedTarget(catalog, table, key) },
      'a row of the projections is damaged; the next start derives them again',
    )
}

function damagedSnapshot(log: Logger, snapshots: SnapshotMaker) {
  return ({ name, reason }: DamagedSnapshot) => {
    log.warn(
      { snapshot: name, reason },
      'a snapshot of the projections was damaged and is removed; another one is made',
    )
    snapshots.replace(name)
  }
}

/** The object that a row is of, as far as that is known: the row of its bucket may be damaged, too. */
function namedTarget(catalog: CatalogReader, table: string, row: string) {
  const target = targetOfRow(table, row)
  if (target === undefined) return undefined
  const { bucketId, key } = target
  try {
    return { bucket: catalog.snapshot().bucketName(bucketId), bucketId, key }
  } catch {
    return { bucketId, key }
  }
}

function indexWorker(log: Logger, { paths, space, environment }: StoreSession, config: Config): RecordIndexing {
  const { applied } = openTables(environment)
  const bytesPerSecond = config['audit.index_mib_per_second'] * 1024 ** 2
  return new RecordIndexing(nodeDisk, paths, space, new IndexCheck(nodeDisk, paths), {
    enabled: config['audit.index'],
    reservedBytes: config['storage.reserved_mib'] * 1024 ** 2,
    lastDurable() {
      environment.refresh()
      return getApplied(applied)?.position?.sequence
    },
    run: (task) => runIndex(paths.root, task, bytesPerSecond),
    timer,
    onDamage: damagedIndex(log),
    onFailure: (error) => log.error({ err: error }, 'the record index of a segment could not be made'),
  })
}

/** What is done about a damaged file of the record index, whatever met it: questions then read the records themselves. */
export function damagedIndex(log: Logger) {
  return (path: string, reason: string): void => {
    log.warn({ file: path, reason }, 'a file of the record index was damaged and is removed; it is made again')
    nodeDisk.remove(path)
  }
}

function compressionWorker({ paths }: StoreSession, start: string, config: Config): SegmentCompression {
  return new SegmentCompression(nodeDisk, paths, {
    enabled: config['storage.compress_segments'],
    afterHours: config['storage.compress_after_hours'],
    bytesPerSecond: config['storage.compress_mib_per_second'] * 1024 ** 2,
    start,
    clock: systemMilliseconds,
    timer,
  })
}
