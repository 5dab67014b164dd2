import { Packr } from 'msgpackr'
import type { LockState } from '../../engine/events/changes.ts'
import { decodeLock, encodeLock, type StoredLock } from '../../engine/events/value-codec.ts'
import type { Table } from '../lmdb-environment.ts'
import { versionKey } from './versions.ts'

/**
 * `locks`: the lock table, one row for each version that has a lock record, elapsed ones included.
 *
 *   key   = as in `versions`
 *   value = MessagePack of the lock as it is in the journal
 */
export const LOCKS = 'locks'

const packr = new Packr({ useRecords: false, int64AsType: 'number' })

export function putLock(table: Table, bucketId: number, key: string, sequence: number, lock: LockState): void {
  table.put(versionKey(bucketId, key, sequence), packr.pack(encodeLock(lock)))
}

export function removeLock(table: Table, bucketId: number, key: string, sequence: number): void {
  table.remove(versionKey(bucketId, key, sequence))
}

export function decodeLockRow(value: Buffer): LockState {
  return decodeLock(packr.unpack(value) as StoredLock)
}
