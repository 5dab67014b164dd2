import { systemMilliseconds } from '../../engine/clock.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import type { RefusedSnapshot } from '../../projections/snapshots/restore-snapshot.ts'
import { runSnapshot } from '../../projections/snapshots/snapshot-run.ts'
import { SnapshotMaker } from '../../workers/make-snapshots.ts'
import type { Config } from '../config/config-types.ts'
import type { Logger } from './log/logger.ts'
import type { SessionSettings, StoreSession } from './store/store-session.ts'

const MINUTE_MILLISECONDS = 60_000
const MEBIBYTE = 1024 ** 2

/** The worker that makes snapshots of the projections, as configured. */
export function snapshotMaker(
  log: Logger,
  config: Config,
  { paths, space }: Pick<StoreSession, 'paths' | 'space'>,
  { deploymentId, keys, reservedBytes }: Pick<SessionSettings, 'deploymentId' | 'keys' | 'reservedBytes'>,
  refusedAtStart: readonly RefusedSnapshot[],
): SnapshotMaker {
  const { accessChanges, accessRows, earlier } = keys
  const bytesPerSecond = config['snapshots.mib_per_second'] * MEBIBYTE
  return new SnapshotMaker(nodeDisk, paths, space, {
    enabled: config['snapshots.enabled'],
    records: config['snapshots.records'],
    intervalMilliseconds: config['snapshots.interval_minutes'] * MINUTE_MILLISECONDS,
    kept: config['snapshots.kept'],
    reservedBytes,
    refused: refusedAtStart.map(({ name }) => name),
    request: { deploymentId, keys: { accessChanges, accessRows, earlier } },
    run: (request) => runSnapshot(paths.root, request, bytesPerSecond),
    clock: systemMilliseconds,
    timer: () => performance.now(),
    onMade({ sequence, bytes, isWhole, records, refused }, seconds) {
      for (const { name, reason } of refused) {
        log.warn({ snapshot: name, reason }, 'a snapshot of the projections could not be used and was removed')
      }
      log.info({ sequence, bytes, isWhole, records, seconds }, 'a snapshot of the projections is complete')
    },
    onFailure: (error) => log.error({ err: error }, 'no snapshot of the projections could be made; it is tried again'),
  })
}
