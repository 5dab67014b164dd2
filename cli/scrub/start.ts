import { systemMilliseconds } from '../../engine/clock.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { storeCreation } from '../../engine/journal/segment-chain.ts'
import { PayloadScrub } from '../../workers/scrub/payload-scrub.ts'
import { StoreScrub } from '../../workers/scrub/scrub-store.ts'
import { SegmentScrub } from '../../workers/scrub/segment-scrub.ts'
import type { Config } from '../config/config-types.ts'
import type { Logger } from '../server/log/logger.ts'
import type { StoreSession } from '../server/store/store-session.ts'

/** @param compareTrees called after each pass: the trees of checkpoints are compared with the journal */
export function scrubWorker(
  log: Logger,
  { engine, catalog, payloads, paths }: StoreSession,
  config: Config,
  compareTrees: () => void,
): StoreScrub {
  const scrubbed = {
    payloads: new PayloadScrub(catalog, payloads),
    segments: new SegmentScrub(nodeDisk, paths),
  }
  return new StoreScrub(engine, catalog, scrubbed, {
    intervalDays: config['scrub.interval_days'],
    bytesPerSecond: config['scrub.mib_per_second'] * 2 ** 20,
    createdMilliseconds: storeCreation(nodeDisk, paths),
    clock: systemMilliseconds,
    timer: () => performance.now(),
    onDamage({ kind, number, reason, objects }) {
      const snapshot = catalog.snapshot()
      const named = objects.map(({ bucketId, key }) => `${snapshot.bucketName(bucketId) ?? bucketId}/${key}`)
      log.error({ worker: 'scrub', kind, number, reason, objects: named }, 'a scrub found damage')
    },
    onEnd({ payloads: read, segments, bytes, damaged }) {
      log.info({ worker: 'scrub', payloads: read, segments, bytes, damaged }, 'a scrub is complete')
      compareTrees()
    },
  })
}
