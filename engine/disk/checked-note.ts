import type { Disk } from './disk.ts'
import { crc32 } from '../hashing/crc32.ts'
import { giveToOwnerOf } from './owner.ts'

/** A longer file was not written by the store. */
const FILE_BYTES_MAXIMUM = 16 * 1024
const LINE = /^([0-9a-f]{8}) (.*)\n$/s

/** The text of a note; undefined without one. Or why it is ignored. */
type ReadNote = { readonly text: string | undefined } | { readonly ignored: string }

/**
 * A file of one checked line in the data directory: the CRC-32 of a text in 8 hexadecimal digits, a space, the text, a newline. It is
 * about the files of this directory and not about the store, so that neither the journal nor a backup has it.
 */
export class CheckedNote {
  readonly #disk: Disk
  readonly #directory: string
  readonly #path: string

  constructor(disk: Disk, directory: string, path: string) {
    this.#disk = disk
    this.#directory = directory
    this.#path = path
  }

  read(): ReadNote {
    const size = this.#disk.sizeOf(this.#path)
    if (size === 0) return this.#disk.exists(this.#path) ? { ignored: 'it is empty' } : { text: undefined }
    if (size > FILE_BYTES_MAXIMUM) return { ignored: `it has ${size} bytes` }
    let bytes: Buffer
    try {
      bytes = this.#bytes(size)
    } catch (error) {
      return { ignored: error instanceof Error ? error.message : String(error) }
    }
    const [, sum, text = ''] = LINE.exec(bytes.toString('utf8')) ?? []
    return sum === checksum(Buffer.from(text)) ? { text } : { ignored: 'its checksum is wrong' }
  }

  /**
   * Writes it, durably. After a crash the file has this text or the one before.
   * @throws the errors of the disk
   */
  write(text: string): void {
    const bytes = Buffer.from(text)
    // A name of this process: a command may write the note while the server writes it.
    const making = `${this.#path}-${process.pid}`
    this.#disk.remove(making)
    const file = this.#disk.create(making)
    try {
      file.writeAt(Buffer.concat([Buffer.from(`${checksum(bytes)} `), bytes, Buffer.from('\n')]), 0)
      file.sync()
    } finally {
      file.close()
    }
    giveToOwnerOf(this.#directory, making)
    this.#disk.rename(making, this.#path)
    this.#disk.syncDirectory(this.#directory)
  }

  #bytes(size: number): Buffer {
    const bytes = Buffer.alloc(size)
    const file = this.#disk.openToRead(this.#path)
    try {
      return bytes.subarray(0, file.readAt(bytes, 0, size))
    } finally {
      file.close()
    }
  }
}

function checksum(bytes: Uint8Array): string {
  return crc32(bytes).toString(16).padStart(8, '0')
}
