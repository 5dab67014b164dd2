import type { DirectorySyncs } from '../disk/directory-syncs.ts'
import type { Disk, DiskFile } from '../disk/disk.ts'
import type { StorePaths } from '../disk/store-paths.ts'
import type { BodyHasher, HashedBody, SharedPiece } from '../hashing/body-hashing.ts'
import { type BlockCodec, plainBlocks, sealedBlocks } from './block-codec.ts'
import { BlockTable } from './block-table.ts'
import { copyInto } from '../hashing/copy-into.ts'
import { encodeFileTrailer, type FileForm } from './file-format.ts'
import { releasePiece, PIECE_BYTES, takePiece } from './piece-pool.ts'
import type { PayloadSealer } from './sealing.ts'

/** With more pieces of one upload in flight, the sender waits until one of them is hashed and written. */
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

/** Digests of a payload. */
interface PayloadDigests {
  /** In hexadecimal. */
  readonly md5: string
  /** 32 bytes. */
  readonly sha256: Buffer
}

/** A piece of a payload. */
interface Piece {
  /** The received bytes. */
  readonly plain: SharedPiece
  /** The bytes to write: the same memory, or encrypted bytes in other memory. */
  readonly stored: Buffer
}

/**
 * Receives one large payload: has it hashed by other threads, makes its blocks and their proofs, writes it to a file in
 * `payloads/tmp`. Memory is bounded by the pieces in flight, whatever the length.
 */
export class PayloadFileWriter {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #directories: DirectorySyncs
  readonly #name: string
  readonly #file: DiskFile
  readonly #hashing: BodyHasher
  readonly #hashed: HashedBody
  readonly #form: FileForm
  readonly #blocks: BlockTable
  #piece: Piece | undefined
  #filled = 0
  #written = 0
  #sinceSync = 0
  #onTheWay: Promise<void>[] = []
  /** Pieces that are not written yet. */
  readonly #writing = new Set<Promise<void>>()
  #failure: unknown
  #digests: Promise<PayloadDigests> | undefined
  #storing: Promise<void> | undefined
  /** Whether the file may have the name that it keeps. */
  #isNamed = false

  private constructor(
    disk: Disk,
    paths: StorePaths,
    directories: DirectorySyncs,
    name: string,
    file: DiskFile,
    codec: BlockCodec,
    hashing: BodyHasher,
  ) {
    this.#disk = disk
    this.#paths = paths
    this.#directories = directories
    this.#name = name
    this.#file = file
    this.#hashing = hashing
    this.#hashed = hashing.begin()
    this.#form = codec.form
    this.#blocks = new BlockTable(codec)
  }

  /** The caller never uses a `name` twice. With a sealer the file is encrypted. */
  static create(
    disk: Disk,
    paths: StorePaths,
    directories: DirectorySyncs,
    name: string,
    hashing: BodyHasher,
    sealer?: PayloadSealer,
  ): PayloadFileWriter {
    const codec = sealer === undefined ? plainBlocks : sealedBlocks(sealer.fileKey(name))
    return new PayloadFileWriter(disk, paths, directories, name, disk.create(paths.upload(name)), codec, hashing)
  }

  get size(): number {
    return this.#written + this.#filled
  }

  /** Copies a chunk. A promise means: send no more until it settles. */
  write(chunk: Uint8Array): Promise<void> | undefined {
    this.#take(chunk, (piece) => this.#send(piece))
    return this.#onTheWay.length > PIECES_ON_THE_WAY_MAXIMUM ? this.#waitForRoom() : undefined
  }

  /**
   * Copies a chunk; full pieces are hashed and written before this returns. For a sender that does not wait: this blocks the
   * thread, and memory stays bounded.
   */
  writeNow(chunk: Uint8Array): void {
    this.#take(chunk, (piece) => this.#sendNow(piece))
  }

  /** Digests of everything. Called after the last chunk. */
  digests(): Promise<PayloadDigests> {
    if (this.#digests !== undefined) return this.#digests
    if (this.#piece !== undefined) this.#send(this.#piece)
    this.#digests = this.#hashed.digests().then(({ md5, sha256 }) => ({ md5: md5.toString('hex'), sha256 }))
    // The caller may be awaiting something else when it fails.
    this.#digests.catch(() => undefined)
    return this.#digests
  }

  /**
   * Starts what `finish` waits for, without waiting for the digests. Called after the last chunk; `abandon` removes a
   * file whose bytes turn out wrong.
   */
  store(): void {
    if (this.#storing !== undefined) return
    void this.digests()
    this.#storing = this.#store()
    this.#storing.catch(() => undefined)
  }

  /**
   * Writes the rest and the proofs of the blocks, moves the file to its place and syncs both: it is durable with its name
   * when this resolves. A failure leaves nothing.
   */
  async finish(): Promise<StoredFile> {
    try {
      this.store()
      const [{ md5, sha256 }] = await Promise.all([this.digests(), this.#storing])
      await this.#drain()
      return { name: this.#name, size: this.#written, md5, digest: sha256, sealed: this.#form === 'sealed' }
    } catch (error) {
      await this.abandon()
      throw error
    }
  }

  /** Removes the file. Never rejects: the next start sweeps a file that cannot be removed now. */
  async abandon(): Promise<void> {
    await Promise.allSettled([...this.#onTheWay, this.#digests, this.#storing])
    if (this.#digests === undefined) this.#hashed.drop()
    if (this.#piece !== undefined) this.#giveBack(this.#piece)
    this.#piece = undefined
    await this.#file.closeAsync().catch(() => undefined)
    await this.#disk.removeAsync(this.#paths.upload(this.#name)).catch(() => undefined)
    if (this.#isNamed) await this.#disk.removeAsync(this.#paths.file(this.#name)).catch(() => undefined)
  }

  /**
   * No entry refers to the file before both syncs are done, so its name may exist before its bytes. The two syncs run
   * in parallel: a journaling file system makes one commit of them and of other uploads' syncs.
   */
  async #store(): Promise<void> {
    const size = this.#written
    const end = Buffer.concat([this.#blocks.end(), encodeFileTrailer(this.#form, size, this.#name)])
    const directory = this.#paths.fileDirectory(this.#name)
    await together([...this.#writing, this.#file.writeAtAsync(end, size), this.#moveToPlace(directory)])
    await together([this.#file.syncAsync(), this.#directories.sync(directory)])
    // Its bytes are on the disk: there is nothing to wait for.
    this.#file.close()
  }

  async #moveToPlace(directory: string): Promise<void> {
    await this.#directories.make(directory, this.#paths.files)
    this.#isNamed = true
    await this.#disk.renameAsync(this.#paths.upload(this.#name), this.#paths.file(this.#name))
  }

  #take(chunk: Uint8Array, pieceIsFull: (piece: Piece) => void): void {
    if (this.#failure !== undefined) throw this.#failure
    let at = 0
    while (at < chunk.length) {
      this.#piece ??= this.#newPiece()
      const { plain, stored } = this.#piece
      // Pieces are whole blocks, so a piece has room for its block.
      const part = chunk.subarray(at, at + this.#blocks.room)
      this.#blocks.take(part, stored, this.#filled)
      if (this.#form === 'sealed') copyInto(plain.bytes, part, this.#filled)
      this.#filled += part.length
      at += part.length
      if (this.#filled === PIECE_BYTES) pieceIsFull(this.#piece)
    }
  }

  #newPiece(): Piece {
    const plain = this.#hashing.takePiece()
    return { plain, stored: this.#form === 'sealed' ? takePiece() : plain.bytes }
  }

  #giveBack({ plain, stored }: Piece): void {
    this.#hashing.releasePiece(plain)
    if (stored !== plain.bytes) releasePiece(stored)
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

  #sendNow({ plain, stored }: Piece): void {
    const { length, position } = this.#account()
    this.#hashed.updateNow(plain, length)
    this.#file.writeAt(stored.subarray(0, length), position)
  }

  #send(piece: Piece): void {
    const { length, position } = this.#account()
    this.#piece = undefined
    const writing = this.#writePiece(piece.stored, length, position)
    this.#writing.add(writing)
    const both = [this.#hashed.update(piece.plain, length), writing]
    const sending: Promise<void> = Promise.allSettled(both).then((results) => {
      this.#giveBack(piece)
      this.#writing.delete(writing)
      const failed = results.find((result) => result.status === 'rejected')
      this.#failure ??= failed?.reason
      this.#onTheWay = this.#onTheWay.filter((other) => other !== sending)
    })
    this.#onTheWay.push(sending)
  }

  async #writePiece(piece: Buffer, length: number, position: number): Promise<void> {
    const syncs = this.#sinceSync >= SYNC_EVERY_BYTES
    if (syncs) this.#sinceSync = 0
    await this.#file.writeAtAsync(piece.subarray(0, length), position)
    if (syncs) await this.#file.syncAsync()
  }

  async #waitForRoom(): Promise<void> {
    await Promise.race(this.#onTheWay)
    if (this.#failure !== undefined) throw this.#failure
  }

  async #drain(): Promise<void> {
    await Promise.all(this.#onTheWay)
    if (this.#failure !== undefined) throw this.#failure
  }
}

/** Resolves when all have; rejects when all are settled and one failed. */
async function together(all: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(all)) if (result.status === 'rejected') throw result.reason
}
