import {
  type BucketId,
  type Microseconds,
  microsecondsOf,
  type PayloadId,
  type Sequence,
  sequenceOf,
} from '../../engine/brands.ts'
import { Packr } from 'msgpackr/index-no-eval'
import {
  CHECKSUM_ALGORITHMS,
  type HeaderPairs,
  lockState,
  objectChecksum,
  type UploadChecksum,
} from '../../engine/events/values.ts'
import type { ObjectState } from '../../engine/state-ports.ts'
import { NUMBER_BYTES, readNumber, readPayload, writeNumber } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'
import { orderOfSequence } from './version-keys.ts'

/**
 * `objects`: the current object of every key, in S3's order within a bucket.
 *
 *   key   = bucket id (8) | key in UTF-8 (1 to 1024)
 *   value = layout (1) | flags (1) | sequence (8) | modified (8) | size (8) | MD5 of the ETag (16) | parts (4)
 *           | payload (8) | SHA-256 (32) | noncurrent since (8, where flagged) | aged from (8, in layout 3)
 *           | revisit (8, where flagged)
 *           | MessagePack [headers, metadata, lock, checksum, renamed, tags], left out when all are empty
 *
 * Flags: 1 its version id is `null`, 2 it is a delete marker, 4 it is noncurrent (both in `versions` only), 8 its place in
 * `ages` is not by its age; 16 to 112 the algorithm of its checksum (16 times its place in the list of them, from 1), 128 a
 * checksum of checksums. Times are in microseconds. `modified` is the time that people see; noncurrent, aged and revisit are
 * order times, and aged is there only where it differs from `modified`.
 *
 * The fields of a listing have fixed places, so a page of 1,000 keys needs no decoding of MessagePack.
 * Parts is 0 for an object that was written whole: its ETag is the MD5 alone.
 */

const LAYOUT = { plain: 2, aged: 3 } as const
const AT = {
  flags: 1,
  sequence: 2,
  modified: 10,
  size: 18,
  md5: 26,
  parts: 42,
  payload: 46,
  digest: 54,
  times: 86,
} as const
const MD5_DIGITS = 32
const FLAG = { isNull: 1, isMarker: 2, isNoncurrent: 4, isRevisited: 8, isComposite: 128 } as const
const ALGORITHM = { shift: 4, mask: 7 } as const
/**
 * Headers, metadata, and optionally the lock, the checksum, the rename and the tags; a missing value before a present one is nil.
 */
type Rest = [HeaderPairs, HeaderPairs, unknown?, unknown?, (RenamedRow | null)?, (readonly string[])?]
type RenamedRow = readonly [token: string, key: string]
/** Place of the tags there. */
const REST_TAGS = 5
const packr = new Packr({ useRecords: false })
const NO_PAIRS: HeaderPairs = []

export function objectKey(bucketId: BucketId, key: string): Buffer {
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
  const rest = encodeRest(object)
  const flags = flagsOf(object)
  const layout = object.agedMicroseconds === undefined ? LAYOUT.plain : LAYOUT.aged
  const restAt = restOf(flags, layout)
  const value = Buffer.allocUnsafe(restAt + (rest?.length ?? 0))
  const { etag } = object
  const parts = etag.length === MD5_DIGITS ? 0 : Number(etag.slice(MD5_DIGITS + 1))
  value[0] = layout
  value[AT.flags] = flags
  writeNumber(value, object.sequence, AT.sequence)
  writeNumber(value, object.modifiedMicroseconds, AT.modified)
  writeNumber(value, object.size, AT.size)
  value.write(parts === 0 ? etag : etag.slice(0, MD5_DIGITS), AT.md5, 'hex')
  value.writeUInt32BE(parts, AT.parts)
  writeNumber(value, object.payload ?? 0, AT.payload)
  value.set(object.digest, AT.digest)
  if (object.noncurrentMicroseconds !== undefined) writeNumber(value, object.noncurrentMicroseconds, AT.times)
  if (object.agedMicroseconds !== undefined) writeNumber(value, object.agedMicroseconds, agedAt(flags))
  if (object.revisitMicroseconds !== undefined) writeNumber(value, object.revisitMicroseconds, restAt - NUMBER_BYTES)
  rest?.copy(value, restAt)
  return value
}

function flagsOf(object: ObjectState): number {
  const { isNull, isMarker, noncurrentMicroseconds, revisitMicroseconds, checksum } = object
  return (
    (checksum === undefined ? 0 : (CHECKSUM_ALGORITHMS.indexOf(checksum.algorithm) + 1) << ALGORITHM.shift) |
    (checksum?.composite === true ? FLAG.isComposite : 0) |
    (isNull ? FLAG.isNull : 0) |
    (isMarker ? FLAG.isMarker : 0) |
    (noncurrentMicroseconds === undefined ? 0 : FLAG.isNoncurrent) |
    (revisitMicroseconds === undefined ? 0 : FLAG.isRevisited)
  )
}

/** Offset of the MessagePack. */
function restOf(flags: number, layout: number): number {
  const times = (layout === LAYOUT.aged ? 1 : 0) + ((flags & FLAG.isRevisited) === 0 ? 0 : 1)
  return agedAt(flags) + times * NUMBER_BYTES
}

function agedAt(flags: number): number {
  return AT.times + ((flags & FLAG.isNoncurrent) === 0 ? 0 : NUMBER_BYTES)
}

function encodeRest({ headers, metadata, lock, checksum, renamed, tags }: ObjectState): Buffer | undefined {
  if (renamed !== undefined || checksum !== undefined || tags !== undefined) {
    const held = lock === undefined ? null : lockState.encode(lock)
    const sum = checksum === undefined ? null : objectChecksum.encode(checksum)
    const rest: Rest = [headers, metadata, held, sum]
    if (renamed !== undefined) rest.push([renamed.token, renamed.key])
    if (tags !== undefined) rest[REST_TAGS] = tags
    return packr.pack(rest)
  }
  if (lock !== undefined) return packr.pack([headers, metadata, lockState.encode(lock)] satisfies Rest)
  const bare = headers.length === 0 && metadata.length === 0
  return bare ? undefined : packr.pack([headers, metadata] satisfies Rest)
}

function etagOf(value: Buffer): string {
  const parts = value.readUInt32BE(AT.parts)
  const md5 = value.toString('hex', AT.md5, AT.parts)
  return parts === 0 ? md5 : `${md5}-${parts}`
}

export function decodeObject(value: Buffer): ObjectState {
  const flags = value[AT.flags] as number
  const layout = value[0] as number
  const restAt = restOf(flags, layout)
  const [headers, metadata, lock, checksum, renamed, tags] =
    value.length === restAt ? [NO_PAIRS, NO_PAIRS] : (packr.unpack(value.subarray(restAt)) as Rest)
  return {
    sequence: sequenceOf(readNumber(value, AT.sequence)),
    isNull: (flags & FLAG.isNull) !== 0,
    isMarker: (flags & FLAG.isMarker) !== 0,
    modifiedMicroseconds: microsecondsOf(readNumber(value, AT.modified)),
    agedMicroseconds: layout === LAYOUT.aged ? microsecondsOf(readNumber(value, agedAt(flags))) : undefined,
    size: readNumber(value, AT.size),
    etag: etagOf(value),
    digest: value.subarray(AT.digest, AT.times),
    headers,
    metadata,
    payload: readPayload(value, AT.payload),
    lock: lock === undefined || lock === null ? undefined : lockState.decode(lock, 'lock'),
    checksum: checksum === undefined || checksum === null ? undefined : objectChecksum.decode(checksum, 'checksum'),
    renamed: renamed ? { token: renamed[0], key: renamed[1] } : undefined,
    tags,
    noncurrentMicroseconds: (flags & FLAG.isNoncurrent) === 0 ? undefined : microsecondsOf(readNumber(value, AT.times)),
    revisitMicroseconds:
      (flags & FLAG.isRevisited) === 0 ? undefined : microsecondsOf(readNumber(value, restAt - NUMBER_BYTES)),
  }
}

/** The payload of a row of objects or versions; undefined for a marker and for no bytes. */
export function payloadOfRow(value: Buffer): PayloadId | undefined {
  return readPayload(value, AT.payload)
}

/** An object as a listing shows it. */
export interface ListedObject {
  readonly key: string
  readonly lastModifiedMicroseconds: Microseconds
  readonly size: number
  /** Without quotes. */
  readonly etag: string
  /** Which checksum it has. */
  readonly checksum: UploadChecksum | undefined
}

function listedChecksum(flags: number): UploadChecksum | undefined {
  const place = (flags >> ALGORITHM.shift) & ALGORITHM.mask
  // An array's element -1 is looked up as a property by its name, which took 0.1 us a row.
  const algorithm = place === 0 ? undefined : CHECKSUM_ALGORITHMS[place - 1]
  return algorithm && { algorithm, composite: (flags & FLAG.isComposite) !== 0 }
}

/** A row of `TableReader.decoded`. */
export function decodeListed(rows: Buffer, start: number, end: number, value: Buffer): ListedObject {
  return {
    key: rows.toString('utf8', start + NUMBER_BYTES, end),
    lastModifiedMicroseconds: microsecondsOf(readNumber(value, AT.modified)),
    size: readNumber(value, AT.size),
    etag: etagOf(value),
    checksum: listedChecksum(value[AT.flags] as number),
  }
}

/** A version as a listing of versions shows it. */
export interface ListedVersion extends ListedObject {
  readonly sequence: Sequence
  /** Its place among the versions of its key. */
  readonly order: number
  readonly isNull: boolean
  readonly isMarker: boolean
  /** Whether it is the newest of its key. */
  readonly isLatest: boolean
}

export function decodeListedVersion(key: string, value: Buffer, isLatest: boolean): ListedVersion {
  const flags = value[AT.flags] as number
  const isMarker = (flags & FLAG.isMarker) !== 0
  const sequence = sequenceOf(readNumber(value, AT.sequence))
  return {
    key,
    sequence,
    order: orderOfSequence(sequence),
    isNull: (flags & FLAG.isNull) !== 0,
    isMarker,
    isLatest,
    lastModifiedMicroseconds: microsecondsOf(readNumber(value, AT.modified)),
    size: readNumber(value, AT.size),
    etag: isMarker ? '' : etagOf(value),
    checksum: listedChecksum(flags),
  }
}

export function getObject(table: TableReader, bucketId: BucketId, key: string): ObjectState | undefined {
  const value = table.get(objectKey(bucketId, key))
  return value === undefined ? undefined : decodeObject(value)
}

export function putObject(table: Table, bucketId: BucketId, key: string, object: ObjectState): void {
  table.put(objectKey(bucketId, key), encodeObject(object))
}
