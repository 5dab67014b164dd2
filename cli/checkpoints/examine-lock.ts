import type { Genesis } from '../../engine/journal/bodies.ts'
import { readCheckpointNote } from '../../engine/checkpoints/checkpoint-note.ts'
import type { LockPlace } from '../../workers/checkpoints/lock-place.ts'
import type { Config } from '../config/config-types.ts'
import { LOCK_TIMEOUT_MILLISECONDS } from './lock-place-of.ts'
import type { Finding } from '../commands/server/doctor/finding.ts'

/** Checks whether the lock of checkpoints answers, and how far its log was signed. Writes nothing. */
export async function checkpointLock(
  place: LockPlace,
  config: Config,
  genesis: Genesis | Error | undefined,
): Promise<string | Omit<Finding, 'check'>> {
  if (genesis === undefined || genesis instanceof Error) {
    return { status: 'skipped', detail: 'the store has no name yet that the lock could be asked about' }
  }
  const log = `${config['checkpoints.origin']}/${Buffer.from(genesis.deploymentId).toString('hex')}`
  const held = await place.read(log, AbortSignal.timeout(LOCK_TIMEOUT_MILLISECONDS))
  if (held === undefined) return `${place.name} answers, and holds nothing of ${log}`
  return `${place.name} holds a checkpoint of ${readCheckpointNote(held.text).size} records of ${log}`
}
