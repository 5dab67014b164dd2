import type { Disk, DiskFile } from '../disk/disk.ts'
import type { SegmentFile } from './opened-segment.ts'
import { COLD_MAGIC } from './cold/cold-format.ts'
import { type ColdOptions, ColdSegment } from './cold/cold-segment.ts'

/**
 * Opens a segment. A plain one may become cold at any time, by one rename: an open file stays plain.
 * @throws ColdSegmentDamagedError when it is cold and its index cannot be read, and the disk's errors
 */
export function openSegment(disk: Pick<Disk, 'openToRead'>, path: string, options: ColdOptions = {}): SegmentFile {
  return asSegment(disk.openToRead(path), options)
}

/** The same; the few bytes that tell the kinds apart, and the index, are read at once. */
export async function openSegmentAsync(
  disk: Pick<Disk, 'openToReadAsync'>,
  path: string,
  options: ColdOptions = {},
): Promise<SegmentFile> {
  return asSegment(await disk.openToReadAsync(path), options)
}

function asSegment(file: DiskFile, options: ColdOptions): SegmentFile {
  try {
    const magic = Buffer.alloc(COLD_MAGIC.length)
    const isCold = file.readAt(magic, 0, magic.length) === magic.length && magic.equals(COLD_MAGIC)
    return isCold ? ColdSegment.open(file, options) : new PlainSegment(file)
  } catch (error) {
    file.close()
    throw error
  }
}

class PlainSegment implements SegmentFile {
  readonly isCold = false
  readonly #file: DiskFile

  constructor(file: DiskFile) {
    this.#file = file
  }

  get path(): string {
    return this.#file.path
  }

  get storedBytes(): number {
    return this.#file.size()
  }

  size(): number {
    return this.#file.size()
  }

  readAt(target: Uint8Array, position: number, length: number): number {
    return this.#file.readAt(target, position, length)
  }

  readAtAsync(target: Uint8Array, position: number, length: number): Promise<number> {
    return this.#file.readAtAsync(target, position, length)
  }

  close(): void {
    this.#file.close()
  }
}
