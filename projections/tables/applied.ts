import { microsecondsOf, sequenceOf } from '../../engine/brands.ts'
import type { AppliedPosition } from '../../engine/journal/positions.ts'
import { readNumber, writeNumber } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'

/**
 * `applied`: one row, written in the same transaction as the rows that it describes (J14).
 *
 *   value = schema version (8) | sequence (8) | batch (8) | order time (8) | time (8) | segment number (8)
 *           | first sequence of the segment (8) | offset of the batch (8) | offset after it (8)
 *           | earliest time in the batch (8) | latest time in it (8) | hash (32)
 */

/** Raised whenever a table's layout changes; projections of an earlier version are rebuilt from the journal. */
export const SCHEMA_VERSION = 20

/** The projections were made by a newer program: they are not thrown away, and not read (specification, Versioning). */
export class ProjectionsNewerError extends Error {
  override readonly name = 'ProjectionsNewerError'

  constructor(version: number) {
    const known = `their layout is version ${version}, this program knows version ${SCHEMA_VERSION}`
    const ways = 'start the newer program, or make them again with "object-store projections rebuild"'
    super(`a newer program made the projections (${known}); ${ways}`)
  }
}

/** @throws ProjectionsNewerError */
export function refuseNewer(schemaVersion: number | undefined): void {
  if (schemaVersion !== undefined && schemaVersion > SCHEMA_VERSION) throw new ProjectionsNewerError(schemaVersion)
}

const KEY = Buffer.from('position')
/** Numbers of a position, in the order of the row. */
export const POSITION_NUMBERS = [
  'sequence',
  'batch',
  'orderMicroseconds',
  'timeMicroseconds',
  'segmentNumber',
  'segmentFirstSequence',
  'batchOffset',
  'offset',
  'earliestMicroseconds',
  'latestMicroseconds',
] as const
type PositionNumber = (typeof POSITION_NUMBERS)[number]
const HEAD_AT = 8 * (POSITION_NUMBERS.length + 1)
const HASH_BYTES = 32

export function putApplied(table: Table, position: AppliedPosition): void {
  const value = Buffer.allocUnsafe(HEAD_AT + HASH_BYTES)
  writeNumber(value, SCHEMA_VERSION, 0)
  POSITION_NUMBERS.forEach((field, index) => writeNumber(value, position[field], 8 * (index + 1)))
  value.set(position.head, HEAD_AT)
  table.put(KEY, value)
}

/** The row as it is stored. */
export function appliedRow(table: TableReader): Buffer | undefined {
  return table.get(KEY)
}

/** The position, and the version of the layout of all rows; undefined for an empty environment. */
export function getApplied(
  table: TableReader,
): { readonly schemaVersion: number; readonly position: AppliedPosition } | undefined {
  const value = table.get(KEY)
  if (value === undefined) return undefined
  const numberOf = (name: PositionNumber) => readNumber(value, 8 * (POSITION_NUMBERS.indexOf(name) + 1))
  const head = Uint8Array.from(value.subarray(HEAD_AT, HEAD_AT + HASH_BYTES))
  return {
    schemaVersion: readNumber(value, 0),
    position: positionFrom(numberOf, head),
  }
}

/** The version of the layout of all rows; undefined for an empty environment. Takes raw rows: an earlier layout may have no sums. */
export function layoutOf(table: TableReader): number | undefined {
  const value = table.get(KEY)
  return value && readNumber(value, 0)
}

/** A position of numbers that were stored somewhere. */
export function positionFrom(numberOf: (name: PositionNumber) => number, head: Uint8Array): AppliedPosition {
  return {
    sequence: sequenceOf(numberOf('sequence')),
    batch: numberOf('batch'),
    orderMicroseconds: microsecondsOf(numberOf('orderMicroseconds')),
    timeMicroseconds: microsecondsOf(numberOf('timeMicroseconds')),
    segmentNumber: numberOf('segmentNumber'),
    segmentFirstSequence: sequenceOf(numberOf('segmentFirstSequence')),
    batchOffset: numberOf('batchOffset'),
    offset: numberOf('offset'),
    earliestMicroseconds: microsecondsOf(numberOf('earliestMicroseconds')),
    latestMicroseconds: microsecondsOf(numberOf('latestMicroseconds')),
    // Only of a batch that is being applied.
    differ: false,
    descend: false,
    head,
  }
}
