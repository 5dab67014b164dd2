import type { BucketId } from '../../engine/brands.ts'
import { NUMBER_BYTES, successor, writeNumber } from '../keys.ts'
import type { Row } from '../lmdb-environment.ts'
import { listOrdered, type OrderedPage, type OrderedRequest, type ScanStart } from './ordered-listing.ts'
import { decodeListedVersion, keyOfRow, type ListedVersion } from '../tables/objects.ts'
import { endOfPrefix, escapedPrefix, keyOfOrderedRow, sequenceOfOrder } from '../tables/version-keys.ts'
import { newestVersion, sequenceOfRow, type VersionTables, versionKey } from '../tables/versions.ts'

/** One page of the versions and delete markers of a bucket: by key, newest first within a key. */
export function listVersions(
  tables: VersionTables,
  bucketId: BucketId,
  request: OrderedRequest,
): OrderedPage<ListedVersion> {
  return listOrdered(request, (start, limit) => scan(tables, bucketId, request.prefix, start, limit))
}

/** The current objects and the other versions, merged: within a key the current object is the newest. */
function* scan(
  tables: VersionTables,
  bucketId: BucketId,
  prefix: Buffer,
  start: ScanStart,
  limit: number,
): Generator<ListedVersion> {
  const resumed = start.afterOrder === undefined ? undefined : start.bytes.toString()
  let lastKey: string | undefined
  const currents = new Reading(currentRows(tables, bucketId, prefix, start, limit), keyOfRow)
  const others = new Reading(otherRows(tables, bucketId, prefix, start, limit), keyOfOrderedRow)
  try {
    for (;;) {
      const current = currents.head
      const other = others.head
      // The other versions of a key whose current object was returned come before the next current object.
      const isNext = current !== undefined && other?.key !== lastKey
      if (current !== undefined && (other === undefined || (isNext && compare(current, other) <= 0))) {
        currents.advance()
        const entry = entryOf(current, true)
        // Deletions may have made a version current that is before the beginning of the page.
        const isBefore = current.key === resumed && entry.order <= (start.afterOrder as number)
        if (!isBefore) yield entry
        lastKey = current.key
      } else if (other !== undefined) {
        others.advance()
        const isFirst = other.key !== lastKey
        yield entryOf(other, isFirst && (other.key !== resumed || isNewest(tables, bucketId, other)))
        lastKey = other.key
      } else {
        return
      }
    }
  } finally {
    // Most pages end before the rows do; an open iterator occupies one of LMDB's few slots for readers.
    currents.close()
    others.close()
  }
}

function entryOf({ key, row }: KeyedRow, isLatest: boolean): ListedVersion {
  return decodeListedVersion(key, row.value, isLatest)
}

function isNewest(tables: VersionTables, bucketId: BucketId, { key, row }: KeyedRow): boolean {
  return newestVersion(tables, bucketId, key)?.sequence === sequenceOfRow(row.key)
}

/** Keys as S3 sorts them: by their bytes. */
function compare(left: KeyedRow, right: KeyedRow): number {
  if (left.key === right.key) return 0
  return Buffer.compare(Buffer.from(left.key), Buffer.from(right.key))
}

interface KeyedRow {
  readonly key: string
  readonly row: Row
}

/** Rows one by one; `head` is the next. */
class Reading {
  head: KeyedRow | undefined
  readonly #rows: Iterator<Row>
  readonly #keyOf: (row: Buffer) => string

  constructor(rows: Iterable<Row>, keyOf: (row: Buffer) => string) {
    this.#rows = rows[Symbol.iterator]()
    this.#keyOf = keyOf
    this.advance()
  }

  advance(): void {
    const step = this.#rows.next()
    this.head = step.done === true ? undefined : { key: this.#keyOf(step.value.key), row: step.value }
  }

  close(): void {
    this.#rows.return?.()
  }
}

/** One row more than wanted: the first may be before the beginning of the page. */
function currentRows(
  { objects }: VersionTables,
  bucketId: BucketId,
  prefix: Buffer,
  { bytes }: ScanStart,
  limit: number,
): Iterable<Row> {
  const end = successor(rawKey(bucketId, prefix)) as Buffer
  return objects.rows({ start: rawKey(bucketId, bytes), end, limit: limit + 1 })
}

/** A key of `objects`. */
function rawKey(bucketId: BucketId, bytes: Buffer): Buffer {
  const row = Buffer.allocUnsafe(NUMBER_BYTES + bytes.length)
  writeNumber(row, bucketId, 0)
  bytes.copy(row, NUMBER_BYTES)
  return row
}

function otherRows(
  { versions }: VersionTables,
  bucketId: BucketId,
  prefix: Buffer,
  { bytes, afterOrder }: ScanStart,
  limit: number,
): Iterable<Row> {
  const start =
    afterOrder === undefined
      ? escapedPrefix(bucketId, bytes)
      : versionKey(bucketId, bytes.toString(), sequenceOfOrder(afterOrder + 1))
  return versions.rows({ start, end: endOfPrefix(bucketId, prefix), limit })
}
