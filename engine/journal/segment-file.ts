import type { Disk } from '../disk/disk.ts'
import { type ReadableFile, UnreliableFile, ZeroedFile } from '../disk/unreadable.ts'
import type { SegmentFile } from './segment.ts'
import { COLD_MAGIC } from './cold/cold-format.ts'
import { JournalDamagedError } from './journal-errors.ts'
import { type ColdOptions, ColdSegment } from './cold/cold-segment.ts'

/**
 * Opens a segment. A plain one may become cold at any time, by one rename: an open file stays plain.
 * @throws ColdSegmentDamagedError when it is cold and its index cannot be read, JournalDamagedError when the disk cannot read it, and
 *   the disk's other errors
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

function asSegment(opened: ReadableFile, options: ColdOptions): SegmentFile {
  const file = options.onDamage === undefined ? new NamingFile(opened) : new ZeroedFile(opened)
  try {
    const magic = Buffer.alloc(COLD_MAGIC.length)
    const isCold = file.readAt(magic, 0, magic.length) === magic.length && magic.equals(COLD_MAGIC)
    return isCold ? ColdSegment.open(file, options) : new PlainSegment(file)
  } catch (error) {
    file.close()
    throw error
  }
}

/** A file whose unreadable bytes are damage of the journal by name. */
class NamingFile extends UnreliableFile {
  protected unreadable(cause: unknown, _target: Uint8Array, position: number, length: number): never {
    const place = `${this.path}, in the ${length} bytes from offset ${position}`
    throw new JournalDamagedError(`${place}: the disk cannot read them all`, { cause })
  }

  protected async unreadableAsync(
    cause: unknown,
    target: Uint8Array,
    position: number,
    length: number,
  ): Promise<number> {
    return this.unreadable(cause, target, position, length)
  }
}

class PlainSegment implements SegmentFile {
  readonly isCold = false
  readonly #file: ReadableFile

  constructor(file: ReadableFile) {
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
