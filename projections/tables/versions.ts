import type { VersionSelector } from '../../engine/commands/version-name.ts'
import { type BucketId, type Sequence, sequenceOf } from '../../engine/brands.ts'
import type { ObjectState } from '../../engine/state-ports.ts'
import { numberKey, readNumber, successor } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'
import { decodeObject, encodeObject, getObject, objectKey } from './objects.ts'
import { orderedRowKey, orderOf, orderOfSequence, rowsOfKey, sequenceOfOrder } from './version-keys.ts'

/**
 * `versions`: every version that is not a current object, and every delete marker, newest first within a key.
 *
 *   key   = bucket id | key | end (version-keys.ts), order = highest number - sequence
 *   value = as in `objects`
 *
 * The current object of a key is in `objects` and not here; a key without one there is hidden by a delete marker, its
 * newest row here.
 *
 * `null-versions`: key as in `objects` -> sequence (8) of the `null` version or marker of the key that is in `versions`.
 */

export function versionKey(bucketId: BucketId, key: string, sequence: Sequence): Buffer {
  return orderedRowKey(bucketId, key, orderOfSequence(sequence))
}

export function sequenceOfRow(row: Buffer): Sequence {
  return sequenceOfOrder(orderOf(row))
}

/** The tables that hold the versions of keys. */
export interface VersionTables<T = TableReader> {
  readonly objects: T
  readonly versions: T
  readonly nullVersions: T
}

/** The version that the entry at a sequence wrote, whatever its id. */
export function getVersionAt(
  { objects, versions }: VersionTables,
  bucketId: BucketId,
  key: string,
  sequence: Sequence,
): ObjectState | undefined {
  const current = getObject(objects, bucketId, key)
  if (current?.sequence === sequence) return current
  const value = versions.get(versionKey(bucketId, key, sequence))
  return value === undefined ? undefined : decodeObject(value)
}

/** A version of a key, current or not. */
export function getVersion(
  tables: VersionTables,
  bucketId: BucketId,
  key: string,
  version: VersionSelector,
): ObjectState | undefined {
  if (version === 'unknown') return undefined
  if (version !== 'null') {
    const found = getVersionAt(tables, bucketId, key, version)
    // A `null` version has no other id.
    return found?.isNull === true ? undefined : found
  }
  const current = getObject(tables.objects, bucketId, key)
  if (current?.isNull === true) return current
  const sequence = getNullVersion(tables.nullVersions, bucketId, key)
  return sequence === undefined ? undefined : getVersionAt(tables, bucketId, key, sequence)
}

/** The newest version or marker of a key, except the one with the sequence `except`. */
export function newestVersion(
  { objects, versions }: VersionTables,
  bucketId: BucketId,
  key: string,
  except?: Sequence,
): ObjectState | undefined {
  const current = getObject(objects, bucketId, key)
  if (current !== undefined && current.sequence !== except) return current
  for (const { value } of versions.rows({ ...keyRange(bucketId, key), limit: 2 })) {
    const found = decodeObject(value)
    if (found.sequence !== except) return found
  }
  return undefined
}

function keyRange(bucketId: BucketId, key: string): { readonly start: Buffer; readonly end: Buffer } {
  const start = rowsOfKey(bucketId, key)
  return { start, end: successor(start) as Buffer }
}

/** Whether a bucket has no object, version or marker. */
export function bucketHasNothing({ objects, versions }: VersionTables, bucketId: BucketId): boolean {
  const range = { start: numberKey(bucketId), end: numberKey(bucketId + 1), limit: 1 }
  for (const _ of objects.keys(range)) return false
  for (const _ of versions.keys(range)) return false
  return true
}

function getNullVersion(table: TableReader, bucketId: BucketId, key: string): Sequence | undefined {
  const value = table.get(objectKey(bucketId, key))
  return value === undefined ? undefined : sequenceOf(readNumber(value, 0))
}

/** Stores a noncurrent version or a marker. */
export function putVersion(
  { versions, nullVersions }: VersionTables<Table>,
  bucketId: BucketId,
  key: string,
  version: ObjectState,
): void {
  versions.put(versionKey(bucketId, key, version.sequence), encodeObject(version))
  if (version.isNull) nullVersions.put(objectKey(bucketId, key), numberKey(version.sequence))
}

/** Removes and returns a noncurrent version or a marker; undefined when it does not exist. */
export function takeVersion(
  { versions, nullVersions }: VersionTables<Table>,
  bucketId: BucketId,
  key: string,
  sequence: Sequence,
): ObjectState | undefined {
  const row = versionKey(bucketId, key, sequence)
  const value = versions.get(row)
  if (value === undefined) return undefined
  versions.remove(row)
  const version = decodeObject(value)
  if (version.isNull) nullVersions.remove(objectKey(bucketId, key))
  return version
}
