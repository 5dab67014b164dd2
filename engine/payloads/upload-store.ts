import type { Disk } from '../disk/disk.ts'
import type { StorePaths } from '../disk/store-paths.ts'
import { PayloadFileWriter } from './file-writer.ts'

const COUNTER_DIGITS = 10

/**
 * Gives out payload files, one per thread of one start. A name is never used twice, whatever crashes: it begins with
 * the name of the start, then the thread, then a counter.
 */
export class UploadStore {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #prefix: string
  #counter = 0

  /** `start`: 16 hexadecimal digits, new at each start. `thread`: 0 to 255. */
  constructor(disk: Disk, paths: StorePaths, start: string, thread: number) {
    this.#disk = disk
    this.#paths = paths
    this.#prefix = `${start}${thread.toString(16).padStart(2, '0')}`
  }

  /** A writer for the next payload; the body can be handed to it at once. */
  create(): PayloadFileWriter {
    this.#counter += 1
    const name = `${this.#prefix}${this.#counter.toString(16).padStart(COUNTER_DIGITS, '0')}`
    return PayloadFileWriter.create(this.#disk, this.#paths, name)
  }

  /** Removes a stored file that no entry refers to: the command that should have named it was refused. */
  async discard(name: string): Promise<void> {
    await this.#disk.removeLater(this.#paths.file(name))
  }
}
