import { microsecondsOf, next, type Sequence, sequenceOf } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import type { JournalRecord } from '../../engine/journal/batch-reader.ts'
import { type CredentialUse, CredentialUses } from '../../engine/journal/credential-uses.ts'
import { HASH_BYTES, RECORD_KIND } from '../../engine/journal/format.ts'
import { type AppliedPosition, type BatchPlace, lastBefore, type NextRecord } from '../../engine/journal/positions.ts'
import { readJournal } from '../../engine/journal/read-journal.ts'
import { BatchTimesGatherer, type RecordTimes } from '../../engine/journal/record-times.ts'

/** A chunk ends with the batch in which it reaches one of these. */
const BODY_BYTES = 512 * 1024
const RECORDS = 8192

/**
 * A run of whole batches as replay needs it: the bodies of the change records, and where each batch is. Flat arrays, so
 * that it can be transferred to another thread without a copy.
 */
export interface ReplayChunk {
  /** Records of all kinds. */
  readonly records: number
  /** Bodies of the change records, back to back. */
  readonly bodies: Uint8Array<ArrayBuffer>
  /** For each change record: sequence, order time, time, length of its body. */
  readonly changes: Float64Array<ArrayBuffer>
  /** For each batch: `BATCH_FIELDS` numbers. */
  readonly batches: Float64Array<ArrayBuffer>
  /** For each batch the hash of its last record, 32 bytes. */
  readonly heads: Uint8Array<ArrayBuffer>
  /** The uses of credentials, by the number of the batch in the chunk; few. */
  readonly uses: readonly (readonly [batch: number, uses: readonly CredentialUse[]])[]
}

const CHANGE_FIELDS = 4
const BATCH_FIELDS = 14

/** A batch of a chunk. */
interface ReplayBatch {
  readonly position: AppliedPosition
  readonly firstSequence: Sequence
  /** Change records in it. */
  readonly changeCount: number
  readonly uses: readonly CredentialUse[]
}

const NO_USES: readonly CredentialUse[] = []

export function batchesOf(chunk: ReplayChunk): ReplayBatch[] {
  const batches: ReplayBatch[] = []
  const usesOf = new Map(chunk.uses)
  for (let at = 0; at < chunk.batches.length; at += BATCH_FIELDS) {
    const start = (at / BATCH_FIELDS) * HASH_BYTES
    const field = (index: number) => chunk.batches[at + index] as number
    const position = {
      sequence: sequenceOf(field(2)),
      batch: field(3),
      orderMicroseconds: microsecondsOf(field(4)),
      timeMicroseconds: microsecondsOf(field(5)),
      segmentNumber: field(6),
      segmentFirstSequence: sequenceOf(field(7)),
      batchOffset: field(8),
      offset: field(9),
      earliestMicroseconds: microsecondsOf(field(10)),
      latestMicroseconds: microsecondsOf(field(11)),
      differ: field(12) === 1,
      descend: field(13) === 1,
      head: chunk.heads.subarray(start, start + HASH_BYTES),
    }
    const uses = usesOf.get(batches.length) ?? NO_USES
    batches.push({ position, firstSequence: sequenceOf(field(0)), changeCount: field(1), uses })
  }
  return batches
}

/** Reads the change records of a chunk in order. */
export class ChangeCursor {
  readonly #chunk: ReplayChunk
  #index = 0
  #offset = 0

  constructor(chunk: ReplayChunk) {
    this.#chunk = chunk
  }

  next(): RecordTimes & { readonly sequence: Sequence; readonly body: Uint8Array } {
    const { changes, bodies } = this.#chunk
    const at = this.#index * CHANGE_FIELDS
    const end = this.#offset + (changes[at + 3] as number)
    const body = bodies.subarray(this.#offset, end)
    this.#index += 1
    this.#offset = end
    const sequence = sequenceOf(changes[at] as number)
    const orderMicroseconds = microsecondsOf(changes[at + 1] as number)
    return { sequence, orderMicroseconds, timeMicroseconds: microsecondsOf(changes[at + 2] as number), body }
  }
}

/**
 * Reads the journal, verifying every record, and emits it in chunks.
 * @param before as of `readJournal`
 * @throws JournalDamagedError
 */
export function readChunks(
  disk: Disk,
  paths: StorePaths,
  from: AppliedPosition | undefined,
  emit: (chunk: ReplayChunk) => void,
  before?: Sequence,
): void {
  const builder = new ChunkBuilder(from === undefined ? sequenceOf(0) : next(from.sequence))
  const visitor = {
    record: (record: JournalRecord) => builder.add(record),
    batch: (chain: NextRecord, place: BatchPlace) => {
      builder.endBatch(chain, place)
      if (builder.isFull) emit(builder.take())
    },
  }
  readJournal(disk, paths, from, visitor, before)
  if (!builder.isEmpty) emit(builder.take())
}

class ChunkBuilder {
  #bodies = Buffer.allocUnsafe(2 * BODY_BYTES)
  #length = 0
  #changes: number[] = []
  #batches: number[] = []
  #changesInBatch = 0
  #firstSequence: Sequence
  #firstOfChunk: Sequence
  #heads: Uint8Array[] = []
  #usesOfChunk: [number, readonly CredentialUse[]][] = []
  readonly #times = new BatchTimesGatherer()
  readonly #uses = new CredentialUses()

  constructor(firstSequence: Sequence) {
    this.#firstSequence = firstSequence
    this.#firstOfChunk = firstSequence
  }

  get isEmpty(): boolean {
    return this.#batches.length === 0
  }

  get isFull(): boolean {
    return this.#length >= BODY_BYTES || this.#firstSequence - this.#firstOfChunk >= RECORDS
  }

  add(record: JournalRecord): void {
    this.#times.add(record)
    this.#uses.add(record.body, record.timeMicroseconds)
    if (record.kind !== RECORD_KIND.change) return
    const { sequence, orderMicroseconds, timeMicroseconds, body } = record
    const end = this.#length + body.length
    if (end > this.#bodies.length) this.#bodies = Buffer.concat([this.#bodies], 2 * end)
    this.#bodies.set(body, this.#length)
    this.#length = end
    this.#changes.push(sequence, orderMicroseconds, timeMicroseconds, body.length)
    this.#changesInBatch += 1
  }

  endBatch(chain: NextRecord, place: BatchPlace): void {
    const { segmentNumber, segmentFirstSequence, batchOffset, offset } = place
    const { sequence, batch, orderMicroseconds, timeMicroseconds, head } = lastBefore(chain)
    const { earliestMicroseconds, latestMicroseconds, differ, descend } = this.#times.take()
    const uses = this.#uses.take()
    if (uses.length > 0) this.#usesOfChunk.push([this.#heads.length, uses])
    this.#batches.push(this.#firstSequence, this.#changesInBatch, sequence, batch)
    this.#batches.push(orderMicroseconds, timeMicroseconds)
    this.#batches.push(segmentNumber, segmentFirstSequence, batchOffset, offset)
    this.#batches.push(earliestMicroseconds, latestMicroseconds, Number(differ), Number(descend))
    this.#firstSequence = chain.nextSequence
    this.#changesInBatch = 0
    this.#heads.push(head)
  }

  take(): ReplayChunk {
    const bodies = new Uint8Array(this.#length)
    bodies.set(this.#bodies.subarray(0, this.#length))
    const chunk = {
      records: this.#firstSequence - this.#firstOfChunk,
      bodies,
      changes: Float64Array.from(this.#changes),
      batches: Float64Array.from(this.#batches),
      heads: Uint8Array.from(Buffer.concat(this.#heads)),
      uses: this.#usesOfChunk,
    }
    this.#length = 0
    this.#changes = []
    this.#batches = []
    this.#heads = []
    this.#usesOfChunk = []
    this.#firstOfChunk = this.#firstSequence
    return chunk
  }
}
