/** Sends a body source through node:http: with a length as it is, without one in chunks (RFC 9112 section 7.1). */
import type { ServerResponse } from 'node:http'
import type { BodySource } from '../exchange.ts'
import { SourceStream, type StreamOwner } from '../responses/source-stream.ts'

/**
 * Bytes per write. Progress of a reader is visible only when the kernel has taken a whole write, so it is small.
 */
const WRITE_BYTES_MAXIMUM = 256 * 1024

export class NodeStream extends SourceStream {
  readonly #response: ServerResponse
  readonly #length: number | undefined
  /** The rest of the current piece. */
  #rest: Buffer | undefined
  /** Whether the kernel has not yet taken the last write. */
  #isWriting = false
  #takenBytes = 0
  #givenBytes = 0

  /** @param length of the body, above zero, or undefined */
  constructor(response: ServerResponse, source: BodySource, length: number | undefined, owner: StreamOwner) {
    super(source, owner)
    this.#response = response
    this.#length = length
  }

  progress(): number | undefined {
    return this.isWaiting ? this.#takenBytes : undefined
  }

  start(): void {
    this.run()
  }

  retry(): void {
    // Nothing to do: node:http writes as soon as it can.
  }

  override abort(): void {
    this.#rest = undefined
    super.abort()
  }

  protected get isWaiting(): boolean {
    return this.#isWriting || this.#rest !== undefined
  }

  protected gathered(work: () => void): void {
    work()
  }

  protected send(piece: Buffer): void {
    if (this.#length !== undefined && this.#givenBytes + piece.length > this.#length) {
      this.fail(new Error(`The body has more than ${this.#length} bytes`))
      return
    }
    this.#givenBytes += piece.length
    this.#rest = piece
    this.#write()
  }

  protected finish(): void {
    if (this.#length !== undefined) {
      this.fail(new Error(`The body ended after ${this.#givenBytes} of ${this.#length} bytes`))
      return
    }
    this.#isWriting = true
    this.#response.end(this.#ended)
  }

  #write(): void {
    const { length } = this.#rest ?? { length: 0 }
    const piece = this.#rest?.subarray(0, WRITE_BYTES_MAXIMUM)
    this.#rest = length > WRITE_BYTES_MAXIMUM ? this.#rest?.subarray(WRITE_BYTES_MAXIMUM) : undefined
    this.#isWriting = true
    if (this.#givenBytes === this.#length && this.#rest === undefined) this.#response.end(piece, this.#ended)
    else this.#response.write(piece, this.#written)
  }

  readonly #written = (error?: Error | null): void => {
    // The connection has closed, which the exchange learns by itself.
    if (error !== undefined && error !== null) return
    this.#takenBytes += 1
    this.#isWriting = false
    if (this.#rest !== undefined) this.#write()
    else this.runOn()
  }

  readonly #ended = (error?: Error): void => {
    if (error === undefined || error === null) this.done()
  }
}
