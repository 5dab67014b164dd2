import { systemMilliseconds } from '../../engine/clock.ts'
import { SigningKey } from '../../engine/keys/signing-key.ts'
import { TreeThread } from '../../projections/trees/tree-thread-handle.ts'
import {
  CheckpointPublication,
  type PublicationRequirement,
  timeStampRequirement,
} from '../../workers/checkpoints/publish-checkpoints.ts'
import { CheckpointSigning } from '../../workers/checkpoints/sign-checkpoints.ts'
import { CheckpointTimeStamps } from '../../workers/checkpoints/time-stamp-checkpoints.ts'
import type { Config } from '../config/config-types.ts'
import type { Logger } from './logger.ts'
import type { SessionSettings, StoreSession } from './store/store-session.ts'

/** What signs checkpoints, has others vouch for them, and publishes them. */
export interface CheckpointWorkers {
  readonly signing: CheckpointSigning
  readonly publication: CheckpointPublication
  readonly timeStamps: CheckpointTimeStamps
}

type CheckpointStore = Pick<StoreSession, 'engine' | 'paths' | 'checkpoints'>

/** The workers of checkpoints, as configured. */
export function checkpointWorkers(
  log: Logger,
  config: Config,
  store: CheckpointStore,
  session: Pick<SessionSettings, 'deploymentId' | 'keys'>,
): CheckpointWorkers {
  const publication = new CheckpointPublication(store.engine, store.checkpoints, requirements(config, store))
  return {
    signing: checkpointSigning(log, config, store, session, publication),
    publication,
    timeStamps: checkpointTimeStamps(log, config, store),
  }
}

/** What the workers know of checkpoints, for the status of the storage. */
export function checkpointFacts({ signing, publication }: Pick<CheckpointWorkers, 'signing' | 'publication'>) {
  return { ...signing.facts, waitsFor: publication.waitsFor }
}

/** What a checkpoint must have before it is published. */
function requirements(config: Config, { checkpoints }: CheckpointStore): readonly PublicationRequirement[] {
  return config['checkpoints.timestamps'] === 'required' ? [timeStampRequirement(checkpoints)] : []
}

function checkpointSigning(
  log: Logger,
  config: Config,
  { engine, paths, checkpoints }: CheckpointStore,
  { deploymentId, keys }: Pick<SessionSettings, 'deploymentId' | 'keys'>,
  { withholds }: CheckpointPublication,
): CheckpointSigning {
  return new CheckpointSigning(engine, checkpoints, new TreeThread(paths.root), {
    intervalSeconds: config['checkpoints.interval_seconds'],
    heartbeatSeconds: config['checkpoints.heartbeat_seconds'],
    origin: { name: config['checkpoints.origin'], deploymentId },
    key: new SigningKey(keys.checkpointSigning),
    clock: systemMilliseconds,
    withholds,
    memories: [],
    onUnasked: (memory, error) =>
      log.warn({ memory, err: error }, 'a memory of checkpoints cannot be asked; signing goes on without it'),
    onRollback: ({ code, message }) => log.error({ code, reason: message }, 'checkpoints are signed no more'),
    onSigned: ({ size, origin }) => log.debug({ size, origin }, 'a checkpoint is signed'),
    onDiscarded: (reason) => log.warn({ reason }, 'the trees of the checkpoints are made again'),
  })
}

function checkpointTimeStamps(
  log: Logger,
  config: Config,
  { engine, checkpoints }: CheckpointStore,
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
