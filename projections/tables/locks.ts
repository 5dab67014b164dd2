import type { BucketId, Sequence } from '../../engine/brands.ts'
import { type LockState, lockState } from '../../engine/events/values.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'
import { packed } from './row-codecs.ts'
import { versionKey } from './versions.ts'

/**
 * `locks`: one row for each version that has a lock, elapsed ones included. The key is as in `versions`, the value is
 * MessagePack of the lock as it is in the journal.
 */
const rows = packed(lockState)

export const decodeLockRow: (value: Buffer) => LockState = rows.decode

export function putLock(table: Table, bucketId: BucketId, key: string, sequence: Sequence, lock: LockState): void {
  table.put(versionKey(bucketId, key, sequence), rows.encode(lock))
}

/** Whether the row of a version, or its absence, says the same of its lock as `lock`. */
export function isLock(
  table: TableReader,
  bucketId: BucketId,
  key: string,
  sequence: Sequence,
  lock: LockState | undefined,
): boolean {
  const value = table.get(versionKey(bucketId, key, sequence))
  if (value === undefined || lock === undefined) return value === undefined && lock === undefined
  return value.equals(rows.encode(lock))
}

export function removeLock(table: Table, bucketId: BucketId, key: string, sequence: Sequence): void {
  table.remove(versionKey(bucketId, key, sequence))
}
