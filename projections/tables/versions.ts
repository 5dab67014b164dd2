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
 * The current object of a key stands in `objects` and not here; a key whose newest row here has none there is hidden
 * behind a delete marker.
 *
 * `null-versions`: as the key of `objects` -> sequence (8) of the `null` version or marker of a key, where it stands in
 * `versions`.
 */
export const VERSIONS = 'versions'
export const NULL_VERSIONS = 'null-versions'

export function versionKey(bucketId: number, key: string, sequence: number): Buffer {
  return orderedRowKey(bucketId, key, orderOfSequence(sequence))
}

export function sequenceOfRow(row: Buffer): number {
  return sequenceOfOrder(orderOf(row))
}

/** The two tables, and the one of current objects, that hold the versions of keys. */
export interface VersionTables<T = TableReader> {
  readonly objects: T
  readonly versions: T
  readonly nullVersions: T
}

/** The version that the entry at a sequence wrote, whatever its id. */
export function getVersionAt(
  { objects, versions }: VersionTables,
  bucketId: number,
  key: string,
  sequence: number,
): ObjectState | undefined {
  if (sequence < 0) return undefined
  const current = getObject(objects, bucketId, key)
  if (current?.sequence === sequence) return current
  const value = versions.get(versionKey(bucketId, key, sequence))
  return value === undefined ? undefined : decodeObject(value)
}

/** A certain version of a key, wherever it stands. */
export function getVersion(
  tables: VersionTables,
  bucketId: number,
  key: string,
  version: 'null' | number,
): ObjectState | undefined {
  if (version !== 'null') {
    const found = getVersionAt(tables, bucketId, key, version)
    // The id of a `null` version is `null` and no other.
    return found?.isNull === true ? undefined : found
  }
  const current = getObject(tables.objects, bucketId, key)
  if (current?.isNull === true) return current
  const sequence = getNullVersion(tables.nullVersions, bucketId, key)
  return sequence === undefined ? undefined : getVersionAt(tables, bucketId, key, sequence)
}

/** The newest version or marker of a key but the one of `sequence`. */
export function newestVersionBut(
  { objects, versions }: VersionTables,
  bucketId: number,
  key: string,
  sequence: number,
): ObjectState | undefined {
  const current = getObject(objects, bucketId, key)
  if (current !== undefined && current.sequence !== sequence) return current
  for (const { value } of versions.rows({ ...keyRange(bucketId, key), limit: 2 })) {
    const found = decodeObject(value)
    if (found.sequence !== sequence) return found
  }
  return undefined
}

function keyRange(bucketId: number, key: string): { readonly start: Buffer; readonly end: Buffer } {
  const start = rowsOfKey(bucketId, key)
  return { start, end: successor(start) as Buffer }
}

/** Whether a bucket has no object, version or marker. */
export function bucketHasNothing({ objects, versions }: VersionTables, bucketId: number): boolean {
  const range = { start: numberKey(bucketId), end: numberKey(bucketId + 1), limit: 1 }
  for (const _ of objects.keys(range)) return false
  for (const _ of versions.keys(range)) return false
  return true
}

function getNullVersion(table: TableReader, bucketId: number, key: string): number | undefined {
  const value = table.get(objectKey(bucketId, key))
  return value === undefined ? undefined : readNumber(value, 0)
}

/** Puts a noncurrent version or a marker where it belongs. */
export function putVersion(
  { versions, nullVersions }: VersionTables<Table>,
  bucketId: number,
  key: string,
  version: ObjectState,
): void {
  versions.put(versionKey(bucketId, key, version.sequence), encodeObject(version))
  if (version.isNull) nullVersions.put(objectKey(bucketId, key), numberKey(version.sequence))
}

/** Takes a noncurrent version or a marker away; undefined when it is not there. */
export function takeVersion(
  { versions, nullVersions }: VersionTables<Table>,
  bucketId: number,
  key: string,
  sequence: number,
): ObjectState | undefined {
  const row = versionKey(bucketId, key, sequence)
  const value = versions.get(row)
  if (value === undefined) return undefined
  versions.remove(row)
  const version = decodeObject(value)
  if (version.isNull) nullVersions.remove(objectKey(bucketId, key))
  return version
}
