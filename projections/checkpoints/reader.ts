import type { Sequence } from '../../engine/brands.ts'
import type { AppliedPosition } from '../../engine/journal/positions.ts'
import type { CheckpointState, HandoverState, ReceiptState, WitnessedLog } from '../../engine/checkpoints/state.ts'
import type { ProjectionEnvironment } from '../lmdb-environment.ts'
import { getApplied } from '../tables/applied.ts'
import {
  allHandovers,
  checkpointsFrom,
  getCheckpointOfSize,
  getLastCheckpoint,
  getLastHandover,
  isUnpublished,
  newestCheckpoint,
} from './tables.ts'
import { type CheckpointMarks, getMarks, lastAnchored, receiptsAfter, receiptsOf } from './receipt-tables.ts'
import { getLastRestore } from '../tables/restores.ts'
import { openTables, type Tables } from '../tables/table-list.ts'
import { allWitnessed, getWitnessed } from './witnessed-log-tables.ts'

/** How far the journal is, and what of it was signed. */
interface SigningState extends CheckpointMarks {
  readonly applied: AppliedPosition | undefined
  /** The last that was signed, shown or not. */
  readonly last: CheckpointState | undefined
  /** The last hand-over of the key. */
  readonly handover: HandoverState | undefined
  /** The last entry that records a restore from a backup. */
  readonly restored: Sequence | undefined
}

/** Reads checkpoints, from any thread. Every call sees all acknowledged entries, and nothing that is not durable. */
export class CheckpointReader {
  readonly #environment: ProjectionEnvironment
  readonly #tables: Tables

  constructor(environment: ProjectionEnvironment) {
    this.#environment = environment
    this.#tables = openTables(environment)
  }

  state(): SigningState {
    this.#environment.refresh()
    return {
      ...getMarks(this.#tables.checkpointMarks),
      applied: getApplied(this.#tables.applied)?.position,
      last: getLastCheckpoint(this.#tables.checkpoints),
      handover: getLastHandover(this.#tables.checkpointHandovers),
      restored: getLastRestore(this.#tables.restores),
    }
  }

  /** The last that is shown. */
  last(): CheckpointState | undefined {
    this.#environment.refresh()
    return newestCheckpoint(this.#tables.checkpoints, ({ size }) => this.#isShown(size))
  }

  /** Checkpoints that are shown and whose entries come after a sequence, the oldest first. */
  after(sequence: number, limit: number): CheckpointState[] {
    this.#environment.refresh()
    return checkpointsFrom(this.#tables.checkpoints, sequence + 1, limit).filter(({ size }) => this.#isShown(size))
  }

  /** The predecessors of the next signature: the last checkpoint, shown or not, and the last hand-over of the key. */
  signing(): Pick<SigningState, 'last' | 'handover'> {
    const { last, handover } = this.state()
    return { last, handover }
  }

  /**
   * Every hand-over of the key that is shown, the oldest first. A hand-over that names a hidden checkpoint is not
   * shown.
   */
  handovers(): HandoverState[] {
    this.#environment.refresh()
    return allHandovers(this.#tables.checkpointHandovers).filter(({ size }) => this.#isShown(size))
  }

  /** The checkpoint of this size, if it is shown. */
  ofSize(size: number): CheckpointState | undefined {
    this.#environment.refresh()
    return this.#isShown(size) ? getCheckpointOfSize(this.#tables.checkpoints, size) : undefined
  }

  /** The checkpoint of this size, shown or not. */
  signedOfSize(size: number): CheckpointState | undefined {
    this.#environment.refresh()
    return getCheckpointOfSize(this.#tables.checkpoints, size)
  }

  /** The oldest checkpoint that no receipt covers: none is about it or about a later one. */
  oldestUnanchored(): CheckpointState | undefined {
    this.#environment.refresh()
    const anchored = lastAnchored(this.#tables.receipts) ?? 0
    return checkpointsFrom(this.#tables.checkpoints, anchored, 2).find(({ size }) => size > anchored)
  }

  /** The last checkpoint of another log that this store cosigned. */
  witnessed(origin: string): WitnessedLog | undefined {
    this.#environment.refresh()
    return getWitnessed(this.#tables.witnessedLogs, origin)
  }

  /** The same of every log that was ever witnessed, by origin. */
  allWitnessed(): WitnessedLog[] {
    this.#environment.refresh()
    return allWitnessed(this.#tables.witnessedLogs)
  }

  /** Receipts of a checkpoint, in the order of the entries. */
  receiptsOf(size: number): ReceiptState[] {
    this.#environment.refresh()
    return receiptsOf(this.#tables.receipts, size)
  }

  /** Receipts of checkpoints from a size on, by size and entry; `after`: of this size, only later entries. */
  receiptsAfter(size: number, after: number, limit: number): ReceiptState[] {
    this.#environment.refresh()
    return receiptsAfter(this.#tables.receipts, size, after, limit)
  }

  #isShown(size: number): boolean {
    if (getMarks(this.#tables.checkpointMarks).withheld === size) return false
    return !isUnpublished(this.#tables.checkpointsUnpublished, size)
  }
}
