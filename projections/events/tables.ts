import { type Microseconds, microsecondsOf, type Sequence, sequenceOf } from '../../engine/brands.ts'
import type { AppliedPosition } from '../../engine/journal/positions.ts'
import { numberKey, readNumber, writeNumber } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'
import type { AuditPlace } from '../tables/audit-index.ts'

/** The names of its tables. */
export const eventTables = {
  eventIndex: 'event-index',
  eventsBegan: 'events-began',
} as const

/**
 * Storage events are in the entries that make the changes, so nothing of them is written twice. Two tables say where to
 * read.
 *
 * `event-index`: each block of 256 sequences in which an entry makes an event has a row; the others are never read.
 *
 *   key   = number of the block (8)
 *   value = first sequence of the segment (8) | offset of the batch (8) | batch number (8), of the batch with the first
 *           such entry of the block
 *
 * `events-began`: one row, of the first entry from which on entries say all that storage events need.
 *
 *   value = sequence (8) | time (8)
 */

/** Small enough that a lone event costs one read of the disk, large enough that many events cost few rows. */
const SEQUENCES_PER_BLOCK = 256

const BEGAN = Buffer.from('began')

export function blockOf(sequence: number): number {
  return Math.floor(sequence / SEQUENCES_PER_BLOCK)
}

/** Notes that the batch which ends at a position has events in a block; the first batch of a block stays. */
export function noteBlock(table: Table, block: number, position: AppliedPosition): void {
  const key = numberKey(block)
  if (table.get(key) !== undefined) return
  const value = Buffer.allocUnsafe(24)
  writeNumber(value, position.segmentFirstSequence, 0)
  writeNumber(value, position.batchOffset, 8)
  writeNumber(value, position.batch, 16)
  table.put(key, value)
}

/** A block with events, and the batch with the first of them. */
interface EventBlock {
  readonly block: number
  readonly place: AuditPlace
}

/** The first block with events, from the block of a sequence on. */
export function blockFrom(table: TableReader, sequence: number): EventBlock | undefined {
  for (const { key, value } of table.rows({ start: numberKey(blockOf(sequence)), limit: 1 })) {
    const segmentFirstSequence = sequenceOf(readNumber(value, 0))
    const place = { segmentFirstSequence, batchOffset: readNumber(value, 8), batch: readNumber(value, 16) }
    return { block: readNumber(key, 0), place }
  }
  return undefined
}

/** The first sequence that can be in a block. */
export function startOfBlock(block: number): Sequence {
  return sequenceOf(block * SEQUENCES_PER_BLOCK)
}

/** Where storage events begin: at the first start. */
export interface EventsBeginning {
  readonly sequence: Sequence
  readonly timeMicroseconds: Microseconds
}

export function putEventsBegan(table: Table, { sequence, timeMicroseconds }: EventsBeginning): void {
  const value = Buffer.allocUnsafe(16)
  writeNumber(value, sequence, 0)
  writeNumber(value, timeMicroseconds, 8)
  table.put(BEGAN, value)
}

/** Undefined before the first start. */
export function getEventsBegan(table: TableReader): EventsBeginning | undefined {
  const value = table.get(BEGAN)
  if (value === undefined) return undefined
  return { sequence: sequenceOf(readNumber(value, 0)), timeMicroseconds: microsecondsOf(readNumber(value, 8)) }
}
