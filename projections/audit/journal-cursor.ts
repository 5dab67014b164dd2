import { type Microseconds, type Sequence, sequenceOf } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { type BatchHeader, batchTrailerIsRight, decodeBatchHeader } from '../../engine/journal/batch-reader.ts'
import { ALIGNMENT_BYTES, BATCH_BYTES_MAXIMUM, BATCH_HEADER, SEGMENT_HEADER } from '../../engine/journal/format.ts'
import {
  decodeSegmentHeader,
  type SegmentHeader,
  segmentFirsts,
  type SegmentFile,
} from '../../engine/journal/segment.ts'
import { openSegmentAsync } from '../../engine/journal/segment-file.ts'
import { ColdSegmentDamagedError } from '../../engine/journal/cold/cold-segment.ts'
import type { SegmentPlace } from '../../engine/journal/positions.ts'
import { batchHeaderIn } from '../../engine/verify/tail-scan.ts'
import { PieceMemory, SegmentPieces } from './segment-pieces.ts'
import type { Turns } from './turns.ts'

/** Where reading ends: after the last batch that is applied. Nothing after it is read. */
export interface JournalEnd {
  /** Of the record after the last one. */
  readonly nextSequence: Sequence
  /** Time of the last record. */
  readonly timeMicroseconds: Microseconds
  /** Hash of the last record. */
  readonly head: Uint8Array
  readonly place: SegmentPlace
}

/** A whole batch. The bytes are valid until the next step. */
export interface JournalBatch {
  readonly header: BatchHeader
  readonly bytes: Buffer
}

/** The store was opened with every segment in this version, so another version is damage. */
function segmentHeader(bytes: Buffer): SegmentHeader | undefined {
  try {
    return decodeSegmentHeader(bytes)
  } catch {
    return undefined
  }
}

/**
 * Reads the journal batch by batch while it is being written, up to the last batch that is applied. It reports bytes that
 * it cannot read as damaged and continues at the next batch. It works in turns. Memory does not depend on the journal's
 * length.
 */
export class JournalCursor {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #turns: Turns
  readonly #memory: PieceMemory
  readonly #end: SegmentPlace
  readonly #beginning: SegmentPlace
  /** Segments still to be read. */
  readonly #firsts: Sequence[]
  readonly #hasBeginning: boolean
  #place: SegmentPlace = { segmentFirstSequence: sequenceOf(0), offset: 0 }
  #file: SegmentFile | undefined
  #pieces: SegmentPieces | undefined
  #segmentNumber: number | undefined
  #offset = 0
  /** After the records that were read: a batch with an earlier one is a copy in the wrong place. */
  #nextSequence = 0

  /**
   * @param memory of several cursors that follow each other
   * @param firsts segments of the journal that are known
   */
  constructor(
    disk: Disk,
    paths: StorePaths,
    turns: Turns,
    beginning: SegmentPlace,
    end: SegmentPlace,
    memory = new PieceMemory(),
    firsts: readonly Sequence[] = segmentFirsts(disk, paths),
  ) {
    this.#disk = disk
    this.#paths = paths
    this.#turns = turns
    this.#memory = memory
    this.#beginning = beginning
    this.#end = end
    this.#firsts = firsts.filter(
      (first) => first >= beginning.segmentFirstSequence && first <= end.segmentFirstSequence,
    )
    this.#hasBeginning = this.#firsts[0] === beginning.segmentFirstSequence
  }

  /** Whether the first segment to be read is there. */
  get hasBeginning(): boolean {
    return this.#hasBeginning
  }

  /** Where the batch or the damage is that `next` returned last, or the segment that it began last. */
  get place(): SegmentPlace {
    return this.#place
  }

  /**
   * The next whole batch, or `damaged` for damage before it; undefined at the end.
   * @param wanted batches that end before this sequence are skipped
   */
  async next(wanted = 0): Promise<JournalBatch | 'damaged' | undefined> {
    for (;;) {
      const pieces = this.#pieces ?? (await this.#beginSegment())
      if (pieces === undefined || pieces === 'damaged') return pieces
      if (this.#offset >= pieces.limit) this.close()
      else {
        const step = await this.#nextBatch(pieces, wanted)
        if (step !== undefined) return step
      }
    }
  }

  /** Closes the file; not while `next` is running. */
  close(): void {
    this.#file?.close()
    this.#file = undefined
    this.#pieces?.close()
    this.#pieces = undefined
  }

  async #beginSegment(): Promise<SegmentPieces | 'damaged' | undefined> {
    const first = this.#firsts.shift()
    if (first === undefined) return undefined
    const file = await this.#open(first)
    if (file === undefined) return 'damaged'
    this.#file = file
    const pieces = new SegmentPieces(
      file,
      first === this.#end.segmentFirstSequence ? this.#end.offset : file.size(),
      this.#turns,
      this.#memory,
    )
    this.#pieces = pieces
    this.#offset = first === this.#beginning.segmentFirstSequence ? this.#beginning.offset : SEGMENT_HEADER.bytes
    this.#segmentNumber = segmentHeader(Buffer.from(await pieces.read(0, SEGMENT_HEADER.bytes)))?.segmentNumber
    return pieces
  }

  /** Undefined when no part of the segment can be read. Blocks that cannot be inflated are zeros, in which no batch is. */
  async #open(first: Sequence): Promise<SegmentFile | undefined> {
    this.#place = { segmentFirstSequence: first, offset: 0 }
    try {
      return await openSegmentAsync(this.#disk, this.#paths.segment(first), { onDamage: () => undefined })
    } catch (error) {
      if (error instanceof ColdSegmentDamagedError) return undefined
      throw error
    }
  }

  /** The batch at the offset; undefined when it is skipped. */
  async #nextBatch(pieces: SegmentPieces, wanted: number): Promise<JournalBatch | 'damaged' | undefined> {
    const offset = this.#offset
    const head = pieces.held(offset, BATCH_HEADER.bytes) ?? (await pieces.read(offset, BATCH_HEADER.bytes))
    const header = decodeBatchHeader(head)
    const fits = header !== undefined && header.bytes <= Math.min(BATCH_BYTES_MAXIMUM, pieces.limit - offset)
    if (fits && header.firstSequence + header.recordCount <= wanted) {
      this.#offset += header.bytes
      return undefined
    }
    this.#place = { ...this.#place, offset }
    if (fits) {
      const bytes = pieces.held(offset, header.bytes) ?? (await pieces.read(offset, header.bytes))
      if (header.firstSequence >= this.#nextSequence && bytes.length === header.bytes && batchTrailerIsRight(bytes)) {
        this.#offset += header.bytes
        this.#nextSequence = header.firstSequence + header.recordCount
        return { header, bytes }
      }
    }
    this.#offset = await this.#findHeader(pieces, offset + ALIGNMENT_BYTES)
    return 'damaged'
  }

  /** Offset of the next batch header of this segment, or the limit. */
  async #findHeader(pieces: SegmentPieces, from: number): Promise<number> {
    for (let at = from; at < pieces.limit; at += SEARCH_BYTES) {
      const bytes = await pieces.read(at, SEARCH_BYTES + BATCH_HEADER.bytes)
      const found = batchHeaderIn(bytes, 0, this.#segmentNumber)
      if (found !== undefined) return at + found
    }
    return pieces.limit
  }
}

const SEARCH_BYTES = 64 * 1024
