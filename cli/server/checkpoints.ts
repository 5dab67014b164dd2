import { systemMilliseconds } from '../../engine/clock.ts'
import { SigningKey } from '../../engine/keys/signing-key.ts'
import { TreeThread } from '../../projections/trees/tree-thread-handle.ts'
import { CheckpointSigning } from '../../workers/checkpoints/sign-checkpoints.ts'
import { CheckpointTimeStamps } from '../../workers/checkpoints/time-stamp-checkpoints.ts'
import type { Config } from '../config/config-types.ts'
import type { Logger } from './logger.ts'
import type { SessionSettings, StoreSession } from './store/store-session.ts'

/** The worker that signs checkpoints, as configured. */
export function checkpointSigning(
  log: Logger,
  config: Config,
  { engine, paths, checkpoints }: Pick<StoreSession, 'engine' | 'paths' | 'checkpoints'>,
  { deploymentId, keys }: Pick<SessionSettings, 'deploymentId' | 'keys'>,
): CheckpointSigning {
  return new CheckpointSigning(engine, checkpoints, new TreeThread(paths.root), {
    intervalSeconds: config['checkpoints.interval_seconds'],
    heartbeatSeconds: config['checkpoints.heartbeat_seconds'],
    origin: { name: config['checkpoints.origin'], deploymentId },
    key: new SigningKey(keys.checkpointSigning),
    clock: systemMilliseconds,
    withholds: () => config['checkpoints.timestamps'] === 'required',
    onSigned: ({ size, origin }) => log.debug({ size, origin }, 'a checkpoint is signed'),
    onDiscarded: (reason) => log.warn({ reason }, 'the trees of the checkpoints are made again'),
  })
}

/** The worker that has checkpoints stamped, as configured. */
export function checkpointTimeStamps(
  log: Logger,
  config: Config,
  { engine, checkpoints }: Pick<StoreSession, 'engine' | 'checkpoints'>,
): CheckpointTimeStamps {
  return new CheckpointTimeStamps(engine, checkpoints, {
    mode: config['checkpoints.timestamps'],
    url: config['checkpoints.timestamp_url'],
    timeoutMilliseconds: config['checkpoints.timestamp_timeout_seconds'] * 1000,
    clock: systemMilliseconds,
    timer: () => performance.now(),
    onFailure: (error) => log.warn({ err: error }, 'a checkpoint got no time stamp; it will be tried again'),
  })
}
