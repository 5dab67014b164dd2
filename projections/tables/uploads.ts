import { Packr } from 'msgpackr'
import type { HeaderPairs } from '../../engine/events/changes.ts'
import { decodeLock, encodeLock, type StoredLock } from '../../engine/events/value-codec.ts'
import type { PartState, UploadState } from '../../engine/state-ports.ts'
import { NUMBER_BYTES, numberKey, readNumber, writeNumber } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'
import { orderedRowKey } from './version-keys.ts'

/**
 * `uploads`: multipart uploads in progress, oldest first within a key.
 *
 *   key   = bucket id | key | end (version-keys.ts), order = number of the upload
 *   value = MessagePack [created (microseconds), headers, metadata, lock]
 *
 * `parts`: upload (8) | part number (4) -> size (8) | MD5 (16) | modified (8) | payload (8)
 *
 * `upload-usage`: one row, uploads (8) | parts (8) | bytes of the parts (8)
 */
export const UPLOADS = 'uploads'
export const PARTS = 'parts'
export const UPLOAD_USAGE = 'upload-usage'

const packr = new Packr({ useRecords: false, int64AsType: 'number' })
type StoredUpload = [created: number, headers: HeaderPairs, metadata: HeaderPairs, lock: StoredLock | null]

export function uploadKey(bucketId: number, key: string, upload: number): Buffer {
  return orderedRowKey(bucketId, key, upload)
}

export function getUpload(table: TableReader, bucketId: number, key: string, upload: number): UploadState | undefined {
  const value = table.get(uploadKey(bucketId, key, upload))
  return value === undefined ? undefined : decodeUpload(upload, value)
}

export function decodeUpload(upload: number, value: Buffer): UploadState {
  const [createdMicroseconds, headers, metadata, lock] = packr.unpack(value) as StoredUpload
  return { upload, createdMicroseconds, headers, metadata, lock: lock === null ? undefined : decodeLock(lock) }
}

export function putUpload(table: Table, bucketId: number, key: string, upload: UploadState): void {
  const { createdMicroseconds, headers, metadata, lock } = upload
  const stored: StoredUpload = [createdMicroseconds, headers, metadata, lock === undefined ? null : encodeLock(lock)]
  table.put(uploadKey(bucketId, key, upload.upload), packr.pack(stored))
}

const PART_AT = { size: 0, md5: 8, modified: 24, payload: 32, end: 40 } as const

export function partKey(upload: number, part: number): Buffer {
  const row = Buffer.allocUnsafe(NUMBER_BYTES + 4)
  writeNumber(row, upload, 0)
  row.writeUInt32BE(part, NUMBER_BYTES)
  return row
}

export function putPart(table: Table, upload: number, part: PartState): void {
  const value = Buffer.allocUnsafe(PART_AT.end)
  writeNumber(value, part.size, PART_AT.size)
  value.set(part.md5, PART_AT.md5)
  writeNumber(value, part.modifiedMicroseconds, PART_AT.modified)
  writeNumber(value, part.payload, PART_AT.payload)
  table.put(partKey(upload, part.part), value)
}

function decodePart(part: number, value: Buffer): PartState {
  return {
    part,
    size: readNumber(value, PART_AT.size),
    md5: value.subarray(PART_AT.md5, PART_AT.modified),
    modifiedMicroseconds: readNumber(value, PART_AT.modified),
    payload: readNumber(value, PART_AT.payload),
  }
}

export function getPart(table: TableReader, upload: number, part: number): PartState | undefined {
  const value = table.get(partKey(upload, part))
  return value === undefined ? undefined : decodePart(part, value)
}

/** Parts of an upload by number, from behind `after`. */
export function* partsOf(table: TableReader, upload: number, after = 0, limit?: number): Generator<PartState> {
  const range = { start: partKey(upload, after + 1), end: numberKey(upload + 1) }
  for (const { key, value } of table.rows(limit === undefined ? range : { ...range, limit })) {
    yield decodePart(key.readUInt32BE(NUMBER_BYTES), value)
  }
}

/** Uploads in progress and what they hold. Bytes are those of the parts. */
export interface UploadUsage {
  uploads: number
  parts: number
  bytes: number
}

const USAGE_KEY = Buffer.from('uploads')

export function getUploadUsage(table: TableReader): UploadUsage {
  const value = table.get(USAGE_KEY)
  if (value === undefined) return { uploads: 0, parts: 0, bytes: 0 }
  return { uploads: readNumber(value, 0), parts: readNumber(value, 8), bytes: readNumber(value, 16) }
}

export function putUploadUsage(table: Table, usage: UploadUsage): void {
  const value = Buffer.allocUnsafe(24)
  writeNumber(value, usage.uploads, 0)
  writeNumber(value, usage.parts, 8)
  writeNumber(value, usage.bytes, 16)
  table.put(USAGE_KEY, value)
}
