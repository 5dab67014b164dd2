import type { DiskFile } from '../disk/disk.ts'
import type { BlockCodec } from './block-codec.ts'
import { BLOCK_BYTES, blockCount, FILE_FORMS, FILE_TRAILER, fileBytes, isTrailerOf } from './file-format.ts'
import { PayloadDamagedError } from './payload-errors.ts'
import { givePieceBack, PIECE_BLOCKS, takePiece } from './piece-pool.ts'

/** What the catalog has about a payload file; `length` is that of the object, in bytes. */
interface FilePayload {
  readonly name: string
  readonly length: number
}

const MISMATCH = {
  plain: 'checksum does not match',
  sealed: 'authentication tag does not match',
} as const

/** A range of a large payload, read block by block, at the pace of the calls of `next`. */
export class PayloadFileReader {
  readonly length: number
  readonly #file: DiskFile
  readonly #name: string
  readonly #payloadBytes: number
  readonly #codec: BlockCodec
  /** Of the first block that is read and those after it. */
  readonly #proofs: Buffer
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
    payload: FilePayload,
    codec: BlockCodec,
    start: number,
    end: number,
    proofs: Buffer,
  ) {
    this.#file = file
    this.#name = payload.name
    this.#payloadBytes = payload.length
    this.#codec = codec
    this.#proofs = proofs
    this.#firstBlock = Math.floor(start / BLOCK_BYTES)
    this.#position = start
    this.#end = end
    this.length = end - start
  }

  /** @throws PayloadDamagedError when the file is that of another payload */
  static async open(
    file: DiskFile,
    payload: FilePayload,
    codec: BlockCodec,
    start: number,
    end: number,
  ): Promise<PayloadFileReader> {
    const firstBlock = Math.floor(start / BLOCK_BYTES)
    const { proofBytes } = FILE_FORMS[codec.form]
    const bytes = (blockCount(end) - firstBlock) * proofBytes
    const proofs = Buffer.allocUnsafe(bytes)
    try {
      const reading = file.readAtAsync(proofs, payload.length + firstBlock * proofBytes, bytes)
      // Both reads must end before the file is closed.
      const [trailer] = await Promise.allSettled([requireOwnTrailer(file, payload, codec), reading])
      if (trailer.status === 'rejected') throw trailer.reason
      await reading
    } catch (error) {
      await file.closeAsync()
      throw error
    }
    const reader = new PayloadFileReader(file, payload, codec, start, end, proofs)
    reader.#readAhead()
    return reader
  }

  /** Resolves when the first bytes, which `next` will return, are read and verified. */
  async proveFirst(): Promise<void> {
    await this.#ahead
  }

  /**
   * The next verified bytes, undefined after the last. They are valid until the next call; meanwhile the bytes after them
   * are read.
   * @throws PayloadDamagedError
   */
  async next(): Promise<Buffer | undefined> {
    const bytes = await this.#ahead
    this.#ahead = undefined
    if (bytes !== undefined && !this.#closed) this.#readAhead()
    return bytes
  }

  /** Closes the file when no read is under way. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    const close = () => {
      for (const piece of this.#pieces) givePieceBack(piece)
      this.#file.closeAsync().catch(() => undefined)
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
    const read = await this.#file.readAtAsync(bytes, start, bytes.length)
    if (read !== bytes.length) throw this.#damaged(start + read)
    for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
      const index = block + at / BLOCK_BYTES
      const proved = this.#codec.prove(bytes.subarray(at, at + BLOCK_BYTES), index, this.#proofOf(index))
      if (!proved) throw this.#damaged(start + at)
    }
    const part = bytes.subarray(this.#position - start, Math.min(stop, this.#end) - start)
    this.#position = Math.min(stop, this.#end)
    return part
  }

  #proofOf(block: number): Buffer {
    const { proofBytes } = FILE_FORMS[this.#codec.form]
    const at = (block - this.#firstBlock) * proofBytes
    return this.#proofs.subarray(at, at + proofBytes)
  }

  #damaged(offset: number): PayloadDamagedError {
    return new PayloadDamagedError(`payload file ${this.#name}, offset ${offset}: ${MISMATCH[this.#codec.form]}`)
  }
}

/**
 * The proofs of a plain file are in the same file, so only its trailer shows that it is not another one under its name.
 * The key of an encrypted file depends on its name, so its blocks show it.
 */
async function requireOwnTrailer(file: DiskFile, { name, length }: FilePayload, { form }: BlockCodec): Promise<void> {
  if (form === 'sealed') return
  const trailer = Buffer.alloc(FILE_TRAILER.bytes)
  await file.readAtAsync(trailer, fileBytes(form, length) - trailer.length, trailer.length)
  if (isTrailerOf(trailer, form, length, name)) return
  throw new PayloadDamagedError(`payload file ${name}: its trailer is damaged or belongs to another file`)
}
