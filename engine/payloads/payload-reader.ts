import { crc32 } from 'node:zlib'
import type { Disk, DiskFile } from '../disk/disk.ts'
import type { StorePaths } from '../disk/store-paths.ts'
import { BLOCK_BYTES, blockCount, CHECKSUM_BYTES, fileBytes } from './file-format.ts'
import { PayloadDamagedError } from './payload-errors.ts'
import { givePieceBack, PIECE_BLOCKS, takePiece } from './piece-pool.ts'

/** Where bytes are, as the catalog tells. Lengths and offsets are bytes. */
export type PayloadLocation =
  | {
      readonly kind: 'volume'
      readonly volume: number
      readonly offset: number
      readonly length: number
      readonly checksum: number
    }
  | { readonly kind: 'file'; readonly name: string; readonly length: number }

const OPEN_VOLUMES_MAXIMUM = 64

/** Reads payloads and proves every block it reads; wrong bytes never leave it. One per thread. */
export class PayloadReader {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #volumes = new Map<number, DiskFile>()

  constructor(disk: Disk, paths: StorePaths) {
    this.#disk = disk
    this.#paths = paths
  }

  /**
   * The whole of a small payload, in memory of its own. Read at once and not in the background: it is at most a
   * few tens of KiB, most often in the page cache, and the way through the thread pool costs more than the read.
   * @throws PayloadDamagedError
   */
  readSmall(location: Extract<PayloadLocation, { kind: 'volume' }>): Buffer {
    const bytes = Buffer.allocUnsafe(location.length)
    const read = this.#volume(location.volume).readAt(bytes, location.offset, location.length)
    if (read !== location.length || crc32(bytes) !== location.checksum) {
      throw new PayloadDamagedError(`volume ${location.volume}, offset ${location.offset}: checksum does not match`)
    }
    return bytes
  }

  /**
   * Opens a large payload for reading bytes `start` to `end` (exclusive).
   * @throws PayloadDamagedError when the file is missing or has the wrong length
   */
  async openLarge(
    location: Extract<PayloadLocation, { kind: 'file' }>,
    start: number,
    end: number,
  ): Promise<PayloadFileReader> {
    let file: DiskFile
    try {
      file = await this.#disk.openToReadLater(this.#paths.file(location.name))
    } catch (error) {
      throw new PayloadDamagedError(`payload file ${location.name} cannot be opened`, { cause: error })
    }
    if (file.size() !== fileBytes(location.length)) {
      await file.closeLater()
      throw new PayloadDamagedError(`payload file ${location.name} has the wrong length`)
    }
    return PayloadFileReader.open(file, location, start, end)
  }

  close(): void {
    for (const file of this.#volumes.values()) file.close()
    this.#volumes.clear()
  }

  #volume(volume: number): DiskFile {
    const open = this.#volumes.get(volume)
    if (open !== undefined) return open
    let file: DiskFile
    try {
      file = this.#disk.openToRead(this.#paths.volume(volume))
    } catch (error) {
      throw new PayloadDamagedError(`volume ${volume} cannot be opened`, { cause: error })
    }
    if (this.#volumes.size >= OPEN_VOLUMES_MAXIMUM) this.#closeOldest()
    this.#volumes.set(volume, file)
    return file
  }

  #closeOldest(): void {
    for (const [volume, file] of this.#volumes) {
      file.close()
      this.#volumes.delete(volume)
      return
    }
  }
}

/** A part of a large payload, read block by block, at the pace of whoever calls `next`. */
export class PayloadFileReader {
  readonly length: number
  readonly #file: DiskFile
  readonly #name: string
  readonly #payloadBytes: number
  readonly #checksums: Buffer
  readonly #firstBlock: number
  readonly #end: number
  #position: number
  #ahead: Promise<Buffer | undefined> | undefined
  #closed = false
  /** Two pieces take turns: one is sent while the other is filled. */
  readonly #pieces = [takePiece(), takePiece()]
  #turn = 0

  private constructor(
    file: DiskFile,
    location: { readonly name: string; readonly length: number },
    start: number,
    end: number,
    checksums: Buffer,
  ) {
    this.#file = file
    this.#name = location.name
    this.#payloadBytes = location.length
    this.#checksums = checksums
    this.#firstBlock = Math.floor(start / BLOCK_BYTES)
    this.#position = start
    this.#end = end
    this.length = end - start
  }

  static async open(
    file: DiskFile,
    location: { readonly name: string; readonly length: number },
    start: number,
    end: number,
  ): Promise<PayloadFileReader> {
    const firstBlock = Math.floor(start / BLOCK_BYTES)
    const bytes = (blockCount(end) - firstBlock) * CHECKSUM_BYTES
    const checksums = Buffer.allocUnsafe(bytes)
    try {
      await file.readAtLater(checksums, location.length + firstBlock * CHECKSUM_BYTES, bytes)
    } catch (error) {
      await file.closeLater()
      throw error
    }
    const reader = new PayloadFileReader(file, location, start, end, checksums)
    reader.#readAhead()
    return reader
  }

  /** Resolves when the first bytes are read and proved; `next` will give them. */
  async proveFirst(): Promise<void> {
    await this.#ahead
  }

  /**
   * The next proved bytes, undefined after the last. They stay valid until the next call; while they are sent the
   * following ones are read.
   * @throws PayloadDamagedError
   */
  async next(): Promise<Buffer | undefined> {
    const bytes = await this.#ahead
    this.#ahead = undefined
    if (bytes !== undefined && !this.#closed) this.#readAhead()
    return bytes
  }

  /** Closes the file once no read is on its way. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    const close = () => {
      for (const piece of this.#pieces) givePieceBack(piece)
      this.#file.closeLater().catch(() => undefined)
    }
    if (this.#ahead === undefined) close()
    else this.#ahead.then(close, close)
  }

  #readAhead(): void {
    const reading = this.#read()
    reading.catch(() => undefined)
    this.#ahead = reading
  }

  async #read(): Promise<Buffer | undefined> {
    if (this.#position >= this.#end) return undefined
    const block = Math.floor(this.#position / BLOCK_BYTES)
    const start = block * BLOCK_BYTES
    const stop = Math.min(start + PIECE_BLOCKS * BLOCK_BYTES, blockCount(this.#end) * BLOCK_BYTES, this.#payloadBytes)
    const bytes = (this.#pieces[this.#turn] as Buffer).subarray(0, stop - start)
    this.#turn = 1 - this.#turn
    const read = await this.#file.readAtLater(bytes, start, bytes.length)
    if (read !== bytes.length) throw this.#damaged(start + read)
    for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
      const index = block + at / BLOCK_BYTES - this.#firstBlock
      const stated = this.#checksums.readUInt32BE(index * CHECKSUM_BYTES)
      if (crc32(bytes.subarray(at, at + BLOCK_BYTES)) !== stated) throw this.#damaged(start + at)
    }
    const part = bytes.subarray(this.#position - start, Math.min(stop, this.#end) - start)
    this.#position = Math.min(stop, this.#end)
    return part
  }

  #damaged(offset: number): PayloadDamagedError {
    return new PayloadDamagedError(`payload file ${this.#name}, offset ${offset}: checksum does not match`)
  }
}
