import { crc32 } from '../hashing/crc32.ts'
import type { WriteBody } from '../commands/spine-commands.ts'
import { DirectorySyncs } from '../disk/directory-syncs.ts'
import type { Disk } from '../disk/disk.ts'
import type { StorePaths } from '../disk/store-paths.ts'
import type { BodyHasher } from '../hashing/body-hashing.ts'
import { PayloadFileWriter } from './file-writer.ts'
import { PayloadIds } from './payload-ids.ts'
import type { PayloadSealer } from './sealing.ts'

/** Makes payloads of the bytes that arrive, encrypted if it has a sealer. One per thread of one start. */
export class UploadStore {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #ids: PayloadIds
  readonly #directories: DirectorySyncs
  readonly #hashing: BodyHasher
  readonly #sealer: PayloadSealer | undefined

  /**
   * `start`: 16 hexadecimal digits, new at each start. `thread`: 0 to 255. `hashing` is closed with the store. `sealer`
   * encrypts new payloads; without one they are stored as they are.
   */
  constructor(
    disk: Disk,
    paths: StorePaths,
    start: string,
    thread: number,
    hashing: BodyHasher,
    sealer?: PayloadSealer,
  ) {
    this.#disk = disk
    this.#paths = paths
    this.#ids = new PayloadIds(start, thread)
    this.#directories = new DirectorySyncs(disk)
    this.#hashing = hashing
    this.#sealer = sealer
  }

  /** The body of a command that carries a small payload. The caller must not change `bytes` afterwards. */
  inlineBody(bytes: Uint8Array): Extract<WriteBody, { kind: 'inline' }> {
    if (this.#sealer === undefined) return { kind: 'inline', bytes, checksum: crc32(bytes), sealed: false }
    const envelope = this.#sealer.seal(Buffer.from(this.#ids.next(), 'hex'), bytes)
    return { kind: 'inline', bytes: envelope, checksum: crc32(envelope), sealed: true }
  }

  /** A writer for the next large payload. */
  create(): PayloadFileWriter {
    const name = this.#ids.next()
    return PayloadFileWriter.create(this.#disk, this.#paths, this.#directories, name, this.#hashing, this.#sealer)
  }

  /** No more bytes are received; running uploads fail. */
  close(): void {
    this.#hashing.close()
  }

  /** Removes a stored file whose command was refused, so that no entry refers to it. */
  async discard(name: string): Promise<void> {
    await this.#disk.removeAsync(this.#paths.file(name))
  }
}
