import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** Bytes in memory at a time; a shorter file has a smaller window, and a longer batch makes it grow. */
const WINDOW_BYTES = 4 * 1024 * 1024
/** Bytes read at a time by scans, which look at a part of the file once. */
const SCAN_BYTES = 1024 * 1024

/**
 * A part of one segment file in memory, moved forward over the file. Reads are synchronous: a segment is verified in
 * a thread of its own that has nothing else to do.
 *
 * The window also computes the digest of the file so far. That is SHA-256 by node:crypto: the digest covers whole
 * segments, where @noble/hashes would take as long again as for all their records, and the records that make up those
 * bytes are hashed by @noble/hashes anyway.
 */
export class SegmentWindow {
  /** Bytes of the file from `base` on, as far as they were asked for with `ensure`. */
  bytes: Buffer
  /** The same memory as a plain array, of which views are cheaper to make. */
  memory: Uint8Array
  /** The same memory in words of the machine's own byte order. */
  words: Uint32Array
  /** File offset of the first byte in memory, a multiple of 8. */
  base = 0
  /** Length of the file when last looked at. */
  size: number
  #filled = 0
  readonly #descriptor: number
  readonly #digest = createHash('sha256')
  #digestedThrough = 0

  /** @throws the system's error when the file cannot be opened */
  constructor(path: string) {
    this.#descriptor = openSync(path, 'r')
    this.size = fstatSync(this.#descriptor).size
    const memory = new ArrayBuffer(Math.min(WINDOW_BYTES, Math.ceil(this.size / 8) * 8))
    this.bytes = Buffer.from(memory)
    this.memory = new Uint8Array(memory)
    this.words = new Uint32Array(memory)
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  /** Waits for a write under way to arrive, and forgets what was read. */
  settle(milliseconds: number): void {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
    this.refresh()
  }

  /** Forgets what is in memory and looks at the length again: the file may be growing, or cut by its sealing. */
  refresh(): void {
    this.#filled = 0
    this.size = fstatSync(this.#descriptor).size
  }

  /**
   * Brings `length` bytes at file offset `offset` (a multiple of 8, never smaller than in the call before) into
   * memory; they stand at `offset - base`.
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

  /** SHA-256 of the file's bytes before `offset`, in hexadecimal. May be asked for once. */
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
    if (end <= this.#digestedThrough) return
    this.#digestFile(this.base)
    this.#digest.update(this.bytes.subarray(this.#digestedThrough - this.base, end - this.base))
    this.#digestedThrough = end
  }

  /** Digests from the file what was passed over without being in memory, which only damage brings about. */
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

  /** Fills `target` from the file as far as it goes. */
  #read(target: Buffer, offset: number): number {
    const wanted = Math.min(target.length, this.size - offset)
    let length = 0
    while (length < wanted) {
      const read = readSync(this.#descriptor, target, length, wanted - length, offset + length)
      if (read === 0) break
      length += read
    }
    return length
  }
}
