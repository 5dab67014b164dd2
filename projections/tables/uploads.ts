import { type BucketId, microsecondsOf, type PayloadId, type UploadId, uploadIdOf } from '../../engine/brands.ts'
import { microseconds, optional, pairs } from '../../engine/events/schema/kinds.ts'
import { field, record, trailing } from '../../engine/events/schema/record.ts'
import { lockState, retention, uploadChecksum } from '../../engine/events/values.ts'
import type { PartState, UploadState } from '../../engine/state-ports.ts'
import { NUMBER_BYTES, numberKey, readNumber, readPayload, writeNumber } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'
import { packed } from './row-codecs.ts'
import { endOfPrefix, escapedPrefix, keyOfOrderedRow, orderedRowKey, orderOf } from './version-keys.ts'

/**
 * `uploads`: multipart uploads in progress, oldest first within a key.
 *
 *   key   = bucket id | key | end (version-keys.ts), order = number of the upload
 *   value = MessagePack [created (microseconds), headers, metadata, lock, default retention at creation, asked checksum,
 *           order time of the creation where that differs, tags where there are any]
 *
 * `parts`: upload (8) | part number (4) -> size (8) | MD5 (16) | modified (8) | payload (8) | checksum (its length, or none)
 */

const rows = packed(
  record('upload', {
    createdMicroseconds: field(microseconds, 'created'),
    headers: field(pairs, 'headers'),
    metadata: field(pairs, 'metadata'),
    lock: field(optional(lockState), 'lock'),
    given: field(optional(retention), 'default'),
    checksum: field(optional(uploadChecksum), 'checksum'),
    agedMicroseconds: field(optional(microseconds), 'aged from'),
    tags: trailing(optional(pairs), undefined, 'tags'),
  }),
)

export function uploadKey(bucketId: BucketId, key: string, upload: UploadId): Buffer {
  return orderedRowKey(bucketId, key, upload)
}

export function getUpload(
  table: TableReader,
  bucketId: BucketId,
  key: string,
  upload: UploadId,
): UploadState | undefined {
  const value = table.get(uploadKey(bucketId, key, upload))
  return value === undefined ? undefined : decodeUpload(upload, value)
}

/** The first uploads in progress of a bucket, by key. */
export function uploadsOfBucket(
  table: TableReader,
  bucketId: BucketId,
  limit: number,
): { readonly key: string; readonly upload: UploadId }[] {
  const whole = Buffer.alloc(0)
  const range = { start: escapedPrefix(bucketId, whole), end: endOfPrefix(bucketId, whole), limit }
  return Array.from(table.keys(range), (row) => ({ key: keyOfOrderedRow(row), upload: uploadIdOf(orderOf(row)) }))
}

export function decodeUpload(upload: UploadId, value: Buffer): UploadState {
  return { upload, ...rows.decode(value) }
}

export function putUpload(table: Table, bucketId: BucketId, key: string, upload: UploadState): void {
  table.put(
    uploadKey(bucketId, key, upload.upload),
    rows.encode({ ...upload, agedMicroseconds: upload.agedMicroseconds, tags: upload.tags }),
  )
}

const PART_AT = { size: 0, md5: 8, modified: 24, payload: 32, end: 40 } as const

export function partKey(upload: UploadId, part: number): Buffer {
  const row = Buffer.allocUnsafe(NUMBER_BYTES + 4)
  writeNumber(row, upload, 0)
  row.writeUInt32BE(part, NUMBER_BYTES)
  return row
}

export function putPart(table: Table, upload: UploadId, part: PartState): void {
  const value = Buffer.allocUnsafe(PART_AT.end + (part.checksum?.length ?? 0))
  writeNumber(value, part.size, PART_AT.size)
  value.set(part.md5, PART_AT.md5)
  writeNumber(value, part.modifiedMicroseconds, PART_AT.modified)
  writeNumber(value, part.payload ?? 0, PART_AT.payload)
  if (part.checksum !== undefined) value.set(part.checksum, PART_AT.end)
  table.put(partKey(upload, part.part), value)
}

function decodePart(part: number, value: Buffer): PartState {
  return {
    part,
    size: readNumber(value, PART_AT.size),
    md5: value.subarray(PART_AT.md5, PART_AT.modified),
    modifiedMicroseconds: microsecondsOf(readNumber(value, PART_AT.modified)),
    payload: readPayload(value, PART_AT.payload),
    checksum: value.length === PART_AT.end ? undefined : value.subarray(PART_AT.end),
  }
}

/** The payload of a row of parts; undefined for no bytes. */
export function payloadOfPart(value: Buffer): PayloadId | undefined {
  return readPayload(value, PART_AT.payload)
}

export function sizeOfPart(value: Buffer): number {
  return readNumber(value, PART_AT.size)
}

export function getPart(table: TableReader, upload: UploadId, part: number): PartState | undefined {
  const value = table.get(partKey(upload, part))
  return value === undefined ? undefined : decodePart(part, value)
}

/** Parts of an upload by number, after `after`. */
export function* partsOf(table: TableReader, upload: UploadId, after = 0, limit?: number): Generator<PartState> {
  const range = { start: partKey(upload, after + 1), end: numberKey(upload + 1) }
  for (const { key, value } of table.rows(limit === undefined ? range : { ...range, limit })) {
    yield decodePart(key.readUInt32BE(NUMBER_BYTES), value)
  }
}
