import { systemMilliseconds } from '../../engine/clock.ts'
import { LifecycleExpiry } from '../../workers/lifecycle/expire-objects.ts'
import type { Config } from '../config/config-types.ts'
import type { Logger } from '../server/log/logger.ts'
import type { StoreSession } from '../server/store/store-session.ts'

export function lifecycleWorker(log: Logger, { engine, catalog }: StoreSession, config: Config): LifecycleExpiry {
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
