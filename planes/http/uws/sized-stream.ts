/**
 * Sends a body of known length.
 *
 * The library may take part of a piece; the rest is offered again when the socket is writable, counted from the
 * library's own offset. The response is over at the instant the last byte is taken, and must not be touched after.
 */
import type * as uWS from 'uWebSockets.js'
import type { BodySource } from '../exchange.ts'
import type { StreamOwner } from '../responses/source-stream.ts'
import { UwsStream } from './uws-stream.ts'

export class SizedStream extends UwsStream {
  readonly #length: number
  readonly #offerBytes: number
  /** The piece being sent, and the offset in the body of its first byte. */
  #piece: Buffer | undefined
  #pieceOffset = 0

  /**
   * @param length of the body, above zero
   * @param offerBytes maximum bytes handed to the library at once
   */
  constructor(res: uWS.HttpResponse, source: BodySource, length: number, owner: StreamOwner, offerBytes: number) {
    super(res, source, owner)
    this.#length = length
    this.#offerBytes = offerBytes
  }

  progress(): number | undefined {
    return this.#piece === undefined ? undefined : this.res.getWriteOffset()
  }

  override abort(): void {
    this.#piece = undefined
    super.abort()
  }

  protected get isWaiting(): boolean {
    return this.#piece !== undefined
  }

  protected send(piece: Buffer): void {
    if (this.#pieceOffset + piece.length > this.#length) {
      this.fail(new Error(`The body has more than ${this.#length} bytes`))
      return
    }
    this.#piece = piece
    this.#offer(piece, 0)
  }

  protected finish(): void {
    this.fail(new Error(`The body ended after ${this.#pieceOffset} of ${this.#length} bytes`))
  }

  protected goOn(offset: number): void {
    if (this.#piece !== undefined) this.#offer(this.#piece, offset - this.#pieceOffset)
  }

  /** Sends `piece` from `start` on, as far as the library takes it. */
  #offer(piece: Buffer, start: number): void {
    for (let from = start; from < piece.length; from += this.#offerBytes) {
      const [taken, done] = this.res.tryEnd(piece.subarray(from, from + this.#offerBytes), this.#length)
      if (done) {
        this.#piece = undefined
        this.done()
        return
      }
      if (!taken) return
    }
    this.#pieceOffset += piece.length
    this.#piece = undefined
  }
}
