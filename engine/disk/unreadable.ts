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
      if (!isUnreadable(error)) throw error
      return this.unreadable(error, target, position, length)
    }
  }

  async readAtAsync(target: Uint8Array, position: number, length: number): Promise<number> {
    try {
      return await this.file.readAtAsync(target, position, length)
    } catch (error) {
      if (!isUnreadable(error)) throw error
      return this.unreadableAsync(error, target, position, length)
    }
  }

  /** What a read gives of which the disk has lost some bytes: the number of bytes in `target`, or an error that names the damage. */
  protected abstract unreadable(cause: unknown, target: Uint8Array, position: number, length: number): number

  /** The same. A disk that cannot read may take seconds for each page, so the thread does not wait for it. */
  protected abstract unreadableAsync(
    cause: unknown,
    target: Uint8Array,
    position: number,
    length: number,
  ): Promise<number>
}

interface Page {
  readonly at: number
  /** Where its bytes go. */
  readonly bytes: Uint8Array
}

/** A file whose unreadable pages are zeros, for a reader that proves what it reads, and then names the damage. */
export class ZeroedFile extends UnreliableFile {
  protected unreadable(_cause: unknown, target: Uint8Array, position: number, length: number): number {
    const pages = this.#pages(target, position, length)
    for (const { at, bytes } of pages) {
      try {
        this.file.readAt(bytes, at, bytes.length)
      } catch (error) {
        zeroed(bytes, error)
      }
    }
    return bytesOf(pages)
  }

  protected async unreadableAsync(
    _cause: unknown,
    target: Uint8Array,
    position: number,
    length: number,
  ): Promise<number> {
    const pages = this.#pages(target, position, length)
    for (const { at, bytes } of pages) {
      try {
        await this.file.readAtAsync(bytes, at, bytes.length)
      } catch (error) {
        zeroed(bytes, error)
      }
    }
    return bytesOf(pages)
  }

  /** The pages of a read, as far as the file goes; the first and the last may be parts. */
  #pages(target: Uint8Array, position: number, length: number): readonly Page[] {
    const end = Math.min(position + length, this.size())
    const pages: Page[] = []
    for (let at = position; at < end; ) {
      const next = Math.min(end, at - (at % PAGE_BYTES) + PAGE_BYTES)
      pages.push({ at, bytes: target.subarray(at - position, next - position) })
      at = next
    }
    return pages
  }
}

function zeroed(page: Uint8Array, error: unknown): void {
  if (!isUnreadable(error)) throw error
  page.fill(0)
}

function bytesOf(pages: readonly Page[]): number {
  return pages.reduce((sum, { bytes }) => sum + bytes.length, 0)
}
