import { createHash } from 'node:crypto'
import { type ColdFault, openSegmentSource, type SegmentSource } from './cold/segment-source.ts'
import { type JournalFiles, REAL_FILES } from './journal-files.ts'

/** Bytes in memory at a time; a shorter file has a smaller window, and a longer batch makes it grow. */
const WINDOW_BYTES = 4 * 1024 * 1024
/** Bytes that a scan reads at a time. */
const SCAN_BYTES = 1024 * 1024

/**
 * A part of one segment in memory, which moves forward over it. Reads are synchronous: the thread has nothing else to
 * do. The file may be plain or cold; offsets are those in the plain segment.
 *
 * The window also computes the digest of the file so far, by node:crypto. With @noble/hashes it would take as long as
 * all records together, and those are hashed by @noble/hashes anyway.
 */
export class SegmentWindow {
  /** Bytes of the file from `base` on, as far as they were asked for with `ensure`. */
  bytes: Buffer
  /** The same memory as a plain array: its views are cheaper. */
  memory: Uint8Array
  /** The same memory in words of the machine's own byte order. */
  words: Uint32Array
  /** File offset of the first byte in memory, a multiple of 8. */
  base = 0
  /** Length of the file when it was last asked for. */
  size: number
  #filled = 0
  readonly #source: SegmentSource
  readonly #limit: number
  readonly #digest = createHash('sha256')
  readonly #digests: boolean
  #digestedThrough = 0

  /**
   * @param options `limit`: offset where the file is taken to end; `digests`: whether `digestBefore` will be asked for;
   *   `windowBytes`: bytes of one read; `files`: where the file is
   * @throws the system's error when the file cannot be opened
   */
  constructor(
    path: string,
    {
      limit = Number.POSITIVE_INFINITY,
      digests = true,
      windowBytes = WINDOW_BYTES,
      files = REAL_FILES as JournalFiles,
    } = {},
  ) {
    this.#source = openSegmentSource(path, files)
    this.#limit = limit
    this.#digests = digests
    this.size = Math.min(limit, this.#source.size())
    const memory = new ArrayBuffer(Math.min(windowBytes, Math.ceil(this.size / 8) * 8))
    this.bytes = Buffer.from(memory)
    this.memory = new Uint8Array(memory)
    this.words = new Uint32Array(memory)
  }

  /** Whether the segment is compressed: then it is sealed, and does not change. */
  get isCold(): boolean {
    return this.#source.isCold
  }

  /** Damage of the file itself that was met so far, the bytes of which count as zeros. */
  get faults(): readonly ColdFault[] {
    return this.#source.faults
  }

  close(): void {
    this.#source.close()
  }

  /** Waits for a running write, and drops the bytes in memory. */
  settle(milliseconds: number): void {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
    this.refresh()
  }

  /** Forgets the bytes in memory and reads the length again: the file may be growing, or was cut by its sealing. */
  refresh(): void {
    this.#filled = 0
    this.size = Math.min(this.#limit, this.#source.size())
  }

  /**
   * Reads `length` bytes at file offset `offset` (a multiple of 8, never smaller than in the last call) into memory, at
   * `offset - base`.
   * @returns false when the file ends before
   */
  ensure(offset: number, length: number): boolean {
    if (offset >= this.base && offset + length <= this.base + this.#filled) return true
    if (offset + length > this.size) return false
    if (this.base + this.#filled > this.#digestedThrough) this.#digestMemory(Math.min(offset, this.base + this.#filled))
    if (length > this.bytes.length) this.#grow(length)
    this.base = offset
    this.#filled = this.#read(this.bytes, offset)
    // The sealing of an open segment cuts the file: then it ends here.
    if (this.#filled < length) this.size = offset + this.#filled
    return this.#filled >= length
  }

  /** SHA-256 of the file's bytes before `offset`, in hexadecimal. May be called once. */
  digestBefore(offset: number): string {
    this.#digestMemory(Math.min(offset, this.base + this.#filled))
    this.#digestFile(offset)
    return this.#digest.digest('hex')
  }

  /**
   * Calls `look` with pieces of the file from `offset` on, each repeating the last `overlap` bytes of the one before,
   * until it returns a number or the file ends. The window stays as it is.
   */
  scan(
    offset: number,
    overlap: number,
    look: (piece: Buffer, offset: number) => number | undefined,
  ): number | undefined {
    const memory = Buffer.allocUnsafe(Math.min(SCAN_BYTES, Math.max(0, this.size - offset)))
    for (let position = offset; position < this.size; ) {
      const length = this.#read(memory, position)
      if (length === 0) return undefined
      const found = look(memory.subarray(0, length), position)
      if (found !== undefined) return found
      if (position + length >= this.size) return undefined
      position += length > overlap ? length - overlap : length
    }
    return undefined
  }

  #digestMemory(end: number): void {
    if (!this.#digests || end <= this.#digestedThrough) return
    this.#digestFile(this.base)
    this.#digest.update(this.bytes.subarray(this.#digestedThrough - this.base, end - this.base))
    this.#digestedThrough = end
  }

  /** Digests bytes that were skipped without being in memory, which happens only with damage. */
  #digestFile(end: number): void {
    while (this.#digestedThrough < end) {
      const memory = Buffer.allocUnsafe(Math.min(SCAN_BYTES, end - this.#digestedThrough))
      const length = this.#read(memory, this.#digestedThrough)
      if (length === 0) return
      this.#digest.update(memory.subarray(0, length))
      this.#digestedThrough += length
    }
  }

  #grow(length: number): void {
    const memory = new ArrayBuffer(Math.ceil(length / WINDOW_BYTES) * WINDOW_BYTES)
    this.bytes = Buffer.from(memory)
    this.memory = new Uint8Array(memory)
    this.words = new Uint32Array(memory)
  }

  /** Fills `target` from the segment, up to its end. */
  #read(target: Buffer, offset: number): number {
    return this.#source.read(target, Math.min(target.length, this.size - offset), offset)
  }
}
