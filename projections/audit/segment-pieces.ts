import type { SegmentFile } from '../../engine/journal/segment.ts'
import type { Turns } from './turns.ts'

/** Bytes read at once: a few thousand records at most, too few to block a thread for long. */
const PIECE_BYTES = 256 * 1024

/** Memory of readers that begin often. One piece is kept between two of them, as long as the longest batch at most. */
export class PieceMemory {
  #spare: Buffer | undefined

  /** `length` bytes or more. */
  take(length: number): Buffer {
    const spare = this.#spare
    if (spare === undefined || spare.length < length) return Buffer.allocUnsafeSlow(length)
    this.#spare = undefined
    return spare
  }

  giveBack(bytes: Buffer): void {
    if (this.#spare === undefined || this.#spare.length < bytes.length) this.#spare = bytes
  }
}

/** One segment, read asynchronously piece by piece. */
export class SegmentPieces {
  /** Nothing after this offset is read. */
  readonly limit: number
  readonly #file: SegmentFile
  readonly #turns: Turns
  readonly #memory: PieceMemory
  #bytes: Buffer
  #start = 0
  #length = 0

  constructor(file: SegmentFile, limit: number, turns: Turns, memory: PieceMemory) {
    this.limit = limit
    this.#file = file
    this.#turns = turns
    this.#memory = memory
    this.#bytes = memory.take(Math.min(PIECE_BYTES, Math.max(1, limit)))
  }

  /** Gives the memory back: nothing that was read is valid any more. */
  close(): void {
    this.#memory.giveBack(this.#bytes)
  }

  /** `length` bytes at `offset` when they are in memory. Valid until the next call of `read`. */
  held(offset: number, length: number): Buffer | undefined {
    const at = offset - this.#start
    if (at < 0 || at + length > this.#length) return undefined
    return this.#bytes.subarray(at, at + length)
  }

  /** `length` bytes at `offset`, fewer at the limit or the end of the file. Valid until the next call. */
  async read(offset: number, length: number): Promise<Buffer> {
    const held = this.held(offset, length)
    if (held !== undefined) return held
    if (length > this.#bytes.length) this.#bytes = this.#memory.take(length)
    this.#start = offset
    this.#length = 0
    // The memory may come from a longer batch.
    const wanted = Math.max(0, Math.min(Math.max(PIECE_BYTES, length), this.#bytes.length, this.limit - offset))
    this.#length = await this.#file.readAtAsync(this.#bytes, offset, wanted)
    await this.#turns.next()
    return this.#bytes.subarray(0, Math.min(length, this.#length))
  }
}
