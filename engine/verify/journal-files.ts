import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs'

/** An open file of a journal. Positions and lengths are bytes. */
export interface JournalFile {
  /** Length now; an open segment grows. */
  size(): number
  /** Reads up to `length` bytes at `position` into `target`; returns their number. */
  readAt(target: Uint8Array, position: number, length: number): number
  close(): void
}

/** Where the verifier has the files of a journal from. It only reads. */
export interface JournalFiles {
  /** Names in a directory; empty when it does not exist. */
  list(directory: string): readonly string[]
  /** @throws the system's error when the file cannot be opened */
  openToRead(path: string): JournalFile
}

/** The file system itself. */
export const REAL_FILES: JournalFiles = {
  list(directory) {
    try {
      return readdirSync(directory)
    } catch (error) {
      if (isMissing(error)) return []
      throw error
    }
  },
  openToRead: (path) => new RealFile(path),
}

const PAGE_BYTES = 4096

/**
 * Reads until `wanted` bytes are there or the file ends; returns their number. Pages that the disk cannot read are zeros.
 * @param lost called with the offset of each
 */
export function readFully(
  file: JournalFile,
  target: Buffer,
  wanted: number,
  offset: number,
  lost: (offset: number) => void,
): number {
  let length = 0
  while (length < wanted) {
    const read = readSome(file, target.subarray(length, wanted), offset + length, lost)
    if (read === 0) break
    length += read
  }
  return length
}

function readSome(file: JournalFile, target: Buffer, offset: number, lost: (offset: number) => void): number {
  try {
    return file.readAt(target, offset, target.length)
  } catch (error) {
    if (!isUnreadable(error)) throw error
    const page = target.subarray(0, PAGE_BYTES - (offset % PAGE_BYTES))
    // Around a bad place one page after the other.
    if (page.length < target.length) return readSome(file, page, offset, lost)
    const size = Math.max(0, Math.min(page.length, file.size() - offset))
    page.fill(0, 0, size)
    if (size > 0) lost(offset)
    return size
  }
}

function isUnreadable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EIO'
}

/** Whether an error of the system says that something is not there. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

class RealFile implements JournalFile {
  readonly #descriptor: number

  constructor(path: string) {
    this.#descriptor = openSync(path, 'r')
  }

  size(): number {
    return fstatSync(this.#descriptor).size
  }

  readAt(target: Uint8Array, position: number, length: number): number {
    return readSync(this.#descriptor, target, 0, length, position)
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}
