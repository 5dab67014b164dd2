import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { lifecycleWorker } from '../lifecycle/start.ts'
import { scrubWorker } from '../scrub/start.ts'
import type { Config } from '../config/config-types.ts'
import { systemMilliseconds } from '../../engine/clock.ts'
import type { RowDamagedError } from '../../engine/errors.ts'
import { RowWalk } from '../../projections/row-walk.ts'
import { RowCheck } from '../../workers/check-rows.ts'
import { VolumeCompaction } from '../../workers/compact-volumes.ts'
import { SegmentCompression } from '../../workers/compress-segments.ts'
import { MultipartDigest } from '../../workers/digest-multipart.ts'
import type { LifecycleExpiry } from '../../workers/lifecycle/expire-objects.ts'
import { UploadReclaim } from '../../workers/reclaim-uploads.ts'
import { Supervisor } from '../../workers/supervisor.ts'
import { PayloadFileSweep } from '../../workers/sweep-payload-files.ts'
import type { SnapshotMaker } from '../../workers/make-snapshots.ts'
import type { WebhookDelivery } from '../../workers/webhooks/deliver-webhooks.ts'
import type { CheckpointTimeStamps } from '../../workers/checkpoints/time-stamp-checkpoints.ts'
import type { CheckpointWitnesses } from '../../workers/checkpoints/witness-checkpoints.ts'
import type { CheckpointWorkers } from '../checkpoints/start.ts'
import type { Logger } from './log/logger.ts'
import type { StoreSession } from './store/store-session.ts'

/** The running workers, and their results. */
export interface RunningWorkers {
  readonly lifecycle: Pick<LifecycleExpiry, 'totals' | 'lastPass'>
  readonly compaction: Pick<VolumeCompaction, 'removed' | 'movedBytes'>
  readonly compression: Pick<SegmentCompression, 'totals'>
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
    new RowCheck(new RowWalk(environment), { timer: () => performance.now(), onDamage: damagedRow(log) }),
  )
  const lifecycle = lifecycleWorker(log, store, config)
  supervisor.start(lifecycle)
  supervisor.start(scrubWorker(log, store, config))
  const compression = compressionWorker(store, start, config)
  supervisor.start(compression)
  supervisor.start(delivery)
  supervisor.start(snapshots)
  const { signing, publication, timeStamps, lock, witnesses } = checkpoints
  for (const worker of [signing, publication, timeStamps, lock, witnesses]) {
    if (worker !== undefined) supervisor.start(worker)
  }
  return { lifecycle, compaction, compression, timeStamps, witnesses, stop: () => supervisor.stop() }
}

function damagedRow(log: Logger) {
  return ({ table, key }: RowDamagedError) =>
    log.error(
      { worker: 'check-rows', table, key },
      'a row of the projections is damaged; the next start derives them again',
    )
}

function compressionWorker({ paths }: StoreSession, start: string, config: Config): SegmentCompression {
  return new SegmentCompression(nodeDisk, paths, {
    enabled: config['storage.compress_segments'],
    afterHours: config['storage.compress_after_hours'],
    bytesPerSecond: config['storage.compress_mib_per_second'] * 1024 ** 2,
    start,
    clock: systemMilliseconds,
    timer: () => performance.now(),
  })
}
