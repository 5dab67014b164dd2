import type { AppliedPosition } from '../../engine/journal/positions.ts'
import { type Microseconds, microsecondsOf, type Sequence, sequenceOf } from '../../engine/brands.ts'
import { readNumber, writeNumber } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'

/**
 * `audit-index`: from a time to a place in the journal. About every 1,024th record has a row here, so a query reads only
 * the part of the journal that its range covers.
 *
 *   key   = time of the last record of a batch (8) | its sequence (8)
 *   value = first sequence of the segment (8) | offset of the batch (8) | batch number (8)
 */

const RECORDS_PER_ROW = 1024

/** A batch gets a row when it holds the first record of a new block of 1,024. */
export function noteBatch(table: Table, firstSequence: Sequence, position: AppliedPosition): void {
  const blockStart = Math.ceil(firstSequence / RECORDS_PER_ROW) * RECORDS_PER_ROW
  if (position.sequence < blockStart) return
  const key = Buffer.allocUnsafe(16)
  writeNumber(key, position.timeMicroseconds, 0)
  writeNumber(key, position.sequence, 8)
  const value = Buffer.allocUnsafe(24)
  writeNumber(value, position.segmentFirstSequence, 0)
  writeNumber(value, position.batchOffset, 8)
  writeNumber(value, position.batch, 16)
  table.put(key, value)
}

/** A batch that the index knows. */
export interface AuditPlace {
  readonly segmentFirstSequence: Sequence
  readonly batchOffset: number
  readonly batch: number
}

function placeOf(value: Buffer): AuditPlace {
  const segmentFirstSequence = sequenceOf(readNumber(value, 0))
  return { segmentFirstSequence, batchOffset: readNumber(value, 8), batch: readNumber(value, 16) }
}

/**
 * The last indexed batch of a segment that ends before a sequence, or undefined when the segment must be read from its
 * start. `sinceMicroseconds`: no record of the segment is earlier.
 */
export function placeInSegment(
  table: TableReader,
  segmentFirstSequence: number,
  sinceMicroseconds: Microseconds,
  sequence: Sequence,
): AuditPlace | undefined {
  const start = Buffer.alloc(16)
  writeNumber(start, sinceMicroseconds, 0)
  let found: AuditPlace | undefined
  for (const { key, value } of table.rows({ start })) {
    const place = placeOf(value)
    if (readNumber(key, 8) >= sequence || place.segmentFirstSequence > segmentFirstSequence) break
    if (place.segmentFirstSequence === segmentFirstSequence) found = place
  }
  return found
}

/** The last indexed batch that ends before `timeMicroseconds`, or undefined when the journal must be read from its start. */
export function placeBefore(table: TableReader, timeMicroseconds: Microseconds): AuditPlace | undefined {
  const start = Buffer.alloc(16)
  writeNumber(start, timeMicroseconds, 0)
  for (const { value } of table.rows({ start, reverse: true, limit: 1 })) return placeOf(value)
  return undefined
}

/** A row with the time and the sequence of the last record of its batch. */
export interface IndexRow {
  readonly timeMicroseconds: Microseconds
  readonly sequence: Sequence
  readonly place: AuditPlace
}

type Bound = Pick<IndexRow, 'timeMicroseconds' | 'sequence'>

/** At most `count` rows before a bound, the last one first. */
export function rowsBefore(table: TableReader, bound: Bound, count: number): IndexRow[] {
  const rows: IndexRow[] = []
  // The range includes its start.
  for (const { key, value } of table.rows({ start: keyOf(bound), reverse: true, limit: count + 1 })) {
    const row = rowOf(key, value)
    if (row.timeMicroseconds < bound.timeMicroseconds || row.sequence < bound.sequence) rows.push(row)
  }
  return rows.slice(0, count)
}

/** The row at or after a bound, after `skipped` others; undefined beyond the end. */
export function rowAfter(table: TableReader, bound: Bound, skipped: number): IndexRow | undefined {
  const rows = Array.from(table.rows({ start: keyOf(bound), limit: skipped + 1 }))
  const row = rows[skipped]
  return row === undefined ? undefined : rowOf(row.key, row.value)
}

function keyOf({ timeMicroseconds, sequence }: Bound): Buffer {
  const key = Buffer.alloc(16)
  writeNumber(key, Math.min(timeMicroseconds, Number.MAX_SAFE_INTEGER), 0)
  writeNumber(key, sequence, 8)
  return key
}

function rowOf(key: Buffer, value: Buffer): IndexRow {
  const timeMicroseconds = microsecondsOf(readNumber(key, 0))
  return { timeMicroseconds, sequence: sequenceOf(readNumber(key, 8)), place: placeOf(value) }
}
