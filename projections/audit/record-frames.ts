import { microsecondsOf, sequenceOf } from '../../engine/brands.ts'
import type { BatchHeader } from '../../engine/journal/batch-reader.ts'
import { BATCH_HEADER, HASH_BYTES, RECORD, readUint64, recordBytes } from '../../engine/journal/format.ts'
import { bytesBeforeBody, timeOfRecord } from '../../engine/journal/record-times.ts'

/**
 * Steps over the records of a batch without verifying them. The fields describe the record that `next` stepped to; `at`
 * is its offset in the bytes.
 */
export class RecordFrames {
  at = 0
  /** Start of the body in `bytes`: of the MessagePack, after the host's time where the record has that. */
  bodyAt = 0
  bodyLength = 0
  sequence = sequenceOf(0)
  orderMicroseconds = microsecondsOf(0)
  timeMicroseconds = microsecondsOf(0)
  kind = 0
  /** Of the batch. */
  readonly bytes: Buffer
  readonly #end: number
  #next: number = BATCH_HEADER.bytes

  /** @param batch bytes of a batch, its header included */
  constructor(batch: Buffer, { recordBytes: length }: Pick<BatchHeader, 'recordBytes'>) {
    this.bytes = batch
    this.#end = BATCH_HEADER.bytes + length
  }

  /** Whether `next` stepped over all bytes of the records. */
  get isComplete(): boolean {
    return this.#next === this.#end
  }

  /** False after the last record, and where the bytes do not have the form of records. */
  next(): boolean {
    const at = this.#next
    if (at + RECORD.frameBytes > this.#end) return false
    const length = this.bytes.readUInt32BE(at + RECORD.bodyLengthAt)
    const next = at + recordBytes(length)
    const before = bytesBeforeBody(this.bytes, at)
    if (next > this.#end || length < before) return false
    this.at = at
    this.bodyAt = at + RECORD.frameBytes + before
    this.bodyLength = length - before
    this.sequence = sequenceOf(readUint64(this.bytes, at + RECORD.sequenceAt))
    this.orderMicroseconds = microsecondsOf(readUint64(this.bytes, at + RECORD.timeAt))
    this.timeMicroseconds = timeOfRecord(this.bytes, at)
    this.kind = this.bytes.readUInt16BE(at + RECORD.kindAt)
    this.#next = next
    return true
  }

  /** Hash of the record, in hexadecimal. */
  get hash(): string {
    return this.bytes.toString('hex', this.at + RECORD.hashAt, this.at + RECORD.hashAt + HASH_BYTES)
  }

  /** Hash of the record before it, in hexadecimal. */
  get previousHash(): string {
    return this.bytes.toString('hex', this.at + RECORD.previousHashAt, this.at + RECORD.previousHashAt + HASH_BYTES)
  }

  /** A copy of the bytes after its hash, without padding. */
  get stored(): Buffer {
    return Buffer.from(this.bytes.subarray(this.at + HASH_BYTES, this.bodyAt + this.bodyLength))
  }

  get body(): Buffer {
    return this.bytes.subarray(this.bodyAt, this.bodyAt + this.bodyLength)
  }
}
