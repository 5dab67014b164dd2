import type { AppliedPosition } from '../../engine/state-ports.ts'
import { readNumber, writeNumber } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'

/**
 * `audit-index`: the way from a time to a place in the journal. The records stay in the journal; every 1,024th or so
 * has a row here, so a query reads the part of the log that its range covers and no more.
 *
 *   key   = time of the last record of a batch (8) | its sequence (8)
 *   value = first sequence of the segment (8) | offset of the batch (8) | batch number (8)
 */
export const AUDIT_INDEX = 'audit-index'

const RECORDS_PER_ROW = 1024

/** A batch gets a row when it holds the first record of a new block of 1,024. */
export function noteBatch(table: Table, firstSequence: number, position: AppliedPosition): void {
  const crosses = Math.floor(position.sequence / RECORDS_PER_ROW) > Math.floor((firstSequence - 1) / RECORDS_PER_ROW)
  if (!crosses) return
  const key = Buffer.allocUnsafe(16)
  writeNumber(key, position.timeMicroseconds, 0)
  writeNumber(key, position.sequence, 8)
  const value = Buffer.allocUnsafe(24)
  writeNumber(value, position.segmentFirstSequence, 0)
  writeNumber(value, position.batchOffset, 8)
  writeNumber(value, position.batch, 16)
  table.put(key, value)
}

/** A place in the journal from which every record at or after a time is reached by reading on. */
export interface AuditPlace {
  readonly segmentFirstSequence: number
  readonly batchOffset: number
  readonly batch: number
}

function placeOf(value: Buffer): AuditPlace {
  return { segmentFirstSequence: readNumber(value, 0), batchOffset: readNumber(value, 8), batch: readNumber(value, 16) }
}

/**
 * The last indexed batch of a segment that ends before a sequence, or undefined when the segment must be read from its
 * start. `sinceMicroseconds`: no record of the segment is earlier.
 */
export function placeInSegment(
  table: TableReader,
  segmentFirstSequence: number,
  sinceMicroseconds: number,
  sequence: number,
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
export function placeBefore(table: TableReader, timeMicroseconds: number): AuditPlace | undefined {
  const start = Buffer.alloc(16)
  writeNumber(start, timeMicroseconds, 0)
  for (const { value } of table.rows({ start, reverse: true, limit: 1 })) return placeOf(value)
  return undefined
}
