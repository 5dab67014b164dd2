import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { Disk, DiskFile } from '../../engine/disk/disk.ts'

/** Digests of the files of an export, by name, in the order in which they were written. */
export type Digests = ReadonlyMap<string, string>

/**
 * The directory of an export (specification, Audit export directory). Files are written into a directory of another name
 * beside it, which gets its name when all of them are durable: a directory of that name is whole.
 */
export class ExportDirectory {
  readonly #disk: Disk
  readonly #path: string
  readonly #making: string
  readonly #digests = new Map<string, string>()

  /** @param path where nothing is yet */
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
   * Writes a file and notes the digest of its bytes as they pass.
   * @param wrote told of the bytes so far
   * @returns its length in bytes
   */
  async write(name: string, pieces: AsyncIterable<Buffer>, wrote?: (bytes: number) => void): Promise<number> {
    const hash = createHash('sha256')
    let length = 0
    await this.#file(name, async (file) => {
      for await (const piece of pieces) {
        hash.update(piece)
        await file.writeAtLater(piece, length)
        length += piece.length
        wrote?.(length)
      }
    })
    this.#digests.set(name, hash.digest('hex'))
    return length
  }

  /** Writes a value as JSON. */
  async writeJson(name: string, value: unknown): Promise<void> {
    await this.write(name, once(`${JSON.stringify(value, undefined, 2)}\n`))
  }

  /** Writes the digests in the form of sha256sum(1), and gives the directory its name. */
  async finish(): Promise<void> {
    const lines = Array.from(this.#digests, ([name, digest]) => `${digest}  ${name}\n`)
    await this.#file('SHA256SUMS', (file) => file.writeAtLater(Buffer.from(lines.join('')), 0))
    await this.#disk.syncDirectoryLater(this.#making)
    await this.#disk.renameLater(this.#making, this.#path)
    await this.#disk.syncDirectoryLater(dirname(this.#path))
  }

  /** Leaves nothing behind. */
  discard(): void {
    this.#disk.removeTree(this.#making)
  }

  async #file(name: string, work: (file: DiskFile) => Promise<void>): Promise<void> {
    const file = await this.#disk.createLater(join(this.#making, name))
    try {
      await work(file)
      await file.syncLater()
    } finally {
      await file.closeLater()
    }
  }
}

async function* once(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text)
}
