import type { DiskFile } from '../../engine/disk/disk.ts'
import {
  BLOCK,
  closeBlock,
  encodeHeader,
  FENCE_BYTES,
  FENCES_AT,
  HEADER_BYTES,
  type IndexHeader,
  writeFence,
  writeVarint,
} from './index-format.ts'

/** Longest posting: two varints. */
const POSTING_BYTES_MAXIMUM = 16
/** Blocks written at once. */
const WRITTEN_BLOCKS = 32

/** Writes the postings of a file, which come in the order of terms and sequences, and then its fences and its header. */
export class IndexWriter {
  readonly #file: DiskFile
  readonly #first: number
  readonly #moved: (bytes: number) => void
  readonly #written = Buffer.alloc(WRITTEN_BLOCKS * BLOCK.bytes)
  /** Blocks that are in `#written`, and that were written before. */
  #held = 0
  #before = 0
  #block: Buffer
  #used = 0
  #term = 0
  #sequence = 0
  #postings = 0
  /** First postings of the blocks of the level that is written. */
  #fences: Buffer[] = []

  /**
   * @param first sequences count from it
   * @param moved called with bytes that were written
   */
  constructor(file: DiskFile, first: number, moved: (bytes: number) => void) {
    this.#file = file
    this.#first = first
    this.#moved = moved
    this.#block = this.#written.subarray(0, BLOCK.bytes)
  }

  /** A posting that was the last one already is left out. */
  add(term: number, sequence: number): void {
    const own = sequence - this.#first
    if (term === this.#term && own === this.#sequence && this.#postings > 0) return
    if (this.#used + POSTING_BYTES_MAXIMUM > BLOCK.usedAt) this.#endBlock()
    if (this.#used === 0) {
      writeFence(this.#block, 0, term, own)
      this.#used = FENCE_BYTES
      this.#fences.push(Buffer.from(this.#block.subarray(0, FENCE_BYTES)))
    } else if (term === this.#term) {
      this.#used = writeVarint(this.#block, this.#used, 2 * (own - this.#sequence))
    } else {
      this.#used = writeVarint(this.#block, this.#used, 2 * (term - this.#term) + 1)
      this.#used = writeVarint(this.#block, this.#used, own)
    }
    this.#term = term
    this.#sequence = own
    this.#postings += 1
  }

  /** Writes the rest, and syncs the file. */
  finish(about: Pick<IndexHeader, 'first' | 'last' | 'unreadable'>): void {
    if (this.#used > 0) this.#endBlock()
    const dataBlocks = this.#before + this.#held
    let level = this.#fences
    let below = 0
    while (level.length > 1) {
      const start = this.#before + this.#held
      this.#fences = []
      this.#writeLevel(level, below)
      level = this.#fences
      below = start
    }
    this.#flush()
    this.#file.writeAt(encodeHeader({ ...about, blocks: this.#before, dataBlocks, postings: this.#postings }), 0)
    this.#file.sync()
  }

  #writeLevel(level: readonly Buffer[], below: number): void {
    const room = Math.floor((BLOCK.usedAt - FENCES_AT) / FENCE_BYTES)
    for (let from = 0; from < level.length; from += room) {
      const fences = level.slice(from, from + room)
      this.#block.writeUInt32BE(below + from, 0)
      for (const [index, fence] of fences.entries()) this.#block.set(fence, FENCES_AT + index * FENCE_BYTES)
      this.#used = FENCES_AT + fences.length * FENCE_BYTES
      this.#fences.push(fences[0] as Buffer)
      this.#endBlock()
    }
  }

  #endBlock(): void {
    closeBlock(this.#block, this.#used, this.#before + this.#held)
    this.#used = 0
    this.#held += 1
    if (this.#held === WRITTEN_BLOCKS) this.#flush()
    this.#block = this.#written.subarray(this.#held * BLOCK.bytes, (this.#held + 1) * BLOCK.bytes)
  }

  #flush(): void {
    const bytes = this.#written.subarray(0, this.#held * BLOCK.bytes)
    if (bytes.length > 0) this.#file.writeAt(bytes, HEADER_BYTES + this.#before * BLOCK.bytes)
    this.#before += this.#held
    this.#held = 0
    this.#moved(bytes.length)
  }
}
