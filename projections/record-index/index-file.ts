import type { Disk, DiskFile } from '../../engine/disk/disk.ts'
import {
  BLOCK,
  BlockPostings,
  decodeHeader,
  FENCE_BYTES,
  FENCES_AT,
  HEADER_BYTES,
  type IndexHeader,
  isFenceBefore,
  isWholeBlock,
  RecordIndexDamagedError,
} from './index-format.ts'

/** A file of the record index that is open for reading. Every block is checked when it is read. */
export class IndexFile {
  readonly header: IndexHeader
  readonly #file: Pick<DiskFile, 'path' | 'readAt' | 'size' | 'close'>

  /** @throws RecordIndexDamagedError, and the disk's errors */
  static open(disk: Pick<Disk, 'openToRead'>, path: string): IndexFile {
    const file = disk.openToRead(path)
    try {
      return new IndexFile(file)
    } catch (error) {
      file.close()
      throw error
    }
  }

  private constructor(file: Pick<DiskFile, 'path' | 'readAt' | 'size' | 'close'>) {
    this.#file = file
    const bytes = Buffer.alloc(HEADER_BYTES)
    const header = decodeHeader(bytes.subarray(0, file.readAt(bytes, 0, bytes.length)))
    if (header === undefined) throw this.#damaged('the header is damaged')
    if (file.size() !== HEADER_BYTES + header.blocks * BLOCK.bytes) throw this.#damaged('it has another length')
    this.header = header
  }

  close(): void {
    this.#file.close()
  }

  /**
   * The sequences of a term, from one on, in their order.
   * @throws RecordIndexDamagedError
   */
  *ascending(term: number, from: number): Generator<number, void> {
    const { first, dataBlocks } = this.header
    const least = Math.max(0, from - first)
    for (let number = this.#find(term, least); number < dataBlocks; number += 1) {
      const postings = new BlockPostings(this.#block(number))
      while (postings.next()) {
        if (postings.term > term) return
        if (postings.term === term && postings.sequence >= least) yield first + postings.sequence
      }
    }
  }

  /**
   * The sequences of a term before another one, the last first.
   * @throws RecordIndexDamagedError
   */
  *descending(term: number, before: number): Generator<number, void> {
    const { first, dataBlocks } = this.header
    const most = before - first - 1
    if (most < 0 || dataBlocks === 0) return
    for (let number = this.#find(term, most); number >= 0; number -= 1) {
      const postings = new BlockPostings(this.#block(number))
      const found: number[] = []
      let isBegun = false
      while (postings.next() && postings.term <= term) {
        if (postings.term < term) isBegun = true
        else if (postings.sequence <= most) found.push(first + postings.sequence)
      }
      yield* found.toReversed()
      if (isBegun) return
    }
  }

  /** All postings of the file in their order. */
  all(): FilePostings {
    return new FilePostings(this.header.first, this.header.dataBlocks, (number) => this.#block(number))
  }

  /** Reads every block. @throws RecordIndexDamagedError */
  *check(): Generator<number, void> {
    for (let number = 0; number < this.header.blocks; number += 1) yield this.#block(number).length
  }

  /** Number of the last block whose first posting is at or before one, or of the first block. */
  #find(term: number, sequence: number): number {
    const { blocks, dataBlocks } = this.header
    let number = blocks - 1
    while (number >= dataBlocks) {
      const block = this.#block(number)
      let low = 0
      let high = (block.readUInt16BE(BLOCK.usedAt) - FENCES_AT) / FENCE_BYTES
      while (high - low > 1) {
        const middle = (low + high) >> 1
        if (isFenceBefore(block, FENCES_AT + middle * FENCE_BYTES, term, sequence)) low = middle
        else high = middle
      }
      number = block.readUInt32BE(0) + low
    }
    return Math.max(0, number)
  }

  #block(number: number): Buffer {
    const bytes = Buffer.allocUnsafe(BLOCK.bytes)
    const read = this.#file.readAt(bytes, HEADER_BYTES + number * BLOCK.bytes, bytes.length)
    if (!isWholeBlock(bytes.subarray(0, read), number)) throw this.#damaged(`block ${number} is damaged`)
    return bytes
  }

  #damaged(reason: string): RecordIndexDamagedError {
    return new RecordIndexDamagedError(`${this.#file.path}: ${reason}`)
  }
}

/** The postings of a whole file, one after another. */
class FilePostings {
  term = -1
  sequence = -1
  readonly #first: number
  readonly #blocks: number
  readonly #read: (number: number) => Buffer
  #number = 0
  #postings: BlockPostings | undefined

  constructor(first: number, blocks: number, read: (number: number) => Buffer) {
    this.#first = first
    this.#blocks = blocks
    this.#read = read
  }

  /** Steps to the next posting; false after the last. @throws RecordIndexDamagedError */
  next(): boolean {
    while (this.#postings?.next() !== true) {
      if (this.#number >= this.#blocks) return false
      this.#postings = new BlockPostings(this.#read(this.#number))
      this.#number += 1
    }
    this.term = this.#postings.term
    this.sequence = this.#first + this.#postings.sequence
    return true
  }
}
