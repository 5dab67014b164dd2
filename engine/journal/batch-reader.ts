import { hash as digestOf } from 'node:crypto'
import { crc32 } from 'node:zlib'
import {
  ALIGNMENT_BYTES,
  BATCH_FLAG_SEALS,
  BATCH_HEADER,
  BATCH_TRAILER,
  BODY_VERSION,
  FORMAT_VERSION,
  HASH_BYTES,
  RECORD,
  RECORD_DOMAIN,
  RECORD_KIND,
  type RecordKind,
  readUint64,
  recordBytes,
} from './format.ts'

/** What a batch header with a right checksum states. */
export interface BatchHeader {
  readonly seals: boolean
  readonly batchNumber: number
  readonly firstSequence: number
  readonly recordCount: number
  /** Length of the records section. */
  readonly recordBytes: number
  readonly segmentNumber: number
  /** Whole length: header, records and trailer. */
  readonly bytes: number
}

/**
 * Whether magic and checksum of a header are right: then it was written whole, and no interrupted write explains what
 * it states.
 */
export function batchHeaderIsWhole(bytes: Buffer): boolean {
  if (bytes.length < BATCH_HEADER.bytes) return false
  if (bytes.toString('latin1', 0, BATCH_HEADER.magic.length) !== BATCH_HEADER.magic) return false
  return crc32(bytes.subarray(0, BATCH_HEADER.checksumAt)) === bytes.readUInt32BE(BATCH_HEADER.checksumAt)
}

/** The header at the start of `bytes`, or undefined when it is not whole or states what this format does not allow. */
export function decodeBatchHeader(bytes: Buffer): BatchHeader | undefined {
  if (!batchHeaderIsWhole(bytes)) return undefined
  if (bytes.readUInt16BE(BATCH_HEADER.versionAt) !== FORMAT_VERSION) return undefined
  const flags = bytes.readUInt16BE(BATCH_HEADER.flagsAt)
  const length = bytes.readUInt32BE(BATCH_HEADER.recordBytesAt)
  if ((flags & ~BATCH_FLAG_SEALS) !== 0 || length % ALIGNMENT_BYTES !== 0) return undefined
  if (bytes.readUInt32BE(BATCH_HEADER.recordCountAt) === 0) return undefined
  if (!isZero(bytes, BATCH_HEADER.zeroAt, BATCH_HEADER.checksumAt)) return undefined
  return {
    seals: flags === BATCH_FLAG_SEALS,
    batchNumber: readUint64(bytes, BATCH_HEADER.batchNumberAt),
    firstSequence: readUint64(bytes, BATCH_HEADER.firstSequenceAt),
    recordCount: bytes.readUInt32BE(BATCH_HEADER.recordCountAt),
    recordBytes: length,
    segmentNumber: readUint64(bytes, BATCH_HEADER.segmentNumberAt),
    bytes: BATCH_HEADER.bytes + length + BATCH_TRAILER.bytes,
  }
}

/** Whether the trailer of a whole batch is right. */
export function batchTrailerIsRight(batch: Buffer): boolean {
  const at = batch.length - BATCH_TRAILER.bytes
  const magic = batch.toString('latin1', at + BATCH_TRAILER.magicAt, at + BATCH_TRAILER.bytes)
  if (magic !== BATCH_TRAILER.magic) return false
  return crc32(batch.subarray(0, at)) === batch.readUInt32BE(at + BATCH_TRAILER.checksumAt)
}

/** One record of a batch. `body` and `hash` are views, valid only while the batch's bytes are. */
export interface JournalRecord {
  readonly kind: RecordKind
  readonly sequence: number
  readonly timeMicroseconds: number
  readonly body: Buffer
  readonly hash: Buffer
}

/** Where the chain stands before a record: what that record must continue. */
export interface ChainPosition {
  /** Sequence of the next record. */
  sequence: number
  /** Hash of the record before it. */
  head: Buffer
  /** Time of the record before it. */
  timeMicroseconds: number
}

/**
 * Takes the records of a batch whose trailer is right apart, proving each against the chain and moving `position` on.
 * Overwrites the hash fields in `batch` with the domain while hashing and puts them back.
 * @returns undefined when all is right, else what is wrong and where
 */
export function readRecords(
  batch: Buffer,
  header: BatchHeader,
  position: ChainPosition,
  visit: (record: JournalRecord) => void,
): { readonly offset: number; readonly reason: string } | undefined {
  const end = BATCH_HEADER.bytes + header.recordBytes
  let at: number = BATCH_HEADER.bytes
  for (let index = 0; index < header.recordCount; index += 1) {
    if (at + RECORD.frameBytes > end) return { offset: at, reason: 'records do not fit the batch' }
    const length = batch.readUInt32BE(at + RECORD.bodyLengthAt)
    const next = at + recordBytes(length)
    if (next > end) return { offset: at, reason: 'records do not fit the batch' }
    const wrong = recordFault(batch, at, length, position)
    if (wrong !== undefined) return { offset: at, reason: wrong }
    const hash = batch.subarray(at, at + HASH_BYTES)
    const timeMicroseconds = readUint64(batch, at + RECORD.timeAt)
    visit({
      kind: batch.readUInt16BE(at + RECORD.kindAt) as RecordKind,
      sequence: position.sequence,
      timeMicroseconds,
      body: batch.subarray(at + RECORD.frameBytes, at + RECORD.frameBytes + length),
      hash,
    })
    position.sequence += 1
    position.timeMicroseconds = timeMicroseconds
    hash.copy(position.head)
    at = next
  }
  return at === end ? undefined : { offset: at, reason: 'records do not fill the batch' }
}

const statedHash = Buffer.alloc(HASH_BYTES)

/** What the record at an offset hashes to, whatever it states. `length`: of its body. Leaves the bytes as they were. */
export function recordHash(batch: Buffer, at: number, length: number): Buffer {
  batch.copy(statedHash, 0, at, at + HASH_BYTES)
  RECORD_DOMAIN.copy(batch, at)
  const actual = digestOf('sha256', batch.subarray(at, at + RECORD.frameBytes + length), 'buffer')
  statedHash.copy(batch, at)
  return actual
}

function recordFault(batch: Buffer, at: number, length: number, position: ChainPosition): string | undefined {
  if (readUint64(batch, at + RECORD.sequenceAt) !== position.sequence) return 'record is missing from the log'
  const linked = batch.compare(position.head, 0, HASH_BYTES, at + RECORD.previousHashAt, at + RECORD.frameBytes) === 0
  if (!linked) return 'broken link to the previous record'
  if (batch.compare(recordHash(batch, at, length), 0, HASH_BYTES, at, at + HASH_BYTES) !== 0) return 'content changed'
  if (readUint64(batch, at + RECORD.timeAt) < position.timeMicroseconds) return 'time goes back'
  return formFault(batch, at, length, position.sequence)
}

/** What a record states that this program does not know: it must not be half understood. */
function formFault(batch: Buffer, at: number, length: number, sequence: number): string | undefined {
  const kind = batch.readUInt16BE(at + RECORD.kindAt)
  const version = batch.readUInt16BE(at + RECORD.bodyVersionAt)
  if (kind < RECORD_KIND.genesis || kind > RECORD_KIND.audit || version !== BODY_VERSION) {
    return `unknown kind ${kind} or body version ${version}`
  }
  if ((kind === RECORD_KIND.genesis) !== (sequence === 0)) return 'the genesis is the first record and no other'
  const end = at + RECORD.frameBytes + length
  return isZero(batch, end, at + recordBytes(length)) ? undefined : 'padding is not zero'
}

function isZero(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] !== 0) return false
  return true
}
