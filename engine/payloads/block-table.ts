import type { BlockCodec, BlockWriter } from './block-codec.ts'
import { BLOCK_BYTES, FILE_FORMS } from './file-format.ts'

/** Cuts the bytes of a payload file into blocks as they arrive, and collects their proofs. */
export class BlockTable {
  readonly #codec: BlockCodec
  readonly #proofBytes: number
  #proofs: Buffer
  #blocks = 0
  #block: BlockWriter | undefined
  #room = BLOCK_BYTES

  constructor(codec: BlockCodec) {
    this.#codec = codec
    this.#proofBytes = FILE_FORMS[codec.form].proofBytes
    this.#proofs = Buffer.allocUnsafe(1024 * this.#proofBytes)
  }

  /** Room in the block, in bytes; never 0. */
  get room(): number {
    return this.#room
  }

  /** Puts the stored form of at most `room` bytes into `target` at `at`. */
  take(bytes: Uint8Array, target: Buffer, at: number): void {
    this.#block ??= this.#codec.write(this.#blocks)
    this.#block.take(bytes, target, at)
    this.#room -= bytes.length
    if (this.#room === 0) this.#endBlock(this.#block)
  }

  /** Ends the last block and returns the proofs of all. */
  end(): Buffer {
    if (this.#block !== undefined) this.#endBlock(this.#block)
    return this.#proofs.subarray(0, this.#blocks * this.#proofBytes)
  }

  #endBlock(block: BlockWriter): void {
    const at = this.#blocks * this.#proofBytes
    if (at === this.#proofs.length) this.#proofs = Buffer.concat([this.#proofs], at * 2)
    this.#proofs.set(block.proof(), at)
    this.#blocks += 1
    this.#block = undefined
    this.#room = BLOCK_BYTES
  }
}
