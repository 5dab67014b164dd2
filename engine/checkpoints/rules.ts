import { DomainError } from '../errors.ts'
import type { CheckpointHelpers, CheckpointsState, CheckpointState, HandoverState } from './state.ts'
import { NOTHING_CHANGES, type RulesOf } from '../domain/decision.ts'
import type { CheckpointChange } from './change-types.ts'
import type { CheckpointCommands } from './commands.ts'

/** Receipts come from witnesses and timestamp servers in the settings; 64 bounds what is added by hand. */
const RECEIPTS_MAXIMUM = 64
/** Bounded because every verifier reads all handovers. */
const HANDOVERS_MAXIMUM = 100

export const checkpointRules: RulesOf<
  CheckpointCommands,
  CheckpointChange,
  { readonly checkpoints: CheckpointsState } & CheckpointHelpers
> = {
  /**
   * Records a checkpoint. The log never takes back what it signed (T3): each one covers the entry of the one before, and
   * after a restore from a backup, which may lack checkpoints that others have seen, the old origin signs no more.
   */
  'sign-checkpoint'({ checkpoint, after, isWithheld = false }, { checkpoints, state, sequence }) {
    const last = checkpoints.lastCheckpoint()
    if (last !== undefined) refuseRepeated(checkpoint, last)
    if (after !== last?.sequence || checkpoint.size > sequence) throw new DomainError('checkpoint-skips')
    if (last !== undefined && checkpoint.size <= last.sequence) throw new DomainError('checkpoint-rolls-back')
    const restored = state.lastRestore()
    if (last?.origin === checkpoint.origin && restored !== undefined && restored > last.sequence) {
      throw new DomainError('checkpoint-rolls-back')
    }
    const key = checkpoints.checkpointHandovers().at(-1)?.newKey ?? last?.publicKey
    if (key !== undefined && !isSame(key, checkpoint.publicKey)) throw new DomainError('checkpoint-key-changed')
    const signed = { name: 'checkpoint.signed', ...checkpoint } as const
    return { changes: isWithheld ? [signed, { name: 'checkpoint.withheld', size: checkpoint.size }] : [signed] }
  },

  /**
   * Hands the key of the log over. It names the last checkpoint, so that the old key cannot sign after it; a key that
   * the log once had is not trusted again.
   */
  'rotate-checkpoint-key'({ handover }, { checkpoints, isSignedByBoth }) {
    const last = checkpoints.lastCheckpoint()
    if (last === undefined) throw new DomainError('checkpoint-missing')
    if (checkpoints.withheldCheckpoint() !== undefined) throw new DomainError('checkpoint-withheld')
    const before = checkpoints.checkpointHandovers()
    if (before.length > 0 && (before.at(-1) as HandoverState).sequence > last.sequence) {
      throw new DomainError('checkpoint-key-unused')
    }
    if (before.length >= HANDOVERS_MAXIMUM) throw new DomainError('too-many-checkpoint-keys')
    const fault = handoverFault(handover, last, before)
    if (fault !== undefined) throw new DomainError('checkpoint-handover-refused', fault)
    if (!isSignedByBoth(handover)) throw new DomainError('checkpoint-handover-refused', 'it is not signed by both keys')
    return { changes: [{ name: 'checkpoint.key-rotated', ...handover }] }
  },

  /** A known receipt is not recorded again. */
  'record-receipt'({ receipt }, { checkpoints }) {
    if (checkpoints.checkpointOfSize(receipt.size) === undefined) throw new DomainError('checkpoint-missing')
    const had = checkpoints.receiptsOf(receipt.size)
    const isKnown = had.some(
      (one) =>
        one.kind === receipt.kind && one.giver === receipt.giver && Buffer.compare(one.receipt, receipt.receipt) === 0,
    )
    if (isKnown) return NOTHING_CHANGES
    if (had.length >= RECEIPTS_MAXIMUM) throw new DomainError('too-many-receipts')
    return { changes: [{ name: 'checkpoint.receipt', ...receipt }] }
  },

  'publish-checkpoint'({ size }, { checkpoints }) {
    if (checkpoints.withheldCheckpoint() !== size) return NOTHING_CHANGES
    return { changes: [{ name: 'checkpoint.published', size }] }
  },

  /** The proof that the caller checked is from the tree of `after`: with another one before, it proves nothing (T9). */
  'cosign-checkpoint'({ cosigned, after }, { checkpoints }) {
    const seen = checkpoints.witnessedLog(cosigned.origin)?.size ?? 0
    if (seen !== after || cosigned.size <= seen) throw new DomainError('checkpoint-not-next')
    return { changes: [{ name: 'checkpoint.cosigned', ...cosigned }] }
  },
}

/** Why a hand-over does not follow the log's last signature; undefined if it does. */
function handoverFault(
  handover: Omit<HandoverState, 'sequence'>,
  last: CheckpointState,
  before: readonly HandoverState[],
): string | undefined {
  const { origin, generation, oldKey, newKey, size, root } = handover
  if (origin !== last.origin) return 'it is for another origin'
  if (!isSame(oldKey, before.at(-1)?.newKey ?? last.publicKey)) return 'the old key is not the one in force'
  if ([oldKey, ...before.map((one) => one.oldKey)].some((key) => isSame(key, newKey)))
    return 'it goes back to an old key'
  if (generation !== (before.at(-1)?.generation ?? 0) + 1) return 'it is not the next generation'
  if (size !== last.size || !isSame(root, last.root)) return 'it does not name the last checkpoint'
  return undefined
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0
}

/** The same tree again is not worth an entry; another one of the same size would be a fork. */
function refuseRepeated(
  checkpoint: Omit<CheckpointState, 'sequence' | 'timeMicroseconds'>,
  last: CheckpointState,
): void {
  if (checkpoint.size !== last.size) return
  const isRepeated = (['root', 'bundleRoot'] as const).every((root) => isSame(checkpoint[root], last[root]))
  throw new DomainError(isRepeated ? 'checkpoint-signed-twice' : 'checkpoint-forks')
}
