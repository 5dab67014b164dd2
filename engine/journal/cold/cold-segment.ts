import type { ReadableFile } from '../../disk/unreadable.ts'
import { JournalDamagedError } from '../journal-errors.ts'
import type { SegmentFile } from '../segment.ts'
import { decodeBlock, decodeBlockAsync } from './block-codec.ts'
import { FOOTER, INDEX_END } from './cold-format.ts'
import { blockAt, type ColdBlock, type ColdIndex, decodeIndex, indexLength } from './cold-index.ts'

/** Bytes of a cold segment cannot be read. `offset` is that in the plain segment. */
export class ColdSegmentDamagedError extends JournalDamagedError {
  readonly path: string
  readonly offset: number
  readonly reason: string

  constructor(path: string, offset: number, reason: string) {
    super(`${path}, offset ${offset}: ${reason}`)
    this.path = path
    this.offset = offset
    this.reason = reason
  }
}

export interface ColdOptions {
  /**
   * Called with the offset of a block that is damaged, whose bytes then count as zeros, as do bytes of a plain segment that
   * the disk cannot read. Without it such bytes cannot be read.
   */
  readonly onDamage?: ((offset: number) => void) | undefined
}

/** Read at once from the end of a file: the index of 64 MiB fits. */
const END_BYTES = 4096

const NONE = Buffer.alloc(0)

/**
 * A cold segment, read as if it was plain (spec/formats/journal.md, "Cold segments"). Inflates the blocks that are asked
 * for, and keeps the last one. Memory: one block and its member.
 */
export class ColdSegment implements SegmentFile {
  readonly isCold = true
  readonly #file: ReadableFile
  readonly #index: ColdIndex
  readonly #onDamage: ColdOptions['onDamage']
  /** The block that was inflated last. */
  #held = -1
  #bytes: Buffer = NONE

  private constructor(file: ReadableFile, index: ColdIndex, { onDamage }: ColdOptions) {
    this.#file = file
    this.#index = index
    this.#onDamage = onDamage
  }

  /**
   * Reads the index. The file is the caller's until this returns.
   * @throws ColdSegmentDamagedError
   */
  static open(file: ReadableFile, options: ColdOptions = {}): ColdSegment {
    const fileBytes = file.size()
    let end = readEnd(file, fileBytes, END_BYTES)
    const length = indexLength(end)
    if (typeof length === 'string') throw new ColdSegmentDamagedError(file.path, 0, length)
    if (length > fileBytes) throw new ColdSegmentDamagedError(file.path, 0, 'the index is cut off')
    if (length > end.length) end = readEnd(file, fileBytes, length)
    const index = decodeIndex(end.subarray(end.length - length), fileBytes)
    if (typeof index === 'string') throw new ColdSegmentDamagedError(file.path, 0, index)
    return new ColdSegment(file, index, options)
  }

  get path(): string {
    return this.#file.path
  }

  /** Length of the plain segment. */
  size(): number {
    return this.#index.plainBytes
  }

  get storedBytes(): number {
    return this.#file.size()
  }

  /**
   * Reads up to `length` bytes of the plain segment at `position` into `target`; returns their number.
   * @throws ColdSegmentDamagedError
   */
  readAt(target: Uint8Array, position: number, length: number): number {
    const blocks = this.#blocks(position, length)
    for (const [number, block] of blocks) {
      const bytes = this.#heldBlock(number) ?? this.#keep(number, block, decodeBlock(this.#member(block), block))
      copyBlock(bytes, block, target, position, length)
    }
    return this.#readable(position, length)
  }

  /** The same, read and inflated in threads of libuv. */
  async readAtAsync(target: Uint8Array, position: number, length: number): Promise<number> {
    for (const [number, block] of this.#blocks(position, length)) {
      const bytes = this.#heldBlock(number) ?? (await this.#inflate(number, block))
      copyBlock(bytes, block, target, position, length)
    }
    return this.#readable(position, length)
  }

  close(): void {
    this.#bytes = NONE
    this.#held = -1
    this.#file.close()
  }

  #readable(position: number, length: number): number {
    return Math.max(0, Math.min(length, this.#index.plainBytes - position))
  }

  /** The blocks of a range with their numbers. */
  *#blocks(position: number, length: number): Generator<[number, ColdBlock]> {
    const { blocks } = this.#index
    const end = position + this.#readable(position, length)
    if (end <= position) return
    for (let number = blockAt(blocks, position); number < blocks.length; number += 1) {
      const block = blocks[number] as ColdBlock
      if (block.plainAt >= end) return
      yield [number, block]
    }
  }

  #heldBlock(number: number): Buffer | undefined {
    return number === this.#held ? this.#bytes : undefined
  }

  #member({ memberAt, memberBytes }: ColdBlock): Buffer {
    const member = Buffer.allocUnsafe(memberBytes)
    return member.subarray(0, this.#file.readAt(member, memberAt, memberBytes))
  }

  async #inflate(number: number, block: ColdBlock): Promise<Buffer> {
    const member = Buffer.allocUnsafe(block.memberBytes)
    const read = await this.#file.readAtAsync(member, block.memberAt, block.memberBytes)
    return this.#keep(number, block, await decodeBlockAsync(member.subarray(0, read), block))
  }

  #keep(number: number, block: ColdBlock, plain: Buffer | undefined): Buffer {
    let bytes = plain
    if (bytes === undefined) {
      const reason = `a block of ${block.plainBytes} bytes cannot be inflated`
      if (this.#onDamage === undefined) throw new ColdSegmentDamagedError(this.path, block.plainAt, reason)
      this.#onDamage(block.plainAt)
      bytes = Buffer.alloc(block.plainBytes)
    }
    this.#held = number
    this.#bytes = bytes
    return bytes
  }
}

function readEnd(file: ReadableFile, fileBytes: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.min(Math.max(length, FOOTER.bytes + INDEX_END.length), fileBytes))
  return bytes.subarray(0, file.readAt(bytes, fileBytes - bytes.length, bytes.length))
}

/** Copies the intersection of a block and a range. */
function copyBlock(bytes: Buffer, { plainAt }: ColdBlock, target: Uint8Array, position: number, length: number): void {
  const from = Math.max(0, position - plainAt)
  const to = Math.min(bytes.length, position + length - plainAt)
  target.set(bytes.subarray(from, to), plainAt + from - position)
}
