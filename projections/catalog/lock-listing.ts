import { type BucketId, bucketIdOf, type Sequence } from '../../engine/brands.ts'
import type { LockState } from '../../engine/events/values.ts'
import { numberKey, readNumber } from '../keys.ts'
import { decodeLockRow } from '../tables/locks.ts'
import type { Tables } from '../tables/table-list.ts'
import { keyOfOrderedRow, orderedRowKey, orderOfSequence } from '../tables/version-keys.ts'
import { getVersionAt, sequenceOfRow } from '../tables/versions.ts'

/** A version with a lock. */
export interface LockedVersion {
  readonly bucketId: BucketId
  readonly key: string
  readonly sequence: Sequence
  /** Whether its version id is `null`. */
  readonly isNull: boolean
  readonly lock: LockState
}

/** The place after a version in the order of the locks; the version need not exist any more. */
export type LockedPlace = Pick<LockedVersion, 'bucketId' | 'key' | 'sequence'>

export interface LockedPage {
  /** By bucket in the order of creation, then by key, then newest first. */
  readonly versions: readonly LockedVersion[]
  /** The next page starts after this version; undefined at the end of the table. */
  readonly next: LockedPlace | undefined
}

/**
 * One page of the lock table, of one bucket or of all.
 * @param after `next` of the previous page, in the same bucket if there is one
 */
export function listLocked(
  tables: Tables,
  bucketId: BucketId | undefined,
  after: LockedPlace | undefined,
  limit: number,
): LockedPage {
  const first = bucketId === undefined ? undefined : numberKey(bucketId)
  const begin = after === undefined ? first : rowAfter(after)
  const end = bucketId === undefined ? undefined : numberKey(bucketId + 1)
  const range = { ...(begin && { start: begin }), ...(end && { end }), limit: limit + 1 }
  const rows = [...tables.locks.rows(range)]
  const versions = rows.slice(0, limit).map(({ key: row, value }) => {
    const place = { bucketId: bucketIdOf(readNumber(row, 0)), key: keyOfOrderedRow(row), sequence: sequenceOfRow(row) }
    const version = getVersionAt(tables, place.bucketId, place.key, place.sequence)
    return { ...place, isNull: version?.isNull === true, lock: decodeLockRow(value) }
  })
  return { versions, next: rows.length > limit ? versions.at(-1) : undefined }
}

/** Newer versions come first, so the next row may be the version before. */
function rowAfter({ bucketId, key, sequence }: LockedPlace): Buffer {
  return orderedRowKey(bucketId, key, orderOfSequence(sequence) + 1)
}
