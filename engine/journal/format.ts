/**
 * Byte layout of the journal, format 1, since version 1.0.0. The document is spec/formats/journal.md; a spec compares the two.
 *
 *   segment = segment header | batch | batch | ... | zeros
 *   batch   = header | records | trailer
 *   record  = hash | length | kind | body version | sequence | order time | previous hash | body | zeros to 8
 *   body    = MessagePack, in body version 2 after the time of the host (8)
 *
 * Integers are unsigned and big-endian.
 */

export const FORMAT_VERSION = 1
export const BODY_VERSION = 1
/** Of a body that has the time of the host first, since it differs from the order time. */
export const BODY_VERSION_WITH_TIME = 2
export const HOST_TIME_BYTES = 8
export const HASH_BYTES = 32
export const ALIGNMENT_BYTES = 8

/** In the place of the magic in segments of versions before 1.0.0, of which none was released. */
export const UNRELEASED_MAGIC = 'OSTJRNL1'

export const SEGMENT_HEADER = {
  bytes: 256,
  magic: 'OSJOURNL',
  versionAt: 8,
  headerLengthAt: 10,
  segmentNumberAt: 16,
  firstSequenceAt: 24,
  firstBatchAt: 32,
  createdAt: 40,
  deploymentIdAt: 48,
  deploymentIdBytes: 16,
  chainHeadAt: 64,
  previousDigestAt: 96,
  zeroAt: 128,
  checksumAt: 252,
} as const

export const BATCH_HEADER = {
  bytes: 64,
  magic: 'OSJB',
  versionAt: 4,
  flagsAt: 6,
  batchNumberAt: 8,
  firstSequenceAt: 16,
  recordCountAt: 24,
  recordBytesAt: 28,
  segmentNumberAt: 32,
  zeroAt: 40,
  checksumAt: 60,
} as const

export const BATCH_TRAILER = { bytes: 8, checksumAt: 0, magicAt: 4, magic: 'OSJE' } as const

export const BATCH_FLAG_SEALS = 1

export const RECORD = {
  frameBytes: 88,
  hashAt: 0,
  bodyLengthAt: 32,
  kindAt: 36,
  bodyVersionAt: 38,
  sequenceAt: 40,
  timeAt: 48,
  previousHashAt: 56,
} as const

export const RECORD_KIND = { genesis: 1, seal: 2, change: 3, audit: 4 } as const
export type RecordKind = (typeof RECORD_KIND)[keyof typeof RECORD_KIND]

/** Fills the hash field while a record is hashed, so that no other use of SHA-256 gives the same digest. */
export const RECORD_DOMAIN = Buffer.alloc(HASH_BYTES)
RECORD_DOMAIN.write('object-store/journal-record/v1', 'ascii')

/** Largest body of one record: keys, headers and metadata at their bounds take less than 24 KiB. */
export const RECORD_BODY_BYTES_MAXIMUM = 32 * 1024
/** Largest batch; also the room that a segment must have for a new batch. */
export const BATCH_BYTES_MAXIMUM = 4 << 20
/** A sealing batch is one small record. */
export const SEAL_BATCH_BYTES_MAXIMUM = 1024

export const ZERO_HASH: Uint8Array = new Uint8Array(HASH_BYTES)

/** Length of a record's frame and body, padded. */
export function recordBytes(bodyLength: number): number {
  return Math.ceil((RECORD.frameBytes + bodyLength) / ALIGNMENT_BYTES) * ALIGNMENT_BYTES
}

const HIGH = 2 ** 32

/** Writes a whole number below 2^53 in 8 bytes. */
export function writeUint64(target: Buffer, value: number, position: number): void {
  target.writeUInt32BE(Math.floor(value / HIGH), position)
  target.writeUInt32BE(value >>> 0, position + 4)
}

/** Reads 8 bytes; values of 2^53 and more lose precision, and no field of a valid journal holds one. */
export function readUint64(source: Buffer, position: number): number {
  return source.readUInt32BE(position) * HIGH + source.readUInt32BE(position + 4)
}

if (RECORD.previousHashAt + HASH_BYTES !== RECORD.frameBytes) throw new Error('record frame does not add up')
if (RECORD.frameBytes % ALIGNMENT_BYTES !== 0 || BATCH_HEADER.bytes % ALIGNMENT_BYTES !== 0) {
  throw new Error('frames must keep length fields inside one sector')
}
if (BATCH_HEADER.checksumAt + 4 !== BATCH_HEADER.bytes) throw new Error('batch header does not add up')
if (SEGMENT_HEADER.checksumAt + 4 !== SEGMENT_HEADER.bytes) throw new Error('segment header does not add up')
