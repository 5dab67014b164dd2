import { type Microseconds, microsecondsOf, type Sequence, sequenceOf } from '../../engine/brands.ts'
import { SEGMENT_HEADER } from '../../engine/journal/format.ts'
import type { AppliedPosition, SegmentPlace } from '../../engine/journal/positions.ts'
import { numberKey, readNumber, writeNumber } from '../keys.ts'
import type { Row, Table, TableReader } from '../lmdb-environment.ts'

/**
 * `audit-index`: from a sequence to a place in the journal. About every 1,024th record has a row here, so a query reads only
 * the part of the journal that its range covers. A range of time is found by bisection within a run (`audit-runs.ts`).
 *
 *   key   = sequence of the last record of a batch (8)
 *   value = sequence of its first record (8) | earliest time in it (8) | latest time in it (8)
 *           | first sequence of the segment (8) | offset of the batch (8) | batch number (8)
 */

const RECORDS_PER_ROW = 1024

/** The first batch of a journal. */
export const JOURNAL_START: SegmentPlace = { segmentFirstSequence: sequenceOf(0), offset: SEGMENT_HEADER.bytes }

/** A batch gets a row when it holds the first record of a new block of 1,024. */
export function noteBatch(table: Table, firstSequence: Sequence, position: AppliedPosition): void {
  const blockStart = Math.ceil(firstSequence / RECORDS_PER_ROW) * RECORDS_PER_ROW
  if (position.sequence < blockStart) return
  const value = Buffer.allocUnsafe(48)
  writeNumber(value, firstSequence, 0)
  writeNumber(value, position.earliestMicroseconds, 8)
  writeNumber(value, position.latestMicroseconds, 16)
  writeNumber(value, position.segmentFirstSequence, 24)
  writeNumber(value, position.batchOffset, 32)
  writeNumber(value, position.batch, 40)
  table.put(numberKey(position.sequence), value)
}

/** A batch that the index knows. */
export interface AuditPlace {
  readonly segmentFirstSequence: Sequence
  readonly batchOffset: number
  readonly batch: number
}

/** A row, of one batch. */
export interface IndexRow {
  readonly firstSequence: Sequence
  readonly lastSequence: Sequence
  readonly earliestMicroseconds: Microseconds
  readonly latestMicroseconds: Microseconds
  readonly place: AuditPlace
}

function rowOf({ key, value }: Row): IndexRow {
  return {
    firstSequence: sequenceOf(readNumber(value, 0)),
    lastSequence: sequenceOf(readNumber(key, 0)),
    earliestMicroseconds: microsecondsOf(readNumber(value, 8)),
    latestMicroseconds: microsecondsOf(readNumber(value, 16)),
    place: {
      segmentFirstSequence: sequenceOf(readNumber(value, 24)),
      batchOffset: readNumber(value, 32),
      batch: readNumber(value, 40),
    },
  }
}

/** At most `count` rows of batches that end before a sequence, the last one first. */
export function rowsBefore(table: TableReader, sequence: Sequence, count: number): IndexRow[] {
  if (sequence === 0) return []
  const rows = table.rows({
    start: numberKey(Math.min(sequence, Number.MAX_SAFE_INTEGER) - 1),
    reverse: true,
    limit: count,
  })
  return Array.from(rows, rowOf)
}

/** The row of the first batch that ends with a sequence or a later one, after `skipped` others. */
export function rowFrom(table: TableReader, sequence: Sequence, skipped = 0): IndexRow | undefined {
  const rows = Array.from(table.rows({ start: numberKey(sequence), limit: skipped + 1 }))
  const row = rows[skipped]
  return row === undefined ? undefined : rowOf(row)
}

/**
 * The first row between two sequences of which a condition holds that holds of all rows after it as well; undefined where
 * it holds of none.
 */
export function firstRowThat(
  table: TableReader,
  from: Sequence,
  before: Sequence,
  holds: (row: IndexRow) => boolean,
): IndexRow | undefined {
  let found: IndexRow | undefined
  let low: number = from
  let high: number = Math.min(before, (rowsBefore(table, before, 1)[0]?.lastSequence ?? -1) + 1)
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const row = rowFrom(table, sequenceOf(middle))
    if (row === undefined || row.lastSequence >= high) high = middle
    else if (holds(row)) {
      found = row
      high = middle
    } else low = row.lastSequence + 1
  }
  return found
}
