import type { RecordTimes } from '../../engine/journal/record-times.ts'
import type { Sequence } from '../../engine/brands.ts'
import type { CheckpointChange } from '../../engine/checkpoints/change-types.ts'
import type {
  CheckpointState,
  HandoverState,
  ReceiptState,
  WitnessedLog,
  CheckpointsState,
} from '../../engine/checkpoints/state.ts'
import {
  allHandovers,
  getCheckpointOfSize,
  getLastCheckpoint,
  putCheckpoint,
  putHandover,
  putUnpublished,
  type checkpointTables,
} from './tables.ts'
import { type CheckpointMarks, getMarks, putMarks, putReceipt, receiptsOf } from './receipt-tables.ts'
import type { FeatureRows } from '../apply/feature-rows.ts'
import type { NamedTables } from '../tables/named-tables.ts'
import { getWitnessed, putWitnessed } from './witnessed-log-tables.ts'

type RowTables = NamedTables<typeof checkpointTables>

/** Applies changes to checkpoints, their receipts and hand-overs. */
export class CheckpointRows implements CheckpointsState, FeatureRows<CheckpointChange> {
  readonly #tables: RowTables

  constructor(tables: RowTables) {
    this.#tables = tables
  }

  lastCheckpoint(): CheckpointState | undefined {
    return getLastCheckpoint(this.#tables.checkpoints)
  }

  checkpointHandovers(): readonly HandoverState[] {
    return allHandovers(this.#tables.checkpointHandovers)
  }

  checkpointOfSize(size: number): CheckpointState | undefined {
    return getCheckpointOfSize(this.#tables.checkpoints, size)
  }

  receiptsOf(size: number): readonly ReceiptState[] {
    return receiptsOf(this.#tables.receipts, size)
  }

  withheldCheckpoint(): number | undefined {
    return getMarks(this.#tables.checkpointMarks).withheld
  }

  witnessedLog(origin: string): WitnessedLog | undefined {
    return getWitnessed(this.#tables.witnessedLogs, origin)
  }

  apply(sequence: Sequence, { timeMicroseconds: time }: RecordTimes, change: CheckpointChange): void {
    switch (change.name) {
      case 'checkpoint.signed':
        this.#abandonWithheld()
        putCheckpoint(this.#tables.checkpoints, sequence, time, change)
        return putMarks(this.#tables.checkpointMarks, { withheld: undefined, quiet: sequence })
      case 'checkpoint.key-rotated':
        return putHandover(this.#tables.checkpointHandovers, sequence, change)
      case 'checkpoint.receipt':
        putReceipt(this.#tables.receipts, sequence, change)
        return this.#mark(sequence, {})
      case 'checkpoint.cosigned':
        putWitnessed(this.#tables.witnessedLogs, sequence, change)
        return this.#mark(sequence, {})
      case 'checkpoint.withheld':
        return this.#mark(sequence, { withheld: change.size })
      case 'checkpoint.published':
        return this.#mark(sequence, { withheld: undefined })
    }
  }

  /** A withheld checkpoint has another after it only when its log cannot go on. */
  #abandonWithheld(): void {
    const withheld = this.withheldCheckpoint()
    if (withheld !== undefined) putUnpublished(this.#tables.checkpointsUnpublished, withheld)
  }

  #mark(sequence: Sequence, changed: Partial<CheckpointMarks>): void {
    const before = getMarks(this.#tables.checkpointMarks)
    const follows = before.quiet === undefined || sequence <= before.quiet + 1
    putMarks(this.#tables.checkpointMarks, { ...before, ...(follows && { quiet: sequence }), ...changed })
  }
}
