import { createHash } from 'node:crypto'
import type { DirectorySyncs } from '../disk/directory-syncs.ts'
import type { Disk, DiskFile } from '../disk/disk.ts'
import type { StorePaths } from '../disk/store-paths.ts'
import { type BlockCodec, plainBlocks, sealedBlocks } from './block-codec.ts'
import { BlockTable } from './block-table.ts'
import { encodeFileTrailer, type FileForm } from './file-format.ts'
import { givePieceBack, PIECE_BYTES, takePiece } from './piece-pool.ts'
import type { PayloadSealer } from './sealing.ts'

/** With more writes of one upload under way, the sender waits until one of them is done. */
const PIECES_ON_THE_WAY_MAXIMUM = 2
/** Data is synced this often while it arrives, so the last sync is short whatever the object's length. */
const SYNC_EVERY_BYTES = 32 << 20

/** A payload that is durable under its name. */
export interface StoredFile {
  readonly name: string
  readonly size: number
  /** MD5 of the bytes in hexadecimal. */
  readonly md5: string
  /** SHA-256 of the bytes, 32 bytes. */
  readonly digest: Buffer
  /** Whether the file is encrypted. */
  readonly sealed: boolean
}

/**
 * Receives one large payload: hashes it, makes its blocks and their proofs, writes it to a file in `payloads/tmp`. Memory
 * is bounded by the pieces under way, whatever the length.
 */
export class PayloadFileWriter {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #directories: DirectorySyncs
  readonly #name: string
  readonly #file: DiskFile
  readonly #md5 = createHash('md5')
  readonly #sha256 = createHash('sha256')
  readonly #form: FileForm
  readonly #blocks: BlockTable
  #piece = takePiece()
  #filled = 0
  #written = 0
  #sinceSync = 0
  #onTheWay: Promise<void>[] = []
  #failure: unknown
  #digests: { readonly md5: string; readonly sha256: Buffer } | undefined

  private constructor(
    disk: Disk,
    paths: StorePaths,
    directories: DirectorySyncs,
    name: string,
    file: DiskFile,
    codec: BlockCodec,
  ) {
    this.#disk = disk
    this.#paths = paths
    this.#directories = directories
    this.#name = name
    this.#file = file
    this.#form = codec.form
    this.#blocks = new BlockTable(codec)
  }

  /** The caller never uses a `name` twice. With a sealer the file is encrypted. */
  static create(
    disk: Disk,
    paths: StorePaths,
    directories: DirectorySyncs,
    name: string,
    sealer?: PayloadSealer,
  ): PayloadFileWriter {
    const codec = sealer === undefined ? plainBlocks : sealedBlocks(sealer.fileKey(name))
    return new PayloadFileWriter(disk, paths, directories, name, disk.create(paths.upload(name)), codec)
  }

  get size(): number {
    return this.#written + this.#filled
  }

  /** Copies a chunk. A promise means: send no more until it settles. */
  write(chunk: Uint8Array): Promise<void> | undefined {
    this.#take(chunk, () => this.#send())
    return this.#onTheWay.length > PIECES_ON_THE_WAY_MAXIMUM ? this.#waitForRoom() : undefined
  }

  /**
   * Copies a chunk, and writes full pieces before it returns. For a sender that does not wait: this blocks the thread, and
   * memory stays bounded.
   */
  writeNow(chunk: Uint8Array): void {
    this.#take(chunk, () => this.#sendNow())
  }

  /** Digests of everything taken so far. Called once, after the last chunk. */
  digests(): { readonly md5: string; readonly sha256: Buffer } {
    this.#digests ??= { md5: this.#md5.digest('hex'), sha256: this.#sha256.digest() }
    return this.#digests
  }

  /**
   * Writes the rest and the proofs of the blocks, moves the file to its place and syncs both: it is durable with its name
   * when this resolves. A failure leaves nothing.
   */
  async finish(): Promise<StoredFile> {
    try {
      if (this.#filled > 0) this.#send()
      await this.#drain()
      const size = this.#written
      const end = Buffer.concat([this.#blocks.end(), encodeFileTrailer(this.#form, size, this.#name)])
      await this.#file.writeAtAsync(end, size)
      this.#release()
      await this.#moveToPlace()
      const { md5, sha256 } = this.digests()
      return { name: this.#name, size, md5, digest: sha256, sealed: this.#form === 'sealed' }
    } catch (error) {
      await this.abandon()
      await this.#disk.removeAsync(this.#paths.file(this.#name)).catch(() => undefined)
      throw error
    }
  }

  /** Removes the file. Never rejects: the next start sweeps a file that cannot be removed now. */
  async abandon(): Promise<void> {
    await Promise.allSettled(this.#onTheWay)
    this.#release()
    await this.#file.closeAsync().catch(() => undefined)
    await this.#disk.removeAsync(this.#paths.upload(this.#name)).catch(() => undefined)
  }

  /**
   * Nobody refers to the file before both syncs are done, so its name may be there before its bytes are durable. The two
   * run side by side: a journaling file system makes one commit of them, and of those of other uploads.
   */
  async #moveToPlace(): Promise<void> {
    const directory = this.#paths.fileDirectory(this.#name)
    await this.#directories.make(directory, this.#paths.files)
    await this.#disk.renameAsync(this.#paths.upload(this.#name), this.#paths.file(this.#name))
    const syncs = await Promise.allSettled([this.#file.syncAsync(), this.#directories.sync(directory)])
    for (const sync of syncs) if (sync.status === 'rejected') throw sync.reason
    await this.#file.closeAsync()
  }

  #take(chunk: Uint8Array, pieceIsFull: () => void): void {
    if (this.#failure !== undefined) throw this.#failure
    this.#md5.update(chunk)
    this.#sha256.update(chunk)
    let at = 0
    while (at < chunk.length) {
      // Pieces are whole blocks: what a block has room for, the piece has.
      const part = chunk.subarray(at, at + this.#blocks.room)
      this.#blocks.take(part, this.#piece, this.#filled)
      this.#filled += part.length
      at += part.length
      if (this.#filled === PIECE_BYTES) pieceIsFull()
    }
  }

  /** Counts the piece as written; returns its place in the file. */
  #account(): { readonly length: number; readonly position: number } {
    const length = this.#filled
    const position = this.#written
    this.#written += length
    this.#sinceSync += length
    this.#filled = 0
    return { length, position }
  }

  #sendNow(): void {
    const { length, position } = this.#account()
    this.#file.writeAt(this.#piece.subarray(0, length), position)
  }

  #send(): void {
    const { length, position } = this.#account()
    const piece = this.#piece
    this.#piece = takePiece()
    const writing: Promise<void> = this.#writePiece(piece, length, position).then(
      () => this.#forget(writing),
      (error: unknown) => {
        this.#failure ??= error
        this.#forget(writing)
      },
    )
    this.#onTheWay.push(writing)
  }

  async #writePiece(piece: Buffer, length: number, position: number): Promise<void> {
    const syncs = this.#sinceSync >= SYNC_EVERY_BYTES
    if (syncs) this.#sinceSync = 0
    try {
      await this.#file.writeAtAsync(piece.subarray(0, length), position)
      if (syncs) await this.#file.syncAsync()
    } finally {
      givePieceBack(piece)
    }
  }

  #forget(writing: Promise<void>): void {
    this.#onTheWay = this.#onTheWay.filter((other) => other !== writing)
  }

  async #waitForRoom(): Promise<void> {
    await Promise.race(this.#onTheWay)
    if (this.#failure !== undefined) throw this.#failure
  }

  async #drain(): Promise<void> {
    await Promise.all(this.#onTheWay)
    if (this.#failure !== undefined) throw this.#failure
  }

  #release(): void {
    if (this.#piece.length > 0) givePieceBack(this.#piece)
    this.#piece = Buffer.alloc(0)
  }
}
