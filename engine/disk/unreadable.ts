import type { DiskFile } from './disk.ts'

/** What reading a file needs of it. */
export type ReadableFile = Pick<DiskFile, 'path' | 'readAt' | 'readAtAsync' | 'size' | 'close'>

/** The disk reads no less at once, so what it can read around a bad place is found page by page. */
const PAGE_BYTES = 4096

/** Whether an error says that the disk has lost bytes: that is damage (spec/decisions/0110-scrub.md). */
export function isUnreadable(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EIO'
}

/** A file that answers in its own way for bytes that the disk has lost. Other errors are as the disk gives them. */
export abstract class UnreliableFile implements ReadableFile {
  protected readonly file: ReadableFile

  constructor(file: ReadableFile) {
    this.file = file
  }

  get path(): string {
    return this.file.path
  }

  size(): number {
    return this.file.size()
  }

  close(): void {
    this.file.close()
  }

  readAt(target: Uint8Array, position: number, length: number): number {
    try {
      return this.file.readAt(target, position, length)
    } catch (error) {
      return this.#lost(error, target, position, length)
    }
  }

  async readAtAsync(target: Uint8Array, position: number, length: number): Promise<number> {
    try {
      return await this.file.readAtAsync(target, position, length)
    } catch (error) {
      return this.#lost(error, target, position, length)
    }
  }

  #lost(error: unknown, target: Uint8Array, position: number, length: number): number {
    if (!isUnreadable(error)) throw error
    return this.unreadable(error, target, position, length)
  }

  /** What a read gives of which the disk has lost some bytes: the number of bytes in `target`, or an error that names the damage. */
  protected abstract unreadable(cause: unknown, target: Uint8Array, position: number, length: number): number
}

/** A file whose unreadable pages are zeros, for a reader that proves what it reads, and then names the damage. */
export class ZeroedFile extends UnreliableFile {
  protected unreadable(_cause: unknown, target: Uint8Array, position: number, length: number): number {
    const end = Math.min(position + length, this.size())
    for (let at = position; at < end; ) {
      const next = Math.min(end, at - (at % PAGE_BYTES) + PAGE_BYTES)
      const page = target.subarray(at - position, next - position)
      try {
        this.file.readAt(page, at, page.length)
      } catch (error) {
        if (!isUnreadable(error)) throw error
        page.fill(0)
      }
      at = next
    }
    return Math.max(0, end - position)
  }
}
