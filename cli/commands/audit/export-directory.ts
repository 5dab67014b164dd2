import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { Disk, DiskFile } from '../../../engine/disk/disk.ts'

/** Digests of the files of an export, by name, in the order in which they were written. */
export type Digests = ReadonlyMap<string, string>

/**
 * The directory of an export (specification, Audit export directory). Files are written into a temporary directory, which
 * is renamed when all of them are durable: a directory with the final name is complete.
 */
export class ExportDirectory {
  readonly #disk: Disk
  readonly #path: string
  readonly #making: string
  readonly #digests = new Map<string, string>()

  /** @param path must not exist yet */
  constructor(disk: Disk, path: string) {
    this.#disk = disk
    this.#path = path
    this.#making = `${path}.partial-${process.pid}`
    disk.makeDirectory(this.#making)
  }

  get digests(): Digests {
    return this.#digests
  }

  /**
   * Writes a file and computes the digest of its bytes.
   * @param wrote called with the bytes written so far
   * @returns its length in bytes
   */
  async write(name: string, pieces: AsyncIterable<Buffer>, wrote?: (bytes: number) => void): Promise<number> {
    const hash = createHash('sha256')
    let length = 0
    await this.#file(name, async (file) => {
      for await (const piece of pieces) {
        hash.update(piece)
        await file.writeAtAsync(piece, length)
        length += piece.length
        wrote?.(length)
      }
    })
    this.#digests.set(name, hash.digest('hex'))
    return length
  }

  async writeJson(name: string, value: unknown): Promise<void> {
    await this.write(name, once(`${JSON.stringify(value, undefined, 2)}\n`))
  }

  /** Writes the digests in the form of sha256sum(1), and renames the directory to its final name. */
  async finish(): Promise<void> {
    const lines = Array.from(this.#digests, ([name, digest]) => `${digest}  ${name}\n`)
    await this.#file('SHA256SUMS', (file) => file.writeAtAsync(Buffer.from(lines.join('')), 0))
    await this.#disk.syncDirectoryAsync(this.#making)
    await this.#disk.renameAsync(this.#making, this.#path)
    await this.#disk.syncDirectoryAsync(dirname(this.#path))
  }

  /** Removes everything. */
  discard(): void {
    this.#disk.removeTree(this.#making)
  }

  async #file(name: string, work: (file: DiskFile) => Promise<void>): Promise<void> {
    const file = await this.#disk.createAsync(join(this.#making, name))
    try {
      await work(file)
      await file.syncAsync()
    } finally {
      await file.closeAsync()
    }
  }
}

async function* once(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text)
}
