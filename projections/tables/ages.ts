import { type BucketId, type Microseconds, microsecondsOf, sequenceOf } from '../../engine/brands.ts'
import type { AgePosition, LifecycleAction } from '../../engine/events/values.ts'
import { agedFrom } from '../../engine/domain/versions.ts'
import type { ObjectState } from '../../engine/state-ports.ts'
import { NUMBER_BYTES, readNumber, successor, writeNumber } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'

/**
 * `ages`: the current objects and the noncurrent versions of a bucket in the order in which they come due, so that a
 * page of a lifecycle rule starts with the oldest and ends at the first that is too young.
 *
 *   key   = bucket id (8) | kind (1) | time (8, microseconds) | version (8) value = key in UTF-8; before it, in the
 * kinds 2 and 3, the time that its age counts from (8)
 *
 * Kinds: 0 current objects by when they were written, 1 noncurrent versions by since when they are; 2 and 3 the same by
 * when they are to be looked at, because their place in the order of age has been passed: a lock held them, or they
 * became current again. A delete marker that is the newest of its key has no row: nothing expires it.
 */
const KIND_AT = NUMBER_BYTES
const TIME_AT = KIND_AT + 1
const VERSION_AT = TIME_AT + NUMBER_BYTES
const KEY_BYTES = VERSION_AT + NUMBER_BYTES
const NONCURRENT = 1
const REVISITED = 2

/** Due time of a version that is held until its lock changes. */
export const NEVER: Microseconds = microsecondsOf(Number.MAX_SAFE_INTEGER)

/** A version, and its place in the order of the rows. */
interface AgeRow extends AgePosition {
  readonly key: string
}

/** Parameters of a page. Times are in microseconds since 1970. */
export interface AgePageRequest {
  readonly action: LifecycleAction
  /** Rows of the kinds 2 and 3. */
  readonly revisited: boolean
  /** The page starts just after this place. */
  readonly after: AgePosition | undefined
  /** No place after this time, inclusive. */
  readonly through: Microseconds
  /** Rows of other keys, or with a later age than this one, are passed over. */
  readonly prefix: string
  readonly since: Microseconds
  readonly entriesMaximum: number
  /** Rows read, at most; including rows that are passed over. */
  readonly rowsMaximum: number
}

/** Entries that are due, and where the reading of rows ended. */
export interface AgePage {
  readonly entries: readonly AgeRow[]
  /** The last row that was read; undefined where there was none. */
  readonly through: AgePosition | undefined
  /** Whether no further rows could be due. */
  readonly isLast: boolean
}

function rowKey(bucketId: BucketId, kind: number, time: number, version: number): Buffer {
  const row = Buffer.allocUnsafe(KEY_BYTES)
  writeNumber(row, bucketId, 0)
  row[KIND_AT] = kind
  writeNumber(row, time, TIME_AT)
  writeNumber(row, version, VERSION_AT)
  return row
}

function keyOf(bucketId: BucketId, version: ObjectState): Buffer | undefined {
  const { sequence, isMarker, noncurrentMicroseconds, revisitMicroseconds } = version
  if (isMarker && noncurrentMicroseconds === undefined) return undefined
  const kind =
    (noncurrentMicroseconds === undefined ? 0 : NONCURRENT) + (revisitMicroseconds === undefined ? 0 : REVISITED)
  const time = revisitMicroseconds ?? agedFrom(version)
  return rowKey(bucketId, kind, time, sequence)
}

export function putAge(table: Table, bucketId: BucketId, key: string, version: ObjectState): void {
  const row = keyOf(bucketId, version)
  if (row === undefined) return
  if (version.revisitMicroseconds === undefined) return table.put(row, Buffer.from(key))
  const value = Buffer.allocUnsafe(NUMBER_BYTES + Buffer.byteLength(key))
  writeNumber(value, agedFrom(version), 0)
  value.write(key, NUMBER_BYTES)
  return table.put(row, value)
}

export function removeAge(table: Table, bucketId: BucketId, version: ObjectState): void {
  const row = keyOf(bucketId, version)
  if (row !== undefined) table.remove(row)
}

/** One page of the entries that are due in a bucket, in the order of the places. */
export function agePage(table: TableReader, bucketId: BucketId, request: AgePageRequest): AgePage {
  const { revisited, prefix, since, entriesMaximum, rowsMaximum } = request
  const entries: AgeRow[] = []
  let through: AgePosition | undefined
  let rows = 0
  for (const { key: row, value } of table.rows({ ...rangeOf(bucketId, request), limit: rowsMaximum })) {
    rows += 1
    const timeMicroseconds = microsecondsOf(readNumber(row, TIME_AT))
    const sinceMicroseconds = revisited ? microsecondsOf(readNumber(value, 0)) : timeMicroseconds
    const key = value.toString('utf8', revisited ? NUMBER_BYTES : 0)
    through = { timeMicroseconds, version: sequenceOf(readNumber(row, VERSION_AT)) }
    if (sinceMicroseconds > since || !key.startsWith(prefix)) continue
    entries.push({ key, ...through })
    if (entries.length === entriesMaximum) return { entries, through, isLast: false }
  }
  return { entries, through, isLast: rows < rowsMaximum }
}

function rangeOf(
  bucketId: BucketId,
  { action, revisited, after, through }: AgePageRequest,
): { start: Buffer; end: Buffer } {
  const kind = (action === 'expiration' ? 0 : NONCURRENT) + (revisited ? REVISITED : 0)
  const last = rowKey(bucketId, kind, Math.max(0, through), 0).subarray(0, VERSION_AT)
  const start =
    after === undefined
      ? rowKey(bucketId, kind, 0, 0)
      : Buffer.concat([rowKey(bucketId, kind, after.timeMicroseconds, after.version), Buffer.alloc(1)])
  return { start, end: successor(last) as Buffer }
}
