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
