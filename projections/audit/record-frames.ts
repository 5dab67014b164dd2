import { microsecondsOf, sequenceOf } from '../../engine/brands.ts'
import type { BatchHeader } from '../../engine/journal/batch-reader.ts'
import { BATCH_HEADER, HASH_BYTES, RECORD, readUint64, recordBytes } from '../../engine/journal/format.ts'

/**
 * Steps over the records of a batch without verifying them. The fields describe the record that `next` stepped to; `at`
 * is its offset in the bytes.
 */
export class RecordFrames {
  at = 0
  bodyLength = 0
  sequence = sequenceOf(0)
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
    const bodyLength = this.bytes.readUInt32BE(at + RECORD.bodyLengthAt)
    const next = at + recordBytes(bodyLength)
    if (next > this.#end) return false
    this.at = at
    this.bodyLength = bodyLength
    this.sequence = sequenceOf(readUint64(this.bytes, at + RECORD.sequenceAt))
    this.timeMicroseconds = microsecondsOf(readUint64(this.bytes, at + RECORD.timeAt))
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

  /** Start of the body in `bytes`. */
  get bodyAt(): number {
    return this.at + RECORD.frameBytes
  }

  get body(): Buffer {
    return this.bytes.subarray(this.bodyAt, this.bodyAt + this.bodyLength)
  }
}
