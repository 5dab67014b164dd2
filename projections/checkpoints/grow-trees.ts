import type { Sequence } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { HASH_BYTES, SEGMENT_HEADER } from '../../engine/journal/format.ts'
import { JournalDamagedError } from '../../engine/journal/journal-errors.ts'
import { firstOf, type NextRecord, type SegmentPlace } from '../../engine/journal/positions.ts'
import { decodeSegmentHeader, segmentFirsts, type SegmentFile } from '../../engine/journal/segment.ts'
import { openSegment } from '../../engine/journal/segment-file.ts'
import { SegmentWindow, scanSegment } from '../../engine/journal/segment-scan.ts'
import { TREE_PIECE_BYTES, type TreeFiles } from './tree-files.ts'

/** Where the journal is known to be durable: the end of a batch that is applied. */
export interface JournalLimit extends SegmentPlace {
  /** Hash of the last record before it. */
  readonly head: Uint8Array
}

/** How far the trees have read the journal. */
interface Reached {
  readonly chain: NextRecord
  readonly place: SegmentPlace
}

/** What grows: the trees, or what is compared with them. */
export type GrowingTrees = Pick<TreeFiles, 'size' | 'append' | 'recordHashes' | 'cut' | 'clear'>

/**
 * Extends the trees by what the journal holds on the disk, verifying every record and every link (T4): hashes in the
 * engine's memory are never trusted.
 */
export class TreeGrower {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #trees: GrowingTrees
  #reached: Reached | undefined
  #discarded = 0
  #hasBegun = false
  /** The signed size at which the trees were last started over. */
  #doubted: number | undefined

  constructor(disk: Disk, paths: StorePaths, trees: GrowingTrees) {
    this.#disk = disk
    this.#paths = paths
    this.#trees = trees
  }

  /** How often the trees differed from the journal, and started over. */
  get discarded(): number {
    return this.#discarded
  }

  /**
   * At the first call, and after a failure, drops the records of the trees after `size`, so that they are read from the
   * journal again: a failed write may have left less in the files than in memory.
   */
  beginAfter(size: number): void {
    if (!this.#hasBegun) this.#trees.cut(size)
    this.#hasBegun = true
  }

  /**
   * Called when the trees differ from what was signed at this size. They start over, for they may have been damaged;
   * after a second time the journal is not what was signed.
   * @throws OtherTreesError at the first time
   */
  doubt(signedSize: number): void {
    if (this.#doubted === signedSize) return
    this.#doubted = signedSize
    this.#discard()
    throw new OtherTreesError()
  }

  /**
   * Reads on, to the end of a segment or to the limit, whichever comes first.
   * @returns whether the limit is reached
   * @throws JournalDamagedError
   */
  step(limit: JournalLimit): boolean {
    const firsts = segmentFirsts(this.#disk, this.#paths)
    this.#reached = this.#onward(firsts, this.#reached ?? this.#begin(firsts, limit))
    const { chain, place } = this.#reached
    const isLast = place.segmentFirstSequence === limit.segmentFirstSequence
    const offset = this.#readSegment(place, isLast ? limit.offset : undefined, chain)
    this.#reached = { chain, place: { ...place, offset } }
    if (!isLast) {
      if (firsts.includes(chain.nextSequence)) return false
      throw new JournalDamagedError(`no segment begins with record ${chain.nextSequence}`)
    }
    if (chain.nextSequence < this.#trees.size) {
      this.#discard()
      throw new OtherTreesError()
    }
    if (chain.head.equals(limit.head)) return true
    throw new JournalDamagedError(
      `the last record on the disk, ${chain.nextSequence - 1}, is not the one that was written`,
    )
  }

  /** After a seal with the next segment: nothing follows in the sealed one, which may be cold. */
  #onward(firsts: readonly Sequence[], reached: Reached): Reached {
    const { chain, place } = reached
    const { nextSequence } = chain
    if (nextSequence === place.segmentFirstSequence || !firsts.includes(nextSequence)) return reached
    return { chain, place: { segmentFirstSequence: nextSequence, offset: SEGMENT_HEADER.bytes } }
  }

  /**
   * Continues the trees in the segment of their last record, if they match the journal there; otherwise they start
   * over.
   */
  #begin(firsts: readonly Sequence[], limit: JournalLimit): Reached {
    const { size } = this.#trees
    const present = firsts.findLast((first) => first < size)
    const isThere = present !== undefined && present <= limit.segmentFirstSequence
    if (!isThere && size > 0) this.#discard()
    const segment = isThere ? present : firsts[0]
    if (segment === undefined) throw new JournalDamagedError('there is no journal')
    return this.#beginAt({ segmentFirstSequence: segment, offset: SEGMENT_HEADER.bytes })
  }

  #beginAt(place: SegmentPlace): Reached {
    const path = this.#paths.segment(place.segmentFirstSequence)
    const file = openSegment(this.#disk, path)
    try {
      const bytes = Buffer.alloc(SEGMENT_HEADER.bytes)
      file.readAt(bytes, 0, bytes.length)
      const header = decodeSegmentHeader(bytes)
      if (header === undefined) throw new JournalDamagedError(`${path}: header is damaged`)
      return { chain: firstOf(header), place }
    } finally {
      file.close()
    }
  }

  #discard(): void {
    this.#trees.clear()
    this.#reached = undefined
    this.#discarded += 1
  }

  /** @returns the offset after the last batch */
  #readSegment(place: SegmentPlace, limit: number | undefined, chain: NextRecord): number {
    const path = this.#paths.segment(place.segmentFirstSequence)
    const file = openSegment(this.#disk, path)
    const additions = new Additions(this.#trees)
    try {
      const bytes = Buffer.alloc(SEGMENT_HEADER.bytes)
      file.readAt(bytes, 0, bytes.length)
      const number = decodeSegmentHeader(bytes)?.segmentNumber
      if (number === undefined) throw new JournalDamagedError(`${path}: header is damaged`)
      const window = new SegmentWindow(limit === undefined ? file : cutAt(file, limit))
      const end = scanSegment(window, number, place.offset, chain, {
        record: ({ sequence, hash }) => {
          if (!additions.take(sequence, hash)) throw new OtherTreesError()
        },
      })
      additions.flush()
      if (end.end === 'torn' || end.end === 'foreign') {
        throw new JournalDamagedError(`${path}, offset ${end.offset}, sequence ${chain.nextSequence}: ${end.reason}`)
      }
      return end.offset
    } catch (error) {
      if (error instanceof OtherTreesError) this.#discard()
      // Whatever was read of the segment is read again.
      this.#reached = undefined
      this.#hasBegun = false
      throw error
    } finally {
      file.close()
    }
  }
}

/** The trees do not belong to this journal. */
export class OtherTreesError extends Error {
  override readonly name = 'OtherTreesError'

  constructor() {
    super('the trees did not match the journal; they are being rebuilt')
  }
}

/** The first bytes of a segment that is being written. */
function cutAt(file: SegmentFile, limit: number): Pick<SegmentFile, 'size' | 'readAt' | 'isCold'> {
  return {
    isCold: file.isCold,
    size: () => Math.min(limit, file.size()),
    readAt: (target, position, length) =>
      file.readAt(target, position, Math.min(length, Math.max(0, limit - position))),
  }
}

/** Hashes on their way into the trees. */
class Additions {
  readonly #trees: GrowingTrees
  readonly #bytes = Buffer.allocUnsafe(TREE_PIECE_BYTES)
  #length = 0
  /** Hashes that the trees have, from a sequence on. */
  #present: { readonly first: number; readonly hashes: Buffer } = { first: 0, hashes: Buffer.alloc(0) }

  constructor(trees: GrowingTrees) {
    this.#trees = trees
  }

  /** False for a record that is in the trees with another hash. */
  take(sequence: number, hash: Buffer): boolean {
    if (sequence < this.#trees.size) return this.#hasAt(sequence, hash)
    hash.copy(this.#bytes, this.#length)
    this.#length += HASH_BYTES
    if (this.#length === this.#bytes.length) this.flush()
    return true
  }

  #hasAt(sequence: number, hash: Buffer): boolean {
    let at = (sequence - this.#present.first) * HASH_BYTES
    if (at < 0 || at >= this.#present.hashes.length) {
      const count = Math.min(this.#trees.size - sequence, TREE_PIECE_BYTES / HASH_BYTES)
      this.#present = { first: sequence, hashes: this.#trees.recordHashes(sequence, count) }
      at = 0
    }
    return hash.equals(this.#present.hashes.subarray(at, at + HASH_BYTES))
  }

  flush(): void {
    if (this.#length > 0) this.#trees.append(this.#bytes.subarray(0, this.#length))
    this.#length = 0
  }
}
