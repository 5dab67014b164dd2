import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Disk, DiskFile } from '../../engine/disk/disk.ts'
import type { StoredFile } from './manifest.ts'

const PIECE_BYTES = 1 << 20
/** A copy that is ahead of its rate by less than this does not wait. */
const SHORTEST_PAUSE_MILLISECONDS = 5

/** Copies files durably, at a bounded rate. */
export class Copier {
  /** Bytes written so far. */
  bytes = 0
  readonly #disk: Disk
  readonly #bytesPerSecond: number | undefined
  readonly #onBytes: (bytes: number) => void
  readonly #directories = new Set<string>()
  /** When the next piece may be read, in milliseconds of `performance.now`. */
  #next = 0

  /** @param bytesPerSecond undefined for no bound */
  constructor(disk: Disk, bytesPerSecond: number | undefined, onBytes: (bytes: number) => void) {
    this.#disk = disk
    this.#bytesPerSecond = bytesPerSecond
    this.#onBytes = onBytes
  }

  /**
   * Copies the first `bytes` of a file to a new one, or the whole of it. The copy appears under its name when it is
   * whole and synced. An existing copy with the same bytes, from an unfinished run, is kept.
   * @throws the errors of the disk; SourceShortError when the source has fewer bytes
   */
  async copy(source: DiskFile, to: string, bytes?: number): Promise<StoredFile> {
    const length = bytes ?? source.size()
    const there = this.#disk.exists(to) ? await this.#sameAs(source, length, to) : undefined
    return there ?? (await this.#copyNew(source, to, length))
  }

  /**
   * Appends a file's bytes from `position` to `end` to its copy, which has the bytes before. Bytes of the copy after
   * `position`, from an unfinished run, are overwritten.
   */
  async append(source: DiskFile, to: string, position: number, end: number): Promise<void> {
    const target = this.#disk.openToWrite(to)
    try {
      if (target.size() < position) throw new SourceShortError(`${to} is shorter than the ${position} bytes it had`)
      target.truncate(position)
      await this.#pour(source, target, position, end)
      await target.syncAsync()
    } finally {
      await target.closeAsync()
    }
  }

  /** Makes the names of all copies durable. */
  syncDirectories(): void {
    for (const directory of this.#directories) this.#disk.syncDirectory(directory)
    this.#directories.clear()
  }

  async #copyNew(source: DiskFile, to: string, length: number): Promise<StoredFile> {
    const making = `${to}.making`
    this.#disk.makeDirectory(dirname(to))
    await this.#disk.removeAsync(making)
    const target = await this.#disk.createAsync(making)
    try {
      const sha256 = await this.#pour(source, target, 0, length)
      await target.syncAsync()
      await target.closeAsync()
      await this.#disk.renameAsync(making, to)
      this.#directories.add(dirname(to))
      return { bytes: length, sha256 }
    } catch (error) {
      await target.closeAsync().catch(() => undefined)
      await this.#disk.removeAsync(making).catch(() => undefined)
      throw error
    }
  }

  async #pour(source: DiskFile, target: DiskFile, position: number, end: number): Promise<string> {
    const hash = createHash('sha256')
    for await (const { piece, at } of this.#pieces(source, position, end)) {
      hash.update(piece)
      await target.writeAtAsync(piece, at)
      this.bytes += piece.length
    }
    return hash.digest('hex')
  }

  /** Its digest, when the file has exactly the bytes of the source. */
  async #sameAs(source: DiskFile, length: number, to: string): Promise<StoredFile | undefined> {
    const there = await this.#disk.openToReadAsync(to)
    try {
      if (there.size() !== length) return undefined
      const hash = createHash('sha256')
      const other = Buffer.allocUnsafe(PIECE_BYTES)
      for await (const { piece, at } of this.#pieces(source, 0, length)) {
        hash.update(piece)
        const read = await there.readAtAsync(other, at, piece.length)
        if (!other.subarray(0, read).equals(piece)) return undefined
      }
      this.#directories.add(dirname(to))
      return { bytes: length, sha256: hash.digest('hex') }
    } finally {
      await there.closeAsync()
    }
  }

  /** The bytes of a range, each piece valid until the next one, at the rate. */
  async *#pieces(
    source: DiskFile,
    position: number,
    end: number,
  ): AsyncGenerator<{ readonly piece: Buffer; readonly at: number }> {
    const bytes = Buffer.allocUnsafe(Math.min(PIECE_BYTES, Math.max(1, end - position)))
    for (let at = position; at < end; at += bytes.length) {
      const length = Math.min(bytes.length, end - at)
      await this.#keepPace(length)
      const read = await source.readAtAsync(bytes, at, length)
      if (read !== length) throw new SourceShortError(`${source.path} ends at ${at + read}, before ${end}`)
      yield { piece: bytes.subarray(0, length), at }
      this.#onBytes(length)
    }
  }

  async #keepPace(bytes: number): Promise<void> {
    if (this.#bytesPerSecond === undefined) return
    const now = performance.now()
    const begin = Math.max(now, this.#next)
    this.#next = begin + (bytes / this.#bytesPerSecond) * 1000
    if (begin - now > SHORTEST_PAUSE_MILLISECONDS) await pause(begin - now)
  }
}

/** A file has fewer bytes than it must have. */
export class SourceShortError extends Error {
  override readonly name = 'SourceShortError'
}
