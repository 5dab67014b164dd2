import { systemMilliseconds } from '../../engine/clock.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { CheckpointLog } from '../../projections/checkpoints/checkpoint-log.ts'
import type { MendReport } from '../../projections/checkpoints/mend-trees.ts'
import { TreeThread } from '../../projections/checkpoints/tree-thread-handle.ts'
import { CheckpointLock } from '../../workers/checkpoints/lock-checkpoints.ts'
import type { OutsideMemory, Seen } from '../../workers/checkpoints/outside-memory.ts'
import {
  CheckpointPublication,
  type PublicationRequirement,
  timeStampRequirement,
} from '../../workers/checkpoints/publish-checkpoints.ts'
import { CheckpointSigning } from '../../workers/checkpoints/sign-checkpoints.ts'
import { CheckpointTimeStamps } from '../../workers/checkpoints/time-stamp-checkpoints.ts'
import { CheckpointWitnesses } from '../../workers/checkpoints/witness-checkpoints.ts'
import type { Config } from '../config/config-types.ts'
import { LOCK_TIMEOUT_MILLISECONDS, lockPlaceOf } from './lock-place-of.ts'
import type { Logger } from '../server/log/logger.ts'
import type { SessionSettings, StoreSession } from '../server/store/store-session.ts'
import { witnessPolicyOf } from './witness-policy.ts'

/** The workers that sign checkpoints, get receipts for them, and publish them. */
export interface CheckpointWorkers {
  readonly signing: CheckpointSigning
  readonly publication: CheckpointPublication
  readonly timeStamps: CheckpointTimeStamps
  /** Undefined where none is set. */
  readonly lock: CheckpointLock | undefined
  /** Undefined where they are off. */
  readonly witnesses: CheckpointWitnesses | undefined
}

type CheckpointStore = Pick<StoreSession, 'engine' | 'paths' | 'checkpoints' | 'checkpointKeys'>

/** The workers of checkpoints, as configured. */
export function checkpointWorkers(
  log: Logger,
  config: Config,
  store: CheckpointStore,
  session: Pick<SessionSettings, 'deploymentId'>,
): CheckpointWorkers {
  const contradicted: Contradicted = (by, seen) => signing.contradicted(by, seen)
  const lock = checkpointLock(log, config, store, session, contradicted)
  const witnesses = checkpointWitnesses(log, config, store, contradicted, (size) => signing.mend(size))
  const required = requirements(config, store, lock, witnesses)
  const publication = new CheckpointPublication(store.engine, store.checkpoints, required)
  const memories = [...(lock === undefined ? [] : [lock]), ...(witnesses?.memories ?? [])]
  const signing = checkpointSigning(log, config, store, session, publication, memories)
  return { signing, publication, timeStamps: checkpointTimeStamps(log, config, store), lock, witnesses }
}

/** The workers' state of checkpoints, for the status of the storage. */
export function checkpointFacts({ signing, publication }: Pick<CheckpointWorkers, 'signing' | 'publication'>) {
  return { ...signing.facts, waitsFor: publication.waitsFor }
}

/** Requirements of a checkpoint before it is published. */
function requirements(
  config: Config,
  { checkpoints }: CheckpointStore,
  lock: CheckpointLock | undefined,
  witnesses: CheckpointWitnesses | undefined,
): readonly PublicationRequirement[] {
  return [
    ...(config['checkpoints.timestamps'] === 'required' ? [timeStampRequirement(checkpoints)] : []),
    ...(lock === undefined ? [] : [lock]),
    ...(config['checkpoints.witnesses'] === 'required' && witnesses !== undefined ? [witnesses.requirement] : []),
  ]
}

type Contradicted = (seenBy: string, seen: Seen) => void

/** Where each checkpoint is written before it is published, as configured. */
function checkpointLock(
  log: Logger,
  config: Config,
  { engine, checkpoints, checkpointKeys }: CheckpointStore,
  { deploymentId }: Pick<SessionSettings, 'deploymentId'>,
  onContradiction: Contradicted,
): CheckpointLock | undefined {
  const place = lockPlaceOf(config)
  if (place === undefined) return undefined
  return new CheckpointLock(engine, checkpoints, {
    place,
    origin: { name: config['checkpoints.origin'], deploymentId },
    publicKeys: () => checkpointKeys.publicKeys(),
    timeoutMilliseconds: LOCK_TIMEOUT_MILLISECONDS,
    timer: () => performance.now(),
    onFailure: (error) =>
      log.warn({ lock: place.name, err: error }, 'a checkpoint is not in its lock; it will be tried again'),
    onContradiction,
  })
}

function checkpointWitnesses(
  log: Logger,
  config: Config,
  { engine, paths, checkpoints, checkpointKeys }: CheckpointStore,
  onContradiction: Contradicted,
  mend: (size: number) => void,
): CheckpointWitnesses | undefined {
  const policy = witnessPolicyOf(config)
  if (policy === undefined) return undefined
  const published = new CheckpointLog(nodeDisk, paths, checkpoints, mend)
  return new CheckpointWitnesses(engine, checkpoints, policy, {
    isRequired: config['checkpoints.witnesses'] === 'required',
    key: () => checkpointKeys.inForce(checkpoints.state()),
    timeoutMilliseconds: config['checkpoints.witness_timeout_seconds'] * 1000,
    clock: systemMilliseconds,
    timer: () => performance.now(),
    consistencyOf: (checkpoint, old) => published.consistencyOf(checkpoint, old),
    onFailure: (witness, error) =>
      log.warn({ witness, err: error }, 'a witness did not cosign a checkpoint; it will be asked again'),
    onContradiction,
  })
}

function checkpointSigning(
  log: Logger,
  config: Config,
  { engine, paths, checkpoints, checkpointKeys }: CheckpointStore,
  { deploymentId }: Pick<SessionSettings, 'deploymentId'>,
  { withholds }: CheckpointPublication,
  memories: readonly OutsideMemory[],
): CheckpointSigning {
  return new CheckpointSigning(engine, checkpoints, new TreeThread(paths.root), {
    intervalSeconds: config['checkpoints.interval_seconds'],
    heartbeatSeconds: config['checkpoints.heartbeat_seconds'],
    origin: { name: config['checkpoints.origin'], deploymentId },
    keys: checkpointKeys,
    clock: systemMilliseconds,
    withholds,
    memories,
    onUnasked: (memory, error) =>
      log.warn({ memory, err: error }, 'a memory of checkpoints cannot be asked; signing goes on without it'),
    onRollback: ({ code, message }) => log.error({ code, reason: message }, 'checkpoints are signed no more'),
    onSigned: ({ size, origin }) => log.debug({ size, origin }, 'a checkpoint is signed'),
    onDiscarded: (reason) => log.warn({ reason }, 'the trees of the checkpoints are made again'),
    onMended: (report) => logMended(log, report),
  })
}

function logMended(log: Logger, { records, hashes, failure }: MendReport): void {
  const compared = { records, hashes }
  if (failure !== undefined) {
    log.error({ ...compared, reason: failure }, 'the damaged trees of the checkpoints cannot be derived again')
  } else if (hashes > 0) {
    log.warn(compared, 'the trees of the checkpoints were damaged; what differed is derived again from the journal')
  } else {
    log.error(compared, 'the trees are those of the journal, but not those that were signed; run journal verify')
  }
}

function checkpointTimeStamps(
  log: Logger,
  config: Config,
  { engine, checkpoints }: CheckpointStore,
): CheckpointTimeStamps {
  return new CheckpointTimeStamps(engine, checkpoints, {
    mode: config['checkpoints.timestamps'],
    url: config['checkpoints.timestamp_url'],
    othersVouch: config['checkpoints.witnesses'] !== 'off',
    timeoutMilliseconds: config['checkpoints.timestamp_timeout_seconds'] * 1000,
    clock: systemMilliseconds,
    timer: () => performance.now(),
    onFailure: (error) =>
      log.warn({ err: error }, 'a checkpoint has no time stamp yet; the authority will be asked again'),
  })
}
