import { numberKey, readNumber, writeNumber } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'

/**
 * `bucket-usage`: bucket id (8) -> objects (8) | logical bytes (8) | noncurrent versions (8) | their bytes (8)
 *                 | delete markers (8).
 * `volume-usage`: volume (8) -> end of the bytes that were ever referred to (8) | payloads that live (8)
 *                 | bytes that live (8).
 * `file-usage`: one row, payload files that live (8) | bytes in them (8).
 */
export const BUCKET_USAGE = 'bucket-usage'
export const VOLUME_USAGE = 'volume-usage'
export const FILE_USAGE = 'file-usage'

export interface BucketUsage {
  /** Current objects and their bytes: what quotas limit. */
  objects: number
  bytes: number
  noncurrent: number
  noncurrentBytes: number
  markers: number
}

const BUCKET_FIELDS = ['objects', 'bytes', 'noncurrent', 'noncurrentBytes', 'markers'] as const

export interface VolumeUsage {
  end: number
  payloads: number
  bytes: number
}

export function decodeBucketUsage(value: Buffer): BucketUsage {
  const usage = { objects: 0, bytes: 0, noncurrent: 0, noncurrentBytes: 0, markers: 0 }
  BUCKET_FIELDS.forEach((field, index) => {
    usage[field] = readNumber(value, 8 * index)
  })
  return usage
}

export function getBucketUsage(table: TableReader, bucketId: number): BucketUsage {
  const value = table.get(numberKey(bucketId))
  if (value === undefined) return { objects: 0, bytes: 0, noncurrent: 0, noncurrentBytes: 0, markers: 0 }
  return decodeBucketUsage(value)
}

export function putBucketUsage(table: Table, bucketId: number, usage: BucketUsage): void {
  const value = Buffer.allocUnsafe(8 * BUCKET_FIELDS.length)
  BUCKET_FIELDS.forEach((field, index) => writeNumber(value, usage[field], 8 * index))
  table.put(numberKey(bucketId), value)
}

export interface FileUsage {
  files: number
  bytes: number
}

const FILE_USAGE_KEY = Buffer.from('files')

export function getFileUsage(table: TableReader): FileUsage {
  const value = table.get(FILE_USAGE_KEY)
  return value === undefined ? { files: 0, bytes: 0 } : { files: readNumber(value, 0), bytes: readNumber(value, 8) }
}

export function putFileUsage(table: Table, usage: FileUsage): void {
  const value = Buffer.allocUnsafe(16)
  writeNumber(value, usage.files, 0)
  writeNumber(value, usage.bytes, 8)
  table.put(FILE_USAGE_KEY, value)
}

export function decodeVolumeUsage(value: Buffer): VolumeUsage {
  return { end: readNumber(value, 0), payloads: readNumber(value, 8), bytes: readNumber(value, 16) }
}

export function getVolumeUsage(table: TableReader, volume: number): VolumeUsage {
  const value = table.get(numberKey(volume))
  return value === undefined ? { end: 0, payloads: 0, bytes: 0 } : decodeVolumeUsage(value)
}

export function putVolumeUsage(table: Table, volume: number, usage: VolumeUsage): void {
  const value = Buffer.allocUnsafe(24)
  writeNumber(value, usage.end, 0)
  writeNumber(value, usage.payloads, 8)
  writeNumber(value, usage.bytes, 16)
  table.put(numberKey(volume), value)
}
