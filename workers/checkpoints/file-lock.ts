import { hash } from 'node:crypto'
import { join } from 'node:path'
import type { Disk } from '../../engine/disk/disk.ts'
import { LOCK_BYTES_MAXIMUM, LockError, type LockPlace } from './lock-place.ts'

/**
 * A lock in a directory on another disk or mount. It is never made here: an empty mount point must not pass for a new
 * lock. Two processes that write in the same instant do not notice each other; the next write of either does.
 */
export class FileLock implements LockPlace {
  readonly name: string
  readonly #disk: Disk
  readonly #directory: string

  constructor(disk: Disk, directory: string) {
    this.name = `file://${directory}`
    this.#disk = disk
    this.#directory = directory
  }

  async read(log: string): ReturnType<LockPlace['read']> {
    const path = this.#pathOf(log)
    if (!this.#disk.exists(this.#directory)) throw new LockError(`${this.#directory} does not exist`)
    if (!this.#disk.exists(path)) return undefined
    const file = this.#disk.openToRead(path)
    try {
      const size = file.size()
      if (size > LOCK_BYTES_MAXIMUM) throw new LockError(`${path} has more than ${LOCK_BYTES_MAXIMUM} bytes`)
      const bytes = new Uint8Array(size)
      const length = file.readAt(bytes, 0, size)
      const text = Buffer.from(bytes.subarray(0, length)).toString()
      return { text, tag: tagOf(text) }
    } finally {
      file.close()
    }
  }

  async write(log: string, text: string, tag: string | undefined): Promise<string | undefined> {
    const before = await this.read(log)
    if (before?.tag !== tag) return undefined
    const path = this.#pathOf(log)
    const temporary = `${path}.new`
    // Of a write that did not end.
    this.#disk.remove(temporary)
    const file = this.#disk.create(temporary)
    try {
      file.writeAt(Buffer.from(text), 0)
      file.sync()
    } finally {
      file.close()
    }
    this.#disk.rename(temporary, path)
    this.#disk.syncDirectory(this.#directory)
    return tagOf(text)
  }

  #pathOf(log: string): string {
    return join(this.#directory, encodeURIComponent(log))
  }
}

function tagOf(text: string): string {
  return hash('sha256', text, 'hex')
}
