import {
  ALIGNMENT_BYTES,
  BATCH_HEADER_BYTES,
  BATCH_TRAILER_BYTES,
  type BatchHeader,
  isZero,
  paddedRecordBytes,
  readUnsigned64,
  RECORD,
  RECORD_HEADER_BYTES,
} from '../format-reader.ts'
import { HASH_WORDS, RecordHasher } from '../record-hasher.ts'

/** A record by its place in a batch. */
export interface PlacedRecord {
  /** Offset in the batch. */
  readonly at: number
  /** Offset after its body. */
  readonly bodyEnd: number
  /** As it states. */
  readonly sequence: number
}

const OTHER_RECORDS = 'the batch holds other records than its header says'
const hasher = new RecordHasher()

/** The records of a batch, taken apart by their lengths and verified one at a time, whatever is around them. */
export class BatchRecords {
  readonly records: readonly PlacedRecord[]
  /** Whether the records fill their part of the batch, none being left. */
  readonly complete: boolean
  readonly #bytes: Buffer
  /** The same memory, of which views are cheaper to make, and its words in the machine's own byte order. */
  readonly #memory: Uint8Array
  readonly #words: Uint32Array

  /** @param bytes header, records and trailer, the ends perhaps damaged; not copied. They begin at a multiple of 4. */
  constructor(bytes: Buffer) {
    const records: PlacedRecord[] = []
    const end = Math.max(BATCH_HEADER_BYTES, bytes.length - BATCH_TRAILER_BYTES)
    let at = BATCH_HEADER_BYTES
    while (at + RECORD_HEADER_BYTES <= end) {
      const bodyBytes = bytes.readUInt32BE(at + RECORD.length)
      const next = at + paddedRecordBytes(bodyBytes)
      if (next > end) break
      const bodyEnd = at + RECORD_HEADER_BYTES + bodyBytes
      records.push({ at, bodyEnd, sequence: readUnsigned64(bytes, at + RECORD.sequence) })
      at = next
    }
    this.records = records
    this.complete = at === end
    this.#bytes = bytes
    this.#memory = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#words = new Uint32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 4))
  }

  /** Whether the batch is at least one record and nothing else, with sequences that continue from `first`. */
  continues(first: number): boolean {
    return this.complete && this.records.length > 0 && this.#isNumberedFrom(first)
  }

  /** How the records differ from the header of a whole batch, apart from their contents. */
  faultOf(header: BatchHeader): string | undefined {
    const asStated = this.complete && this.records.length === header.recordCount
    if (!asStated || !this.#isNumberedFrom(header.firstSequence)) return OTHER_RECORDS
    const padded = ({ bodyEnd }: PlacedRecord): boolean =>
      isZero(this.#bytes, bodyEnd, Math.ceil(bodyEnd / ALIGNMENT_BYTES) * ALIGNMENT_BYTES)
    return this.records.every(padded) ? undefined : 'what stands between the records is not zero'
  }

  /** Whether a record hashes to the hash that it states. */
  isUnchanged({ at, bodyEnd }: PlacedRecord): boolean {
    hasher.hash(this.#memory, at, bodyEnd)
    return this.states(at, hasher.words)
  }

  /** Whether all records do, and nothing else is among them. */
  get areUnchanged(): boolean {
    return this.complete && this.records.every((record) => this.isUnchanged(record))
  }

  /** Whether a hash, in words, is at an offset of the batch. */
  states(offset: number, hash: Uint32Array): boolean {
    const start = offset / 4
    for (let index = 0; index < HASH_WORDS; index += 1) if (this.#words[start + index] !== hash[index]) return false
    return true
  }

  /** A copy of the hash that a record states, in words. */
  hashOf({ at }: PlacedRecord): Uint32Array {
    return this.#words.slice(at / 4, at / 4 + HASH_WORDS)
  }

  #isNumberedFrom(first: number): boolean {
    return this.records.every(({ sequence }, index) => sequence === first + index)
  }
}
