/**
 * Decodes the fixed parts of the journal: segment header, batch header, batch trailer, record header.
 * Written from `spec/formats/journal.md` alone and on purpose without a line of the writer's code: a mistake that
 * both shared would otherwise go unseen.
 */
import { crc32 } from 'node:zlib'

export const SEGMENT_HEADER_BYTES = 256
export const BATCH_HEADER_BYTES = 64
export const BATCH_TRAILER_BYTES = 8
/** The fixed part of a record, before its body. */
export const RECORD_HEADER_BYTES = 88
/** Batches and records begin at multiples of this. */
export const ALIGNMENT_BYTES = 8
export const FORMAT_VERSION = 1
/** Body versions: of the MessagePack alone, and of one after the time of the host. */
export const BODY = { plain: 1, withTime: 2 } as const
/** Bytes of that time. */
export const HOST_TIME_BYTES = 8
/** A host's time is before the record's time by more than this, in microseconds. */
export const TIMES_AGREE = 1_000_000
/** The records of a batch are shorter than this, so a batch fits into memory. */
/** Of a whole batch: no reader takes a longer one. */
const BATCH_BYTES_MAXIMUM = 4 * 1024 * 1024

/** Offsets inside a record, for the loop that reads millions of them. */
export const RECORD = { length: 32, kind: 36, bodyVersion: 38, sequence: 40, time: 48, previousHash: 56 } as const
export const KIND = { genesis: 1, seal: 2, change: 3, audit: 4 } as const
const FLAG_SEAL = 1

/** Of versions before 1.0.0. */
const UNRELEASED_MAGIC = Buffer.from('OSTJRNL1', 'ascii')
const SEGMENT_MAGIC = Buffer.from('OSJOURNL', 'ascii')
export const BATCH_MAGIC = Buffer.from('OSJB', 'ascii')
const TRAILER_MAGIC = Buffer.from('OSJE', 'ascii')
const SEGMENT_NAME = /^\d{16}\.segment$/

/** Fields of a segment header; hashes and ids in lower-case hexadecimal. */
export interface SegmentHeader {
  readonly segmentNumber: number
  readonly firstSequence: number
  readonly firstBatchNumber: number
  readonly createdMicroseconds: number
  readonly deploymentId: string
  readonly chainHead: string
  readonly previousDigest: string
}

/** Fields of a batch header. */
export interface BatchHeader {
  readonly seals: boolean
  readonly batchNumber: number
  readonly firstSequence: number
  readonly recordCount: number
  /** B: bytes of all records with their padding. */
  readonly recordBytes: number
  readonly segmentNumber: number
}

/**
 * Why a header is not valid. `torn`: it was not wholly written (magic or checksum wrong); otherwise it is whole, and has a
 * field that the format does not allow.
 */
interface Fault {
  readonly fault: string
  readonly torn: boolean
}

export function isSegmentName(name: string): boolean {
  return SEGMENT_NAME.test(name)
}

/** The first sequence of a segment, by its file name. */
export function sequenceInName(name: string): number {
  return Number(name.slice(0, 16))
}

/** An unsigned 64-bit integer as a number. Values of 2^53 and more lose precision and never compare equal by luck. */
export function readUnsigned64(bytes: Buffer, position: number): number {
  return bytes.readUInt32BE(position) * 0x1_0000_0000 + bytes.readUInt32BE(position + 4)
}

/** True when every byte of the range is zero. */
export function isZero(bytes: Buffer, start: number, end: number): boolean {
  for (let position = start; position < end; position += 1) if (bytes[position] !== 0) return false
  return true
}

/** Length of a record in the file: header, body, padding. */
export function paddedRecordBytes(bodyBytes: number): number {
  return Math.ceil((RECORD_HEADER_BYTES + bodyBytes) / ALIGNMENT_BYTES) * ALIGNMENT_BYTES
}

/** Bytes before the MessagePack in the body of the record at `position`. */
export function hostTimeBytes(bytes: Buffer, position: number): number {
  return bytes.readUInt16BE(position + RECORD.bodyVersion) === BODY.withTime ? HOST_TIME_BYTES : 0
}

/** Bytes of a whole batch in the file. */
export function batchBytes(header: BatchHeader): number {
  return BATCH_HEADER_BYTES + header.recordBytes + BATCH_TRAILER_BYTES
}

/** Reads the header at the beginning of `bytes`, which holds at least 256 bytes. */
export function readSegmentHeader(bytes: Buffer): SegmentHeader | Fault {
  const magicRight = bytes.compare(SEGMENT_MAGIC, 0, 8, 0, 8) === 0
  if (bytes.compare(UNRELEASED_MAGIC, 0, 8, 0, 8) === 0) {
    return { fault: 'a version before 1.0.0, which was never released, wrote the segment', torn: true }
  }
  if (!magicRight) return { fault: 'the magic of the segment header is wrong', torn: true }
  if (crc32(bytes.subarray(0, 252)) !== bytes.readUInt32BE(252)) {
    return { fault: 'the checksum of the segment header is wrong', torn: true }
  }
  const refusal = segmentHeaderRefusal(bytes)
  if (refusal !== undefined) return { fault: refusal, torn: false }
  return {
    segmentNumber: readUnsigned64(bytes, 16),
    firstSequence: readUnsigned64(bytes, 24),
    firstBatchNumber: readUnsigned64(bytes, 32),
    createdMicroseconds: readUnsigned64(bytes, 40),
    deploymentId: bytes.toString('hex', 48, 64),
    chainHead: bytes.toString('hex', 64, 96),
    previousDigest: bytes.toString('hex', 96, 128),
  }
}

function segmentHeaderRefusal(bytes: Buffer): string | undefined {
  const version = bytes.readUInt16BE(8)
  const length = bytes.readUInt16BE(10)
  if (version !== FORMAT_VERSION)
    return `the segment has format version ${version}; this verifier reads ${FORMAT_VERSION}`
  if (length !== SEGMENT_HEADER_BYTES) return `the segment header states a length of ${length} bytes`
  if (!isZero(bytes, 12, 16) || !isZero(bytes, 128, 252)) return 'bytes of the segment header that must be zero are not'
  return undefined
}

/** Reads the batch header in the 64 bytes at `position`. Checks rule 1 of a valid batch. */
export function readBatchHeader(bytes: Buffer, position: number): BatchHeader | Fault {
  if (bytes.compare(BATCH_MAGIC, 0, 4, position, position + 4) !== 0) {
    return { fault: 'the magic of the batch header is wrong', torn: true }
  }
  if (crc32(bytes.subarray(position, position + 60)) !== bytes.readUInt32BE(position + 60)) {
    return { fault: 'the checksum of the batch header is wrong', torn: true }
  }
  const refusal = batchHeaderRefusal(bytes, position)
  if (refusal !== undefined) return { fault: refusal, torn: false }
  return {
    seals: bytes.readUInt16BE(position + 6) === FLAG_SEAL,
    batchNumber: readUnsigned64(bytes, position + 8),
    firstSequence: readUnsigned64(bytes, position + 16),
    recordCount: bytes.readUInt32BE(position + 24),
    recordBytes: bytes.readUInt32BE(position + 28),
    segmentNumber: readUnsigned64(bytes, position + 32),
  }
}

function batchHeaderRefusal(bytes: Buffer, position: number): string | undefined {
  const version = bytes.readUInt16BE(position + 4)
  const flags = bytes.readUInt16BE(position + 6)
  const recordBytes = bytes.readUInt32BE(position + 28)
  if (version !== FORMAT_VERSION)
    return `the batch has format version ${version}; this verifier reads ${FORMAT_VERSION}`
  if (flags > FLAG_SEAL) return `the batch has unknown flags 0x${flags.toString(16)}`
  if (!isZero(bytes, position + 40, position + 60)) return 'bytes of the batch header that must be zero are not'
  if (bytes.readUInt32BE(position + 24) === 0) return 'the batch states no records'
  if (
    recordBytes % ALIGNMENT_BYTES !== 0 ||
    recordBytes > BATCH_BYTES_MAXIMUM - BATCH_HEADER_BYTES - BATCH_TRAILER_BYTES
  ) {
    return `the batch states ${recordBytes} bytes of records, which no batch can have`
  }
  return undefined
}

/** Checks the trailer of the batch at `position`, which lies wholly in `bytes` (rule 3 of a valid batch). */
export function trailerFault(bytes: Buffer, position: number, header: BatchHeader): string | undefined {
  const trailer = position + BATCH_HEADER_BYTES + header.recordBytes
  if (bytes.compare(TRAILER_MAGIC, 0, 4, trailer + 4, trailer + 8) !== 0)
    return 'the magic of the batch trailer is wrong'
  if (crc32(bytes.subarray(position, trailer)) !== bytes.readUInt32BE(trailer)) {
    return 'the checksum of the batch is wrong'
  }
  return undefined
}
