import { hash as digestOf } from 'node:crypto'
import { crc32 } from '../hashing/crc32.ts'
import { type Microseconds, microsecondsOf, type Sequence, sequenceOf } from '../brands.ts'
import {
  BATCH_FLAG_SEALS,
  BATCH_HEADER,
  BATCH_TRAILER,
  BODY_VERSION,
  FORMAT_VERSION,
  RECORD,
  RECORD_BODY_BYTES_MAXIMUM,
  RECORD_DOMAIN,
  type RecordKind,
  recordBytes,
  writeUint64,
} from './format.ts'

const STARTING_BYTES = 256 * 1024

/**
 * Builds one batch in a buffer that is reused for the next batch. The chain continues record by record: each record
 * stores the hash of the record before and its own.
 */
export class BatchBuilder {
  #bytes = Buffer.allocUnsafeSlow(STARTING_BYTES)
  #length = 0
  #firstSequence = sequenceOf(0)
  #count = 0
  #distance = 0
  #time: Microseconds
  #head: Buffer

  /** `head` is the hash of the last record of the journal, `time` its time. */
  constructor(head: Uint8Array, time: Microseconds) {
    this.#head = Buffer.from(head)
    this.#time = time
  }

  /**
   * Starts an empty batch whose first record gets this sequence.
   * @param distance minimum microseconds between that record and the record before
   */
  begin(firstSequence: Sequence, distance = 0): void {
    this.#distance = distance
    this.#firstSequence = firstSequence
    this.#count = 0
    this.#length = BATCH_HEADER.bytes
  }

  /** Goes back to an earlier end of the chain, as if no record had been added since. */
  rewind(head: Uint8Array, timeMicroseconds: Microseconds): void {
    this.#head = Buffer.from(head)
    this.#time = timeMicroseconds
  }

  get recordCount(): number {
    return this.#count
  }

  get nextSequence(): Sequence {
    return sequenceOf(this.#firstSequence + this.#count)
  }

  /** Bytes of the batch on disk so far. */
  get bytes(): number {
    return this.#length + BATCH_TRAILER.bytes
  }

  /** Hash of the last record added, or of the record before the batch. Valid until the next `add`. */
  get head(): Buffer {
    return this.#head
  }

  get time(): Microseconds {
    return this.#time
  }

  /** The time that the next record gets when it is added with this one. */
  timeOfNext(timeMicroseconds: Microseconds): Microseconds {
    const earliest = this.#count === 0 ? this.#time + this.#distance : this.#time
    return microsecondsOf(Math.max(timeMicroseconds, earliest))
  }

  /**
   * Adds a record and returns its sequence. Time never goes back: an earlier time is replaced by the time of the record
   * before.
   */
  add(kind: RecordKind, timeMicroseconds: Microseconds, body: Uint8Array): Sequence {
    if (body.length > RECORD_BODY_BYTES_MAXIMUM) throw new RangeError(`record body of ${body.length} bytes`)
    const at = this.#length
    const total = recordBytes(body.length)
    this.#reserve(total + BATCH_TRAILER.bytes)
    const bytes = this.#bytes
    const sequence = this.nextSequence
    this.#time = this.timeOfNext(timeMicroseconds)
    bytes.set(RECORD_DOMAIN, at + RECORD.hashAt)
    bytes.writeUInt32BE(body.length, at + RECORD.bodyLengthAt)
    bytes.writeUInt16BE(kind, at + RECORD.kindAt)
    bytes.writeUInt16BE(BODY_VERSION, at + RECORD.bodyVersionAt)
    writeUint64(bytes, sequence, at + RECORD.sequenceAt)
    writeUint64(bytes, this.#time, at + RECORD.timeAt)
    bytes.set(this.#head, at + RECORD.previousHashAt)
    bytes.set(body, at + RECORD.frameBytes)
    bytes.fill(0, at + RECORD.frameBytes + body.length, at + total)
    const hashed = bytes.subarray(at, at + RECORD.frameBytes + body.length)
    // As a string with a character for each byte: a buffer for each digest costs as much as the digest.
    this.#head.write(digestOf('sha256', hashed, 'binary'), 0, 'latin1')
    bytes.set(this.#head, at + RECORD.hashAt)
    this.#length = at + total
    this.#count += 1
    return sequence
  }

  /** Closes the batch with header, checksums and trailer. The result is valid until the next `begin`. */
  finish(batchNumber: number, segmentNumber: number, seals: boolean): Buffer {
    const bytes = this.#bytes
    bytes.fill(0, 0, BATCH_HEADER.bytes)
    bytes.write(BATCH_HEADER.magic, 0, 'ascii')
    bytes.writeUInt16BE(FORMAT_VERSION, BATCH_HEADER.versionAt)
    bytes.writeUInt16BE(seals ? BATCH_FLAG_SEALS : 0, BATCH_HEADER.flagsAt)
    writeUint64(bytes, batchNumber, BATCH_HEADER.batchNumberAt)
    writeUint64(bytes, this.#firstSequence, BATCH_HEADER.firstSequenceAt)
    bytes.writeUInt32BE(this.#count, BATCH_HEADER.recordCountAt)
    bytes.writeUInt32BE(this.#length - BATCH_HEADER.bytes, BATCH_HEADER.recordBytesAt)
    writeUint64(bytes, segmentNumber, BATCH_HEADER.segmentNumberAt)
    bytes.writeUInt32BE(crc32(bytes.subarray(0, BATCH_HEADER.checksumAt)), BATCH_HEADER.checksumAt)
    const trailer = this.#length
    bytes.writeUInt32BE(crc32(bytes.subarray(0, trailer)), trailer + BATCH_TRAILER.checksumAt)
    bytes.write(BATCH_TRAILER.magic, trailer + BATCH_TRAILER.magicAt, 'ascii')
    return bytes.subarray(0, trailer + BATCH_TRAILER.bytes)
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#length + more))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}
