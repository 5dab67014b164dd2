import { type BucketId, type Sequence, sequenceOf } from '../../engine/brands.ts'
import { NUMBER_BYTES, numberKey, readNumber } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'
import { versionKey } from './versions.ts'

/**
 * `lock-changes`: which entries changed the lock of a version after it was written, for proof bundles. The key is as in
 * `versions`, the value the sequences of the entries (8 each), the earliest first.
 */

/** Maximum changes in the proof bundle of one version. */
export const LOCK_CHANGES_MAXIMUM = 100

export function addLockChange(table: Table, bucketId: BucketId, key: string, version: Sequence, entry: Sequence): void {
  const row = versionKey(bucketId, key, version)
  const before = table.get(row) ?? Buffer.alloc(0)
  // One more than is ever reported, which shows that some are left out.
  if (before.length > LOCK_CHANGES_MAXIMUM * NUMBER_BYTES) return
  table.put(row, Buffer.concat([before, numberKey(entry)]))
}

export function removeLockChanges(table: Table, bucketId: BucketId, key: string, version: Sequence): void {
  table.remove(versionKey(bucketId, key, version))
}

/** At most one more than `LOCK_CHANGES_MAXIMUM`. */
export function getLockChanges(table: TableReader, bucketId: BucketId, key: string, version: Sequence): Sequence[] {
  const entries = table.get(versionKey(bucketId, key, version))
  if (entries === undefined) return []
  return Array.from({ length: entries.length / NUMBER_BYTES }, (_, at) =>
    sequenceOf(readNumber(entries, at * NUMBER_BYTES)),
  )
}
