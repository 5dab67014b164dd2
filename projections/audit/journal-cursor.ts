import type { Disk, DiskFile } from '../../engine/disk/disk.ts'
import { type StorePaths, segmentFirstSequence } from '../../engine/disk/store-paths.ts'
import { type BatchHeader, batchTrailerIsRight, decodeBatchHeader } from '../../engine/journal/batch-reader.ts'
import {
  ALIGNMENT_BYTES,
  BATCH_BYTES_MAXIMUM,
  BATCH_HEADER,
  BATCH_TRAILER,
  SEGMENT_HEADER,
} from '../../engine/journal/format.ts'
import { decodeSegmentHeader, type SegmentHeader } from '../../engine/journal/segment.ts'
import { SegmentPieces } from './segment-pieces.ts'
import type { Turns } from './turns.ts'

/** Where reading ends: behind the last batch that is applied. Nothing behind it is looked at, be it there or not. */
export interface JournalEnd {
  /** Of the last record. */
  readonly sequence: number
  /** Its hash. */
  readonly head: Uint8Array
  readonly segmentFirstSequence: number
  readonly offset: number
}

/** Where reading begins: at a batch, or at the beginning of a segment. */
export interface JournalBeginning {
  readonly segmentFirstSequence: number
  readonly offset: number
}

/** Somewhere in the journal, for people. */
export interface JournalSpot {
  /** First sequence of the segment by the name of its file. */
  readonly segment: number
  readonly offset: number
}

export type JournalStep =
  /** A segment begins. Its header is undefined when it is damaged. */
  | { readonly kind: 'segment'; readonly spot: JournalSpot; readonly header: SegmentHeader | undefined }
  /** A batch whose header can be read. `whole`: its checksum is right. */
  | {
      readonly kind: 'batch'
      readonly spot: JournalSpot
      readonly header: BatchHeader
      readonly bytes: Buffer
      readonly whole: boolean
    }
  /** Bytes that do not begin with the header of a batch. Undefined when they are more than a batch can have. */
  | { readonly kind: 'unreadable'; readonly spot: JournalSpot; readonly bytes: Buffer | undefined }

/** First sequences of the segments there are, ascending. */
export function segmentFirsts(disk: Disk, paths: StorePaths): number[] {
  const firsts = disk.list(paths.journal).map(segmentFirstSequence)
  return firsts.filter((first): first is number => first !== undefined)
}

/** The store was opened with every segment in this version, so another version is damage. */
function segmentHeader(bytes: Buffer): SegmentHeader | undefined {
  try {
    return decodeSegmentHeader(bytes)
  } catch {
    return undefined
  }
}

/** The bytes of a batch that ends at `limit` at the latest can be read. */
function fits(header: BatchHeader, offset: number, limit: number): boolean {
  return header.bytes <= BATCH_BYTES_MAXIMUM && offset + header.bytes <= limit
}

/**
 * Goes through the journal batch by batch while it is being written, up to where it is applied. Nothing ends it but
 * that end: what cannot be read is handed out as what it is, and reading goes on at the next batch. Its work is done in
 * turns. Memory does not depend on the journal's length.
 */
export class JournalCursor {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #turns: Turns
  readonly #end: JournalEnd
  readonly #beginning: JournalBeginning
  /** Segments still to be read. */
  readonly #firsts: number[]
  #first = 0
  #file: DiskFile | undefined
  #pieces: SegmentPieces | undefined
  #segmentNumber: number | undefined
  #offset = 0

  constructor(disk: Disk, paths: StorePaths, turns: Turns, beginning: JournalBeginning, end: JournalEnd) {
    this.#disk = disk
    this.#paths = paths
    this.#turns = turns
    this.#beginning = beginning
    this.#end = end
    this.#firsts = segmentFirsts(disk, paths).filter(
      (first) => first >= beginning.segmentFirstSequence && first <= end.segmentFirstSequence,
    )
  }

  /**
   * The next step, undefined at the end. Bytes are valid until the next call.
   * @param wanted batches that end before this sequence are passed over
   */
  async next(wanted = 0): Promise<JournalStep | undefined> {
    for (;;) {
      const pieces = this.#pieces
      if (pieces === undefined) return this.#beginSegment()
      if (this.#offset >= pieces.limit) {
        this.close()
        continue
      }
      const step = await this.#nextBatch(pieces, wanted)
      if (step !== undefined) return step
    }
  }

  /** Lets go of the file; not while `next` is at work. */
  close(): void {
    this.#file?.close()
    this.#file = undefined
    this.#pieces = undefined
  }

  async #beginSegment(): Promise<JournalStep | undefined> {
    const first = this.#firsts.shift()
    if (first === undefined) return undefined
    const file = await this.#disk.openToReadLater(this.#paths.segment(first))
    this.#file = file
    const limit = first === this.#end.segmentFirstSequence ? this.#end.offset : file.size()
    this.#pieces = new SegmentPieces(file, limit, this.#turns)
    this.#first = first
    const begins = first === this.#beginning.segmentFirstSequence
    this.#offset = begins ? this.#beginning.offset : SEGMENT_HEADER.bytes
    const header = segmentHeader(Buffer.from(await this.#pieces.read(0, SEGMENT_HEADER.bytes)))
    this.#segmentNumber = header?.segmentNumber
    return { kind: 'segment', spot: { segment: first, offset: 0 }, header }
  }

  /** The batch at the offset; undefined when it is passed over. */
  async #nextBatch(pieces: SegmentPieces, wanted: number): Promise<JournalStep | undefined> {
    const offset = this.#offset
    const head = pieces.held(offset, BATCH_HEADER.bytes) ?? (await pieces.read(offset, BATCH_HEADER.bytes))
    const header = decodeBatchHeader(head)
    if (header === undefined || !fits(header, offset, pieces.limit)) return this.#passUnreadable(pieces)
    if (header.firstSequence + header.recordCount <= wanted) {
      this.#offset += header.bytes
      return undefined
    }
    const bytes = pieces.held(offset, header.bytes) ?? (await pieces.read(offset, header.bytes))
    if (bytes.length < header.bytes) return this.#passUnreadable(pieces)
    const spot = { segment: this.#first, offset }
    const whole = batchTrailerIsRight(bytes)
    // Where something was cut out of a batch, the next one stands in what seems to be this one.
    const end = whole ? undefined : this.#headerIn(bytes, ALIGNMENT_BYTES, header.bytes)
    if (end === undefined) {
      this.#offset += header.bytes
      return { kind: 'batch', spot, header, bytes, whole }
    }
    this.#offset += end
    const recordBytes = Math.max(0, end - BATCH_HEADER.bytes - BATCH_TRAILER.bytes)
    return { kind: 'batch', spot, header: { ...header, recordBytes }, bytes: bytes.subarray(0, end), whole }
  }

  /** Where in some bytes the header of a batch of this segment stands, from an offset on, not behind another. */
  #headerIn(bytes: Buffer, from: number, last: number): number | undefined {
    for (let at = from; at <= last && at + BATCH_HEADER.bytes <= bytes.length; at += ALIGNMENT_BYTES) {
      if (bytes.readUInt32BE(at) !== BATCH_MAGIC) continue
      const header = decodeBatchHeader(bytes.subarray(at, at + BATCH_HEADER.bytes))
      if (header === undefined) continue
      if (this.#segmentNumber === undefined || header.segmentNumber === this.#segmentNumber) return at
    }
    return undefined
  }

  async #passUnreadable(pieces: SegmentPieces): Promise<JournalStep> {
    const offset = this.#offset
    const end = await this.#findHeader(pieces, offset + ALIGNMENT_BYTES)
    this.#offset = end
    const bytes = end - offset > BATCH_BYTES_MAXIMUM ? undefined : await pieces.read(offset, end - offset)
    return { kind: 'unreadable', spot: { segment: this.#first, offset }, bytes }
  }

  /** Offset of the next header of a batch of this segment, or the limit. */
  async #findHeader(pieces: SegmentPieces, from: number): Promise<number> {
    const { limit } = pieces
    for (let at = from; at + BATCH_HEADER.bytes <= limit; at += SEARCH_BYTES) {
      const bytes = await pieces.read(at, SEARCH_BYTES + BATCH_HEADER.bytes)
      const found = this.#headerIn(bytes, 0, SEARCH_BYTES - ALIGNMENT_BYTES)
      if (found !== undefined) return at + found
    }
    return limit
  }
}

const SEARCH_BYTES = 64 * 1024
const BATCH_MAGIC = Buffer.from(BATCH_HEADER.magic, 'ascii').readUInt32BE()
