import type { Sequence } from '../../engine/brands.ts'
import { sequenceOf } from '../../engine/brands.ts'
import type { ChangeNamed } from '../../engine/events/changes.ts'
import { receiptBytes, receiptGiver } from '../../engine/events/names.ts'
import { integer, microseconds, optional, sequence, wordOf } from '../../engine/events/schema/kinds.ts'
import { field, record } from '../../engine/events/schema/record.ts'
import { RECEIPT_KINDS } from '../../engine/events/values.ts'
import type { ReceiptState } from '../../engine/checkpoints/state.ts'
import { numberKey, readNumber } from '../keys.ts'
import type { Row, Table, TableReader } from '../lmdb-environment.ts'
import { packed } from '../tables/row-codecs.ts'

/** `receipts`: size of the checkpoint (8), sequence of the entry (8) to its fields. */
const receipts = packed(
  record('receipt', {
    kind: field(wordOf(RECEIPT_KINDS), 'kind'),
    giver: field(receiptGiver, 'giver'),
    receipt: field(receiptBytes, 'receipt'),
    assertedMicroseconds: field(optional(microseconds), 'asserted time'),
  }),
)

/** `checkpoint-marks`: one row. */
const marks = packed(
  record('marks', {
    withheld: field(optional(integer), 'size of the checkpoint that is not shown yet'),
    quiet: field(optional(sequence), 'entries after the last checkpoint up to here are about checkpoints themselves'),
  }),
)
const MARKS_KEY = Buffer.from('marks')
const SEQUENCE_AT = 8

/** What is known about the last checkpoint, other than the checkpoint itself. */
export interface CheckpointMarks {
  /** Size of the checkpoint that is not shown yet. */
  readonly withheld: number | undefined
  /** Every entry after the last checkpoint up to this one is about checkpoints: none is a reason for another. */
  readonly quiet: Sequence | undefined
}

export function getMarks(table: TableReader): CheckpointMarks {
  const row = table.get(MARKS_KEY)
  return row === undefined ? { withheld: undefined, quiet: undefined } : marks.decode(row)
}

export function putMarks(table: Table, value: CheckpointMarks): void {
  table.put(MARKS_KEY, marks.encode(value))
}

export function putReceipt(table: Table, at: Sequence, change: ChangeNamed<'checkpoint.receipt'>): void {
  table.put(Buffer.concat([numberKey(change.size), numberKey(at)]), receipts.encode(change))
}

/** The receipts of one checkpoint, in the order of their entries. */
export function receiptsOf(table: TableReader, size: number): ReceiptState[] {
  return receiptsFrom(table, { start: numberKey(size), end: numberKey(size + 1) })
}

/** Receipts of checkpoints from a size on; `after`: of this size, only later entries. */
export function receiptsAfter(table: TableReader, size: number, after: number, limit: number): ReceiptState[] {
  return receiptsFrom(table, { start: Buffer.concat([numberKey(size), numberKey(after + 1)]), limit })
}

/** Size of the greatest checkpoint with a receipt. */
export function lastAnchored(table: TableReader): number | undefined {
  const [last] = table.keys({ reverse: true, limit: 1 })
  return last && readNumber(last, 0)
}

function receiptsFrom(table: TableReader, range: Parameters<TableReader['rows']>[0]): ReceiptState[] {
  return Array.from(table.rows(range), stateOf)
}

function stateOf({ key, value }: Row): ReceiptState {
  return { size: readNumber(key, 0), sequence: sequenceOf(readNumber(key, SEQUENCE_AT)), ...receipts.decode(value) }
}
