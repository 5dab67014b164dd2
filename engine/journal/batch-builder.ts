import { hash as digestOf } from 'node:crypto'
import { crc32 } from '../hashing/crc32.ts'
import { type Microseconds, microsecondsOf, type Sequence, sequenceOf } from '../brands.ts'
import {
  BATCH_FLAG_SEALS,
  BATCH_HEADER,
  BATCH_TRAILER,
  BODY_VERSION,
  BODY_VERSION_WITH_TIME,
  FORMAT_VERSION,
  HOST_TIME_BYTES,
  RECORD,
  RECORD_BODY_BYTES_MAXIMUM,
  RECORD_DOMAIN,
  type RecordKind,
  recordBytes,
  writeUint64,
} from './format.ts'
import { type CredentialUse, CredentialUses } from './credential-uses.ts'
import { type BatchTimes, type RecordTimes, TIMES_AGREE_MICROSECONDS } from './record-times.ts'

const STARTING_BYTES = 256 * 1024
/** The host's clock is exact to this; batches of one step get times that are later by a microsecond each. */
export const CLOCK_STEP_MICROSECONDS = 1000

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
  #order: Microseconds
  #time: Microseconds
  #earliest: number = Number.POSITIVE_INFINITY
  #latest = 0
  #timesDiffer = false
  #timesDescend = false
  readonly #uses = new CredentialUses()
  #head: Buffer

  /** `head` is the hash of the last record of the journal; `order` and `time` are its times. */
  constructor(head: Uint8Array, order: Microseconds, time = order) {
    this.#head = Buffer.from(head)
    this.#order = order
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
    this.#earliest = Number.POSITIVE_INFINITY
    this.#latest = 0
    this.#timesDiffer = false
    this.#timesDescend = false
  }

  /** Goes back to an earlier end of the chain, as if no record had been added since. */
  rewind(head: Uint8Array, { orderMicroseconds, timeMicroseconds }: RecordTimes): void {
    this.#uses.forget()
    this.#head = Buffer.from(head)
    this.#order = orderMicroseconds
    this.#time = timeMicroseconds
  }

  /** The next record has this order time, which is earlier. Only the entry that sets the clock back may. */
  goBack(order: Microseconds): void {
    this.#order = order
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

  /** Order time of the last record. */
  get order(): Microseconds {
    return this.#order
  }

  /** Time of the last record: what the host's clock said. */
  get time(): Microseconds {
    return this.#time
  }

  /** Both times of the last record. */
  get timesOfLast(): RecordTimes {
    return { orderMicroseconds: this.#order, timeMicroseconds: this.#time }
  }

  /** The times of the records of the batch. */
  get times(): BatchTimes {
    return {
      earliestMicroseconds: microsecondsOf(this.#earliest),
      latestMicroseconds: microsecondsOf(this.#latest),
      differ: this.#timesDiffer,
      descend: this.#timesDescend,
    }
  }

  /** The uses of credentials in the batch, once. */
  takeUses(): readonly CredentialUse[] {
    return this.#uses.take()
  }

  /** The times that the next record gets when it is added with this time of the host. */
  timesOfNext(hostMicroseconds: Microseconds): RecordTimes {
    const orderMicroseconds = this.#orderOfNext(hostMicroseconds)
    return { orderMicroseconds, timeMicroseconds: this.#timeOfNext(orderMicroseconds, hostMicroseconds) }
  }

  /**
   * Adds a record and returns its sequence. Its order time never goes back: it is the later of the host's time and the
   * order time of the record before. Where the host's time is earlier by more than a second, the record has both.
   */
  add(kind: RecordKind, hostMicroseconds: Microseconds, body: Uint8Array): Sequence {
    const order = this.#orderOfNext(hostMicroseconds)
    return this.#append(kind, order, this.#timeOfNext(order, hostMicroseconds), body)
  }

  /** Adds a record that was read from a journal, with the times that it has. */
  addAgain(kind: RecordKind, { orderMicroseconds, timeMicroseconds }: RecordTimes, body: Uint8Array): Sequence {
    return this.#append(kind, orderMicroseconds, timeMicroseconds, body)
  }

  #orderOfNext(host: Microseconds): Microseconds {
    const earliest = this.#count === 0 ? this.#order + this.#distance : this.#order
    return microsecondsOf(Math.max(host, earliest))
  }

  #timeOfNext(order: Microseconds, host: Microseconds): Microseconds {
    return order - host <= TIMES_AGREE_MICROSECONDS ? order : this.#ownTime(order, host)
  }

  /** Within one step of the clock times do not go back either, and no two batches have the same. */
  #ownTime(order: Microseconds, host: Microseconds): Microseconds {
    const before = this.#time
    const isSameStep = before >= host && before < host + CLOCK_STEP_MICROSECONDS
    const time = isSameStep ? before + (this.#count === 0 ? this.#distance : 0) : host
    return order - time <= TIMES_AGREE_MICROSECONDS ? order : microsecondsOf(time)
  }

  #append(kind: RecordKind, order: Microseconds, time: Microseconds, body: Uint8Array): Sequence {
    if (body.length > RECORD_BODY_BYTES_MAXIMUM) throw new RangeError(`record body of ${body.length} bytes`)
    const at = this.#length
    const extra = time === order ? 0 : HOST_TIME_BYTES
    const length = body.length + extra
    const total = recordBytes(length)
    this.#reserve(total + BATCH_TRAILER.bytes)
    const bytes = this.#bytes
    const sequence = this.nextSequence
    if (extra > 0) this.#timesDiffer = true
    if (time < this.#time && this.#count > 0) this.#timesDescend = true
    this.#order = order
    this.#time = time
    if (time < this.#earliest) this.#earliest = time
    if (time > this.#latest) this.#latest = time
    this.#uses.add(body, time)
    bytes.set(RECORD_DOMAIN, at + RECORD.hashAt)
    bytes.writeUInt32BE(length, at + RECORD.bodyLengthAt)
    bytes.writeUInt16BE(kind, at + RECORD.kindAt)
    bytes.writeUInt16BE(extra === 0 ? BODY_VERSION : BODY_VERSION_WITH_TIME, at + RECORD.bodyVersionAt)
    writeUint64(bytes, sequence, at + RECORD.sequenceAt)
    writeUint64(bytes, order, at + RECORD.timeAt)
    bytes.set(this.#head, at + RECORD.previousHashAt)
    if (extra > 0) writeUint64(bytes, time, at + RECORD.frameBytes)
    bytes.set(body, at + RECORD.frameBytes + extra)
    bytes.fill(0, at + RECORD.frameBytes + length, at + total)
    const hashed = bytes.subarray(at, at + RECORD.frameBytes + length)
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
