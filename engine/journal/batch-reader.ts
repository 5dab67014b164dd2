import { hash as digestOf } from 'node:crypto'
import { crc32 } from '../hashing/crc32.ts'
import { microsecondsOf, next, type Sequence, sequenceOf } from '../brands.ts'
import {
  ALIGNMENT_BYTES,
  BATCH_FLAG_SEALS,
  BATCH_HEADER,
  BATCH_TRAILER,
  BODY_VERSION,
  BODY_VERSION_WITH_TIME,
  FORMAT_VERSION,
  HASH_BYTES,
  HOST_TIME_BYTES,
  RECORD,
  RECORD_DOMAIN,
  RECORD_KIND,
  type RecordKind,
  readUint64,
  recordBytes,
} from './format.ts'
import type { NextRecord } from './positions.ts'
import { bytesBeforeBody, type RecordTimes, timeOfRecord, TIMES_AGREE_MICROSECONDS } from './record-times.ts'
import { decodeChanges } from '../events/entry-codec.ts'

/** The fields of a batch header with a correct checksum. */
export interface BatchHeader {
  readonly seals: boolean
  readonly batchNumber: number
  readonly firstSequence: Sequence
  readonly recordCount: number
  /** Length of the records section. */
  readonly recordBytes: number
  readonly segmentNumber: number
  /** Whole length: header, records and trailer. */
  readonly bytes: number
}

/**
 * Whether magic and checksum of a header are correct: then it was written whole, and no interrupted write explains its
 * fields.
 */
export function batchHeaderIsWhole(bytes: Buffer): boolean {
  if (bytes.length < BATCH_HEADER.bytes) return false
  if (bytes.toString('latin1', 0, BATCH_HEADER.magic.length) !== BATCH_HEADER.magic) return false
  return crc32(bytes.subarray(0, BATCH_HEADER.checksumAt)) === bytes.readUInt32BE(BATCH_HEADER.checksumAt)
}

/** The header at the start of `bytes`; undefined when it is not whole, or a field has a value the format does not allow. */
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
    firstSequence: sequenceOf(readUint64(bytes, BATCH_HEADER.firstSequenceAt)),
    recordCount: bytes.readUInt32BE(BATCH_HEADER.recordCountAt),
    recordBytes: length,
    segmentNumber: readUint64(bytes, BATCH_HEADER.segmentNumberAt),
    bytes: BATCH_HEADER.bytes + length + BATCH_TRAILER.bytes,
  }
}

/** Whether the trailer of a whole batch is correct. */
export function batchTrailerIsRight(batch: Buffer): boolean {
  const at = batch.length - BATCH_TRAILER.bytes
  const magic = batch.toString('latin1', at + BATCH_TRAILER.magicAt, at + BATCH_TRAILER.bytes)
  if (magic !== BATCH_TRAILER.magic) return false
  return crc32(batch.subarray(0, at)) === batch.readUInt32BE(at + BATCH_TRAILER.checksumAt)
}

/** One record of a batch. `body` and `hash` are views, valid only while the batch's bytes are. */
export interface JournalRecord extends RecordTimes {
  readonly kind: RecordKind
  readonly sequence: Sequence
  /** The MessagePack alone, without the host's time before it. */
  readonly body: Buffer
  readonly hash: Buffer
}

/**
 * Reads the records of a batch with a correct trailer, verifying each against the chain, and advances `chain` except for
 * its batch number. While hashing, the hash fields in `batch` hold the domain.
 * @returns undefined when all records are valid, else the fault and its offset
 */
export function readRecords(
  batch: Buffer,
  header: BatchHeader,
  chain: NextRecord,
  visit: (record: JournalRecord) => void,
): { readonly offset: number; readonly reason: string } | undefined {
  const end = BATCH_HEADER.bytes + header.recordBytes
  let at: number = BATCH_HEADER.bytes
  for (let index = 0; index < header.recordCount; index += 1) {
    if (at + RECORD.frameBytes > end) return { offset: at, reason: 'records do not fit the batch' }
    const length = batch.readUInt32BE(at + RECORD.bodyLengthAt)
    const after = at + recordBytes(length)
    if (after > end) return { offset: at, reason: 'records do not fit the batch' }
    const maySetBack = index === 1 && header.recordCount === 2
    const wrong = recordFault(batch, at, length, chain, maySetBack)
    if (wrong !== undefined) return { offset: at, reason: wrong }
    const hash = batch.subarray(at, at + HASH_BYTES)
    const bodyAt = at + RECORD.frameBytes
    const orderMicroseconds = microsecondsOf(readUint64(batch, at + RECORD.timeAt))
    const timeMicroseconds = timeOfRecord(batch, at)
    visit({
      kind: batch.readUInt16BE(at + RECORD.kindAt) as RecordKind,
      sequence: chain.nextSequence,
      orderMicroseconds,
      timeMicroseconds,
      body: batch.subarray(bodyAt + bytesBeforeBody(batch, at), bodyAt + length),
      hash,
    })
    chain.nextSequence = next(chain.nextSequence)
    chain.orderMicroseconds = orderMicroseconds
    chain.timeMicroseconds = timeMicroseconds
    hash.copy(chain.head)
    at = after
  }
  return at === end ? undefined : { offset: at, reason: 'records do not fill the batch' }
}

/**
 * Whether the hash that the record at an offset states is its own. `length`: of its body. Restores the bytes. Both hashes are
 * strings of 32 characters: node:crypto takes twice as long to make a buffer.
 */
function statesItsHash(batch: Buffer, at: number, length: number): boolean {
  const stated = batch.toString('latin1', at, at + HASH_BYTES)
  batch.set(RECORD_DOMAIN, at)
  const actual = digestOf('sha256', batch.subarray(at, at + RECORD.frameBytes + length), 'binary')
  batch.write(stated, at, HASH_BYTES, 'latin1')
  return actual === stated
}

/** @param maySetBack whether it is the last of two records of a batch, as the entry that sets the clock back must be */
function recordFault(
  batch: Buffer,
  at: number,
  length: number,
  chain: NextRecord,
  maySetBack: boolean,
): string | undefined {
  if (readUint64(batch, at + RECORD.sequenceAt) !== chain.nextSequence) return 'record is missing from the log'
  if (!hasHashAt(batch, at + RECORD.previousHashAt, chain.head)) return 'broken link to the previous record'
  if (!statesItsHash(batch, at, length)) return 'content changed'
  if (goesBack(batch, at, length, chain, maySetBack)) return 'time goes back'
  return formFault(batch, at, length, chain.nextSequence)
}

/** Whether the order time goes back, and the record does not set it back (spec/decisions/0019). */
function goesBack(batch: Buffer, at: number, length: number, chain: NextRecord, maySetBack: boolean): boolean {
  const order = readUint64(batch, at + RECORD.timeAt)
  if (order >= chain.orderMicroseconds) return false
  const isPlainChange =
    batch.readUInt16BE(at + RECORD.kindAt) === RECORD_KIND.change &&
    batch.readUInt16BE(at + RECORD.bodyVersionAt) === BODY_VERSION
  const bodyAt = at + RECORD.frameBytes
  return !(
    maySetBack &&
    isPlainChange &&
    setsBack(batch.subarray(bodyAt, bodyAt + length), chain.orderMicroseconds, order)
  )
}

/** So few bytes are compared sooner than they are handed to a native function. */
function hasHashAt(batch: Buffer, at: number, hash: Buffer): boolean {
  for (let byte = 0; byte < HASH_BYTES; byte += 1) if (batch[at + byte] !== hash[byte]) return false
  return true
}

/** Why this program cannot read a record completely. */
function formFault(batch: Buffer, at: number, length: number, sequence: Sequence): string | undefined {
  const kind = batch.readUInt16BE(at + RECORD.kindAt)
  const version = batch.readUInt16BE(at + RECORD.bodyVersionAt)
  const isKnown = version === BODY_VERSION || version === BODY_VERSION_WITH_TIME
  if (kind < RECORD_KIND.genesis || kind > RECORD_KIND.audit || !isKnown) {
    return `unknown kind ${kind} or body version ${version}`
  }
  if (version === BODY_VERSION_WITH_TIME && !hasRightTime(batch, at, length)) return "the host's time is wrong"
  if ((kind === RECORD_KIND.genesis) !== (sequence === 0)) return 'the genesis must be the first record and no other'
  const end = at + RECORD.frameBytes + length
  return isZero(batch, end, at + recordBytes(length)) ? undefined : 'padding is not zero'
}

/** Whether the time at the start of a body differs from the order time as much as it must. */
function hasRightTime(batch: Buffer, at: number, length: number): boolean {
  if (length < HOST_TIME_BYTES) return false
  // A time of 2^53 and more is later than every order time.
  return readUint64(batch, at + RECORD.timeAt) - readUint64(batch, at + RECORD.frameBytes) > TIMES_AGREE_MICROSECONDS
}

function isZero(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] !== 0) return false
  return true
}

/**
 * Whether the body of a change record sets the order time back between these times, in microseconds, and does nothing
 * else. No other record may have an order time before the last.
 */
function setsBack(body: Uint8Array, from: number, to: number): boolean {
  try {
    const changes = decodeChanges(body)
    const [change] = changes
    return changes.length === 1 && change?.name === 'clock.set-back' && change.from === from && change.to === to
  } catch {
    return false
  }
}
