import { DomainError } from '../errors.ts'
import type { CheckpointState } from '../state-ports.ts'
import { NOTHING_CHANGES, type Rules } from './decision.ts'

/** Those who give receipts are named by settings; by hand nobody adds so many. */
const RECEIPTS_MAXIMUM = 64

export const checkpointRules = {
  /**
   * Records a checkpoint. The log never takes back what it signed (T3): each one covers the entry of the one before, and
   * after a restore from a backup, which may lack checkpoints that others have seen, the old origin signs no more.
   */
  'sign-checkpoint'({ checkpoint, after, isWithheld = false }, { state, sequence }) {
    const last = state.lastCheckpoint()
    if (last !== undefined) refuseRepeated(checkpoint, last)
    if (after !== last?.sequence || checkpoint.size > sequence) throw new DomainError('checkpoint-skips')
    if (last !== undefined && checkpoint.size <= last.sequence) throw new DomainError('checkpoint-rolls-back')
    const restored = state.lastRestore()
    if (last?.origin === checkpoint.origin && restored !== undefined && restored > last.sequence) {
      throw new DomainError('checkpoint-rolls-back')
    }
    const signed = { name: 'checkpoint.signed', ...checkpoint } as const
    return { changes: isWithheld ? [signed, { name: 'checkpoint.withheld', size: checkpoint.size }] : [signed] }
  },

  /** What is there already is not recorded again. */
  'record-receipt'({ receipt }, { state }) {
    if (state.checkpointOfSize(receipt.size) === undefined) throw new DomainError('checkpoint-missing')
    const had = state.receiptsOf(receipt.size)
    const isKnown = had.some(
      (one) =>
        one.kind === receipt.kind && one.giver === receipt.giver && Buffer.compare(one.receipt, receipt.receipt) === 0,
    )
    if (isKnown) return NOTHING_CHANGES
    if (had.length >= RECEIPTS_MAXIMUM) throw new DomainError('too-many-receipts')
    return { changes: [{ name: 'checkpoint.receipt', ...receipt }] }
  },

  'publish-checkpoint'({ size }, { state }) {
    if (state.withheldCheckpoint() !== size) return NOTHING_CHANGES
    return { changes: [{ name: 'checkpoint.published', size }] }
  },

  /** The proof that the caller checked is from the tree of `after`: with another one before, it proves nothing (T9). */
  'cosign-checkpoint'({ cosigned, after }, { state }) {
    const seen = state.witnessedLog(cosigned.origin)?.size ?? 0
    if (seen !== after || cosigned.size <= seen) throw new DomainError('checkpoint-not-next')
    return { changes: [{ name: 'checkpoint.cosigned', ...cosigned }] }
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
