/**
 * Builds journals from `spec/formats/journal.md`, without any code of the server. Specs use it where they need journals
 * with exactly one thing wrong.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type BatchFields,
  type EntryFields,
  encodeBatch,
  encodeHeadSlot,
  encodeRecord,
  encodeSegmentHeader,
  entryBody,
  KIND,
  packBody,
  type RecordFields,
  segmentName,
} from './journal-bytes.ts'

const NO_HASH = Buffer.alloc(32)

/** Where something stands in a segment. */
export interface Place {
  readonly offset: number
  readonly length: number
}

/** A batch that was built, with its records. `length` includes header and trailer; records include their padding. */
export interface BuiltBatch extends Place {
  readonly batchNumber: number
  readonly records: readonly (Place & { readonly sequence: number })[]
}

/** A segment that is being built. */
export class BuiltSegment {
  readonly name: string
  readonly number: number
  readonly firstSequence: number
  readonly batches: BuiltBatch[] = []
  #chunks: Buffer[]
  #length: number

  constructor(number: number, firstSequence: number, header: Buffer) {
    this.name = segmentName(firstSequence)
    this.number = number
    this.firstSequence = firstSequence
    this.#chunks = [header]
    this.#length = header.length
  }

  get length(): number {
    return this.#length
  }

  /** All bytes so far in one buffer, which may be damaged in place. */
  get bytes(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)]
    return this.#chunks[0] as Buffer
  }

  set bytes(bytes: Buffer) {
    this.#chunks = [bytes]
    this.#length = bytes.length
  }

  push(bytes: Buffer): void {
    this.#chunks.push(bytes)
    this.#length += bytes.length
  }
}

export interface BuilderOptions {
  deploymentId?: Buffer
  masterKeyCheck?: Buffer
  /** Time of the genesis and the first header, in microseconds; every record is one later. */
  startTime?: number
  /** Changes the fields of a record before it is hashed. */
  alterRecord?: (fields: RecordFields) => void
  /** Changes the fields of a batch before its checksums are made. */
  alterBatch?: (fields: BatchFields) => void
}

/** A journal that grows batch by batch. Begins with one segment and the genesis in its first batch. */
export class JournalBuilder {
  readonly segments: BuiltSegment[] = []
  readonly deploymentId: Buffer
  lastHash: Buffer = NO_HASH
  nextSequence = 0
  nextBatchNumber = 0
  time: number
  readonly #options: BuilderOptions
  #marks = 0

  constructor(options: BuilderOptions = {}) {
    this.#options = options
    this.deploymentId = options.deploymentId ?? Buffer.alloc(16, 0xd7)
    this.time = options.startTime ?? 1_790_000_000_000_000
    this.#beginSegment(NO_HASH)
    const check = options.masterKeyCheck ?? Buffer.alloc(32, 0xc4)
    this.append([{ kind: KIND.genesis, body: packBody([1, 'object-store', this.deploymentId, check]) }])
  }

  /** The segment that is being written. */
  get open(): BuiltSegment {
    return this.segments.at(-1) as BuiltSegment
  }

  /** Writes one batch of records. */
  append(records: readonly { kind: number; body: Buffer }[], flags = 0): BuiltBatch {
    const offset = this.open.length
    const fields: BatchFields = {
      flags,
      batchNumber: this.nextBatchNumber,
      firstSequence: this.nextSequence,
      recordCount: records.length,
      segmentNumber: this.open.number,
    }
    const places: (Place & { sequence: number })[] = []
    const encoded: Buffer[] = []
    let position = offset + 64
    for (const { kind, body } of records) {
      const record: RecordFields = {
        kind,
        bodyVersion: 1,
        sequence: this.nextSequence,
        time: this.time,
        previousHash: this.lastHash,
        body,
      }
      this.#options.alterRecord?.(record)
      const { bytes, hash } = encodeRecord(record)
      encoded.push(bytes)
      places.push({ offset: position, length: bytes.length, sequence: record.sequence })
      position += bytes.length
      this.lastHash = hash
      this.nextSequence += 1
      this.time += 1
    }
    this.#options.alterBatch?.(fields)
    const bytes = encodeBatch(fields, Buffer.concat(encoded))
    this.open.push(bytes)
    const batch = { offset, length: bytes.length, batchNumber: this.nextBatchNumber, records: places }
    this.open.batches.push(batch)
    this.nextBatchNumber += 1
    return batch
  }

  /** Writes one batch of entries. */
  entries(...entries: readonly EntryFields[]): BuiltBatch {
    return this.append(
      entries.map((entry) => ({
        kind: entry.changes === undefined ? KIND.audit : KIND.change,
        body: entryBody(entry),
      })),
    )
  }

  /** Seals the open segment and begins the next one. */
  seal(): void {
    const digest = this.sealOnly()
    this.#beginSegment(digest)
  }

  /** Seals the open segment and stops there, as a crash might. Returns the content digest. */
  sealOnly(): Buffer {
    const { number, firstSequence, bytes } = this.open
    const digest = createHash('sha256').update(bytes).digest()
    const body = packBody([number, firstSequence, this.nextSequence - 1, bytes.length, digest])
    this.append([{ kind: KIND.seal, body }], 1)
    return digest
  }

  /** Writes zeros behind the data of the open segment, as its preparation does. */
  writeAhead(bytes: number): void {
    this.open.push(Buffer.alloc(bytes))
  }

  /** A slot of HEAD that marks the end of the journal as it is now. */
  headSlot(cleanStop = false): Buffer {
    this.#marks += 1
    return encodeHeadSlot({
      markNumber: this.#marks,
      sequence: this.nextSequence - 1,
      batchNumber: this.nextBatchNumber - 1,
      hash: this.lastHash,
      cleanStop,
    })
  }

  /** HEAD with one mark at the end of the journal as it is now. */
  head(cleanStop = false): Buffer {
    const slot = this.headSlot(cleanStop)
    const empty = Buffer.alloc(4096)
    return Buffer.concat(this.#marks % 2 === 0 ? [slot, empty] : [empty, slot])
  }

  /** Writes the segments and, when given, HEAD into a directory, which is made. */
  write(directory: string, head?: Buffer): void {
    mkdirSync(directory, { recursive: true })
    for (const { name, bytes } of this.segments) writeFileSync(join(directory, name), bytes)
    if (head !== undefined) writeFileSync(join(directory, 'HEAD'), head)
  }

  #beginSegment(previousDigest: Buffer): void {
    const header = encodeSegmentHeader({
      segmentNumber: this.segments.length,
      firstSequence: this.nextSequence,
      firstBatchNumber: this.nextBatchNumber,
      creationTime: this.time,
      deploymentId: this.deploymentId,
      chainHead: this.lastHash,
      previousDigest,
    })
    this.segments.push(new BuiltSegment(this.segments.length, this.nextSequence, header))
  }
}
