import type { Microseconds, Sequence } from '../brands.ts'
import type { ChangeNamed } from '../events/schema/change.ts'
import type { CheckpointChange } from './change-types.ts'

/** A checkpoint, and the entry that recorded it. */
export interface CheckpointState extends Omit<ChangeNamed<CheckpointChange, 'checkpoint.signed'>, 'name'> {
  readonly sequence: Sequence
  readonly timeMicroseconds: Microseconds
}

/** A hand-over of the key of the log, and the entry that recorded it. */
export interface HandoverState extends Omit<ChangeNamed<CheckpointChange, 'checkpoint.key-rotated'>, 'name'> {
  readonly sequence: Sequence
}

/** An outside party's statement about a checkpoint, and the entry that recorded it. */
export interface ReceiptState extends Omit<ChangeNamed<CheckpointChange, 'checkpoint.receipt'>, 'name'> {
  readonly sequence: Sequence
}

/** The last checkpoint of another log that this store cosigned, and the entry that recorded it. */
export interface WitnessedLog extends Omit<ChangeNamed<CheckpointChange, 'checkpoint.cosigned'>, 'name'> {
  readonly sequence: Sequence
  /** Entry and time of the first one of this log. */
  readonly first: { readonly sequence: Sequence; readonly seconds: number }
}

/** State of checkpoints as the rules read it. Implemented by the projections. */
export interface CheckpointsState {
  /** The last checkpoint that was signed. */
  lastCheckpoint(): CheckpointState | undefined
  /** Every hand-over of the key of the log, in the order of the entries. */
  checkpointHandovers(): readonly HandoverState[]
  checkpointOfSize(size: number): CheckpointState | undefined
  /** In the order of their entries. */
  receiptsOf(size: number): readonly ReceiptState[]
  /** Size of the checkpoint that is not shown yet. */
  withheldCheckpoint(): number | undefined
  /** The last cosigned checkpoint of the log with this origin. */
  witnessedLog(origin: string): WitnessedLog | undefined
}

/** What the rules are passed, since they import nothing that computes. */
export interface CheckpointHelpers {
  /** Whether a hand-over of the key has the signatures of both keys. */
  readonly isSignedByBoth: (handover: Omit<HandoverState, 'sequence'>) => boolean
}
