import type { DiskFile } from '../disk/disk.ts'
import type { BlockCodec } from './block-codec.ts'
import type { BlockingReads } from './blocking-reads.ts'
import { BLOCK_BYTES, blockCount, FILE_FORMS, FILE_TRAILER, fileBytes, isTrailerOf } from './file-format.ts'
import { PayloadDamagedError, readFailure } from './payload-errors.ts'
import { releasePiece, PIECE_BLOCKS, takePiece } from './piece-pool.ts'

/** The catalog's data of a payload file; `length` is the object's, in bytes. */
interface FilePayload {
  readonly name: string
  readonly length: number
}

const MISMATCH = {
  plain: 'checksum does not match',
  sealed: 'authentication tag does not match',
} as const

/** Closing a file that was removed meanwhile frees its blocks, which takes long for many. */
const CLOSED_AT_ONCE_BYTES_MAXIMUM = 8 * 1024 * 1024
/** Proofs of up to this many bytes are read together with the trailer. */
const TAIL_BYTES_MAXIMUM = 64 * 1024

/** Where a read is, in bytes of the object; `stop` is where its last block ends. */
interface Span {
  readonly start: number
  readonly stop: number
}

/** A piece and the part of it that was asked for. */
interface ReadPiece {
  readonly piece: Buffer
  readonly bytes: Buffer
}

/** A range of a large payload, read block by block, at the pace of the calls of `next`. */
export class PayloadFileReader {
  readonly length: number
  readonly #file: DiskFile
  readonly #name: string
  readonly #payloadBytes: number
  readonly #codec: BlockCodec
  readonly #blocking: BlockingReads
  /** Of the first block that is read and all blocks after it. */
  readonly #proofs: Buffer
  readonly #firstBlock: number
  readonly #end: number
  #position: number
  #ahead: Promise<ReadPiece> | undefined
  /** The first bytes, until `next` returns them. */
  #first: Buffer | undefined
  /** Holds the bytes that `next` returned last. */
  #lent: Buffer | undefined
  #closed = false

  private constructor(source: Source, start: number, end: number, proofs: Buffer) {
    const { file, payload, codec, blocking } = source
    this.#file = file
    this.#name = payload.name
    this.#payloadBytes = payload.length
    this.#codec = codec
    this.#blocking = blocking
    this.#proofs = proofs
    this.#firstBlock = Math.floor(start / BLOCK_BYTES)
    this.#position = start
    this.#end = end
    this.length = end - start
  }

  /**
   * Takes over an open file; without success it is closed.
   * @throws PayloadDamagedError when the file belongs to another payload
   */
  static async open(source: Source, start: number, end: number): Promise<PayloadFileReader> {
    try {
      return new PayloadFileReader(source, start, end, await readProofs(source, start, end))
    } catch (error) {
      await source.file.closeAsync()
      throw error
    }
  }

  /** Resolves when the first bytes, which `next` will return, are read and verified. */
  async proveFirst(): Promise<void> {
    this.#first = await this.next()
  }

  /**
   * The next verified bytes, undefined after the last. They are valid until the next call. Without a promise the thread
   * has read them itself; with one the bytes after them are read meanwhile.
   * @throws PayloadDamagedError
   */
  next(): Buffer | undefined | Promise<Buffer | undefined> {
    const first = this.#first
    if (first !== undefined) {
      this.#first = undefined
      return first
    }
    this.#takeBack()
    if (this.#ahead !== undefined) return this.#arrived(this.#ahead)
    if (this.#position >= this.#end) return undefined
    if (this.#blocking.allowed) return this.#lend(this.#readNow())
    return this.#arrived(this.#readAhead())
  }

  /** Closes the file when no read is running. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#takeBack()
    if (this.#ahead === undefined) this.#closeFile()
    else
      this.#ahead
        .then(({ piece }) => releasePiece(piece))
        .catch(() => undefined)
        .finally(() => this.#closeFile())
  }

  #closeFile(): void {
    if (this.#payloadBytes > CLOSED_AT_ONCE_BYTES_MAXIMUM || !this.#blocking.allowed) {
      this.#file.closeAsync().catch(() => undefined)
      return
    }
    try {
      this.#file.close()
    } catch {
      // Nothing was written, so nothing is lost by it.
    }
  }

  #lend({ piece, bytes }: ReadPiece): Buffer {
    this.#lent = piece
    return bytes
  }

  #takeBack(): void {
    if (this.#lent !== undefined) releasePiece(this.#lent)
    this.#lent = undefined
  }

  async #arrived(ahead: Promise<ReadPiece>): Promise<Buffer | undefined> {
    const read = await ahead
    // Closed meanwhile: the piece has gone back.
    if (this.#closed) return undefined
    this.#ahead = undefined
    if (this.#position < this.#end && !this.#blocking.allowed) this.#readAhead()
    return this.#lend(read)
  }

  #readAhead(): Promise<ReadPiece> {
    const reading = this.#readLater()
    reading.catch(() => undefined)
    this.#ahead = reading
    return reading
  }

  #readNow(): ReadPiece {
    const span = this.#nextSpan()
    const piece = takePiece()
    try {
      const length = span.stop - span.start
      return this.#proved(
        piece,
        span,
        this.#blocking.run(() => this.#file.readAt(piece, span.start, length)),
      )
    } catch (error) {
      releasePiece(piece)
      throw readFailure(placeAt(this.#name, span.start), error)
    }
  }

  async #readLater(): Promise<ReadPiece> {
    const span = this.#nextSpan()
    const piece = takePiece()
    try {
      return this.#proved(piece, span, await this.#file.readAtAsync(piece, span.start, span.stop - span.start))
    } catch (error) {
      releasePiece(piece)
      throw readFailure(placeAt(this.#name, span.start), error)
    }
  }

  /** Whole blocks from the position on, up to the end of the payload. */
  #nextSpan(): Span {
    const start = Math.floor(this.#position / BLOCK_BYTES) * BLOCK_BYTES
    const stop = Math.min(start + PIECE_BLOCKS * BLOCK_BYTES, blockCount(this.#end) * BLOCK_BYTES, this.#payloadBytes)
    return { start, stop }
  }

  /** @throws PayloadDamagedError */
  #proved(piece: Buffer, { start, stop }: Span, read: number): ReadPiece {
    if (read !== stop - start) throw this.#damaged(start + read)
    for (let at = start; at < stop; at += BLOCK_BYTES) {
      const index = at / BLOCK_BYTES
      const block = piece.subarray(at - start, Math.min(at + BLOCK_BYTES, stop) - start)
      if (!this.#codec.prove(block, index, this.#proofOf(index))) throw this.#damaged(at)
    }
    const end = Math.min(stop, this.#end)
    const bytes = piece.subarray(this.#position - start, end - start)
    this.#position = end
    return { piece, bytes }
  }

  #proofOf(block: number): Buffer {
    const { proofBytes } = FILE_FORMS[this.#codec.form]
    const at = (block - this.#firstBlock) * proofBytes
    return this.#proofs.subarray(at, at + proofBytes)
  }

  #damaged(offset: number): PayloadDamagedError {
    return new PayloadDamagedError(`${placeAt(this.#name, offset)}: ${MISMATCH[this.#codec.form]}`)
  }
}

/** The file of a payload and how to decode it. */
interface Source {
  readonly file: DiskFile
  readonly payload: FilePayload
  readonly codec: BlockCodec
  readonly blocking: BlockingReads
}

/**
 * The proofs of the blocks that hold a range. A plain file holds its proofs, so only its trailer shows that the file
 * belongs to its name. The key of an encrypted file depends on its name, so its blocks show that.
 * @throws PayloadDamagedError
 */
async function readProofs(source: Source, start: number, end: number): Promise<Buffer> {
  const { payload, codec } = source
  const { proofBytes } = FILE_FORMS[codec.form]
  const firstBlock = Math.floor(start / BLOCK_BYTES)
  const proofsAt = payload.length + firstBlock * proofBytes
  const length = (blockCount(end) - firstBlock) * proofBytes
  const fileEnd = fileBytes(codec.form, payload.length)
  const tailBytes = fileEnd - proofsAt
  const readsTail = codec.form === 'plain' && tailBytes <= TAIL_BYTES_MAXIMUM
  const bytes = await readAt(source, proofsAt, readsTail ? tailBytes : length)
  if (codec.form === 'plain') {
    const trailer = readsTail
      ? bytes.subarray(tailBytes - FILE_TRAILER.bytes)
      : await readAt(source, fileEnd - FILE_TRAILER.bytes, FILE_TRAILER.bytes)
    if (!isTrailerOf(trailer, codec.form, payload.length, payload.name)) {
      throw new PayloadDamagedError(`payload file ${payload.name}: its trailer is damaged or belongs to another file`)
    }
  }
  return bytes.subarray(0, length)
}

/** Bytes of a file; where it ends before them they are zero. */
async function readAt({ file, payload, blocking }: Source, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  try {
    if (blocking.allowed) blocking.run(() => file.readAt(bytes, position, length))
    else await file.readAtAsync(bytes, position, length)
  } catch (error) {
    throw readFailure(placeAt(payload.name, position), error)
  }
  return bytes
}

function placeAt(name: string, offset: number): string {
  return `payload file ${name}, offset ${offset}`
}
