import type { Sequence } from '../brands.ts'
import type { ChangeNamed } from '../events/schema/change.ts'
import type { CheckpointChange } from './change-types.ts'

/** Commands on checkpoints. The store sends them by itself, and they have no attempt. */
export interface CheckpointCommands {
  /**
   * Records a checkpoint. `after`: the entry of the last checkpoint that the signer has seen. `isWithheld`: hidden
   * until it is published.
   */
  'sign-checkpoint': {
    checkpoint: Omit<ChangeNamed<CheckpointChange, 'checkpoint.signed'>, 'name'>
    after: Sequence | undefined
    isWithheld?: boolean
  }
  /** Records an outside party's statement about a checkpoint; at most 64 for each. */
  'record-receipt': { receipt: Omit<ChangeNamed<CheckpointChange, 'checkpoint.receipt'>, 'name'> }
  /** Hands the key of the log over to another one. An administrator asks for it, so it has an attempt. */
  'rotate-checkpoint-key': { handover: Omit<ChangeNamed<CheckpointChange, 'checkpoint.key-rotated'>, 'name'> }
  /** Shows a checkpoint that was withheld. */
  'publish-checkpoint': { size: number }
  /**
   * Records a checkpoint of another log that this store, as a witness, has seen. `after`: the size that it had seen
   * before, or 0.
   */
  'cosign-checkpoint': { cosigned: Omit<ChangeNamed<CheckpointChange, 'checkpoint.cosigned'>, 'name'>; after: number }
}
