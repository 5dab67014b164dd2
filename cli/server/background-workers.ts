import { nodeDisk } from '../../engine/disk/node-disk.ts'
import type { Config } from '../config/config-types.ts'
import { systemMilliseconds } from '../../engine/clock.ts'
import { VolumeCompaction } from '../../workers/compact-volumes.ts'
import { MultipartDigest } from '../../workers/digest-multipart.ts'
import { LifecycleExpiry } from '../../workers/expire-objects.ts'
import { UploadReclaim } from '../../workers/reclaim-uploads.ts'
import { Supervisor } from '../../workers/supervisor.ts'
import { PayloadFileSweep } from '../../workers/sweep-payload-files.ts'
import type { WebhookDelivery } from '../../workers/webhooks/deliver-webhooks.ts'
import type { Logger } from './logger.ts'
import type { StoreSession } from './store/store-session.ts'

/**
 * Starts the workers. Called when the front ends listen, because nothing may wait for a worker.
 * @param start name of the running start
 */
export function startWorkers(
  log: Logger,
  start: string,
  store: StoreSession,
  config: Config,
  delivery: WebhookDelivery,
): Supervisor {
  const { engine, paths, catalog, payloads } = store
  const supervisor = new Supervisor((worker, error) => {
    log.error({ worker: worker.name, err: error }, 'a background worker failed and will be retried')
  })
  supervisor.start(new PayloadFileSweep(nodeDisk, paths, start, (name) => catalog.snapshot().payloadFileIsUsed(name)))
  supervisor.start(new UploadReclaim(engine, catalog))
  supervisor.start(new VolumeCompaction(nodeDisk, paths, engine, catalog))
  supervisor.start(new MultipartDigest(engine, catalog, payloads))
  supervisor.start(lifecycleWorker(log, store, config))
  supervisor.start(delivery)
  return supervisor
}

function lifecycleWorker(log: Logger, { engine, catalog }: StoreSession, config: Config): LifecycleExpiry {
  return new LifecycleExpiry(engine, catalog, {
    intervalSeconds: config['lifecycle.interval_seconds'],
    batchSize: config['lifecycle.batch_size'],
    clock: systemMilliseconds,
    timer: () => performance.now(),
    onPass({ scanned, expired, held: skipped, failed }, failure) {
      const counts = { worker: 'lifecycle', scanned, expired, skipped, failed }
      if (failure === undefined) log.info(counts, 'a lifecycle pass is complete')
      else log.error({ ...counts, err: failure }, 'a lifecycle pass failed; the next one goes on where it ended')
    },
  })
}
