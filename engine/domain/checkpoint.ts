import { DomainError } from '../errors.ts'
import type { CheckpointState } from '../state-ports.ts'
import type { Rules } from './decision.ts'

export const checkpointRules = {
  /**
   * Records a checkpoint. The log never takes back what it signed (T3): each one covers the entry of the one before, and
   * after a restore from a backup, which may lack checkpoints that others have seen, the old origin signs no more.
   */
  'sign-checkpoint'({ checkpoint, after }, { state, sequence }) {
    const last = state.lastCheckpoint()
    if (last !== undefined) refuseRepeated(checkpoint, last)
    if (after !== last?.sequence || checkpoint.size > sequence) throw new DomainError('checkpoint-skips')
    if (last !== undefined && checkpoint.size <= last.sequence) throw new DomainError('checkpoint-rolls-back')
    const restored = state.lastRestore()
    if (last?.origin === checkpoint.origin && restored !== undefined && restored > last.sequence) {
      throw new DomainError('checkpoint-rolls-back')
    }
    return { changes: [{ name: 'checkpoint.signed', ...checkpoint }] }
  },
} satisfies Partial<Rules>

/** The same tree again is not worth an entry; another one of the same size would be a fork. */
function refuseRepeated(
  checkpoint: Omit<CheckpointState, 'sequence' | 'timeMicroseconds'>,
  last: CheckpointState,
): void {
  if (checkpoint.size !== last.size) return
  const isSame = (['root', 'bundleRoot'] as const).every((root) => Buffer.compare(checkpoint[root], last[root]) === 0)
  throw new DomainError(isSame ? 'checkpoint-signed-twice' : 'checkpoint-forks')
}
