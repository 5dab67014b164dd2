/**
 * Tables of what ends, in the order of the ends, so that a clock is set back only over a time in which nothing ended
 * (spec/decisions/0019-object-lock-and-clocks.md). What has no end has no row; what has ended keeps its row.
 *
 *   lock-ends               end (8) | bucket id (8) | version (8)   -> key in UTF-8
 *   link-ends, access-ends  end (8) | id                            -> what it is, such as `share`
 *
 * An end is in milliseconds since 1970: the first one at which it has ended.
 */
import type { BucketId, Microseconds, Milliseconds, Sequence } from '../../engine/brands.ts'
import type { LockState } from '../../engine/events/values.ts'
import type { EndsSpan } from '../../engine/state-ports.ts'
import { NUMBER_BYTES, numberKey } from '../keys.ts'
import type { Row, Table, TableReader } from '../lmdb-environment.ts'

/** Puts the end of a lock; `key`: of the object. A legal hold has no end. */
export function putLockEnd(table: Table, bucketId: BucketId, key: string, version: Sequence, lock: LockState): void {
  const row = lockRow(bucketId, version, lock)
  if (row !== undefined) table.put(row, Buffer.from(key))
}

export function removeLockEnd(table: Table, bucketId: BucketId, version: Sequence, lock: LockState | undefined): void {
  const row = lockRow(bucketId, version, lock)
  if (row !== undefined) table.remove(row)
}

function lockRow(bucketId: BucketId, version: Sequence, lock: LockState | undefined): Buffer | undefined {
  const end = lock?.retention?.untilMilliseconds
  return end === undefined ? undefined : Buffer.concat([end, bucketId, version].map(numberKey))
}

/** Something other than a lock, which ends when its expiry is reached. */
export interface Ending {
  readonly kind: 'share' | 'embed' | 'management token' | 'credential'
  readonly id: string
  readonly expiresMicroseconds: Microseconds | undefined
}

export function putEnd(table: Table, ending: Ending): void {
  const row = endRow(ending)
  if (row !== undefined) table.put(row, Buffer.from(ending.kind))
}

export function removeEnd(table: Table, ending: Ending): void {
  const row = endRow(ending)
  if (row !== undefined) table.remove(row)
}

function endRow({ id, expiresMicroseconds }: Ending): Buffer | undefined {
  if (expiresMicroseconds === undefined) return undefined
  return Buffer.concat([numberKey(Math.ceil(expiresMicroseconds / 1000)), Buffer.from(id)])
}

/** The first key of an end that is later. */
function keyAfter(time: Milliseconds): Buffer {
  return numberKey(time + 1)
}

/** At most `limit` rows of what ends in a span, the first end first. */
export function rowsEnding(table: TableReader, { after, through }: EndsSpan, limit: number): Row[] {
  return Array.from(table.rows({ start: keyAfter(after), end: keyAfter(through), limit }))
}

/** Whether something ends in a span. */
export function endsIn(table: TableReader, span: EndsSpan): boolean {
  return rowsEnding(table, span, 1).length > 0
}

/** The id in a row of links or access. */
export function idOfEnd({ key }: Row): string {
  return key.toString('utf8', NUMBER_BYTES)
}
