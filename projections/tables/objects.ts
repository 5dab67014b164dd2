import { Packr } from 'msgpackr'
import type { HeaderPairs } from '../../engine/events/changes.ts'
import type { ObjectState } from '../../engine/state-ports.ts'
import { NUMBER_BYTES, readNumber, writeNumber } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'

/**
 * `objects`: the current object of every key, in S3's order within a bucket.
 *
 *   key   = bucket id (8) | key in UTF-8 (1 to 1024)
 *   value = version (1) | sequence (8) | modified (8) | size (8) | MD5 of the ETag (16) | parts (4) | payload (8)
 *           | SHA-256 (32) | MessagePack [headers, metadata], left out when both are empty
 *
 * The fields of a listing stand at fixed places, so that a page of 1,000 keys needs no decoding of MessagePack.
 * Parts is 0 for an object that was written whole: its ETag is the MD5 alone.
 */
export const OBJECTS = 'objects'

const ROW_VERSION = 1
const AT = { sequence: 1, modified: 9, size: 17, md5: 25, parts: 41, payload: 45, digest: 53, rest: 85 } as const
const packr = new Packr({ useRecords: false })
const NO_PAIRS: HeaderPairs = []

export function objectKey(bucketId: number, key: string): Buffer {
  const length = Buffer.byteLength(key)
  const bytes = Buffer.allocUnsafe(NUMBER_BYTES + length)
  writeNumber(bytes, bucketId, 0)
  bytes.write(key, NUMBER_BYTES)
  return bytes
}

/** The S3 key of a row. */
export function keyOfRow(row: Buffer): string {
  return row.toString('utf8', NUMBER_BYTES)
}

export function encodeObject(object: ObjectState): Buffer {
  const bare = object.headers.length === 0 && object.metadata.length === 0
  const rest = bare ? undefined : packr.pack([object.headers, object.metadata])
  const value = Buffer.allocUnsafe(AT.rest + (rest?.length ?? 0))
  const [md5, parts] = object.etag.split('-') as [string, string | undefined]
  value[0] = ROW_VERSION
  writeNumber(value, object.sequence, AT.sequence)
  writeNumber(value, object.modifiedMicroseconds, AT.modified)
  writeNumber(value, object.size, AT.size)
  value.write(md5, AT.md5, 'hex')
  value.writeUInt32BE(Number(parts ?? 0), AT.parts)
  writeNumber(value, object.payload, AT.payload)
  value.set(object.digest, AT.digest)
  rest?.copy(value, AT.rest)
  return value
}

function etagOf(value: Buffer): string {
  const parts = value.readUInt32BE(AT.parts)
  const md5 = value.toString('hex', AT.md5, AT.parts)
  return parts === 0 ? md5 : `${md5}-${parts}`
}

export function payloadOf(value: Buffer): number {
  return readNumber(value, AT.payload)
}

export function sizeOf(value: Buffer): number {
  return readNumber(value, AT.size)
}

export function decodeObject(value: Buffer): ObjectState {
  const [headers, metadata] =
    value.length === AT.rest
      ? [NO_PAIRS, NO_PAIRS]
      : (packr.unpack(value.subarray(AT.rest)) as [HeaderPairs, HeaderPairs])
  return {
    sequence: readNumber(value, AT.sequence),
    modifiedMicroseconds: readNumber(value, AT.modified),
    size: sizeOf(value),
    etag: etagOf(value),
    digest: value.subarray(AT.digest, AT.rest),
    headers,
    metadata,
    payload: payloadOf(value),
  }
}

/** What a listing shows of an object. */
export interface ListedObject {
  readonly key: string
  readonly lastModifiedMicroseconds: number
  readonly size: number
  /** Without quotes. */
  readonly etag: string
}

export function decodeListed(row: Buffer, value: Buffer): ListedObject {
  return {
    key: keyOfRow(row),
    lastModifiedMicroseconds: readNumber(value, AT.modified),
    size: sizeOf(value),
    etag: etagOf(value),
  }
}

export function getObject(table: TableReader, bucketId: number, key: string): ObjectState | undefined {
  const value = table.get(objectKey(bucketId, key))
  return value === undefined ? undefined : decodeObject(value)
}

export function bucketHasObjects(table: TableReader, bucketId: number): boolean {
  const start = Buffer.allocUnsafe(NUMBER_BYTES)
  const end = Buffer.allocUnsafe(NUMBER_BYTES)
  writeNumber(start, bucketId, 0)
  writeNumber(end, bucketId + 1, 0)
  for (const _ of table.keys({ start, end, limit: 1 })) return true
  return false
}

export function putObject(table: Table, bucketId: number, key: string, object: ObjectState): void {
  table.put(objectKey(bucketId, key), encodeObject(object))
}
