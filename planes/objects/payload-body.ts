import { type BodySource, ClientGoneError, type HttpRequest, isSource, type RequestBody } from '../http/exchange.ts'
import { piecesOf } from './read-object.ts'

/**
 * The stored bytes of a version in the place of the body of a request, so that they are received as an upload is. They
 * are read at the pace of the sink, one piece at a time, and the event loop goes round after each.
 */
export class PayloadBody implements RequestBody {
  #receivedBytes = 0
  #clientIsGone = false
  readonly #bytes: Buffer | BodySource

  /** @param http the request that the copy is for: it ends when its client leaves */
  constructor(bytes: Buffer | BodySource, http: Pick<HttpRequest, 'onAborted'>) {
    this.#bytes = bytes
    http.onAborted(() => {
      this.#clientIsGone = true
    })
  }

  get receivedBytes(): number {
    return this.#receivedBytes
  }

  arrival(): undefined {
    return undefined
  }

  takeArrived(): Buffer | undefined {
    const bytes = this.#bytes
    if (isSource(bytes)) return undefined
    this.#receivedBytes = bytes.length
    return bytes
  }

  async readAll(): Promise<Buffer> {
    const pieces: Buffer[] = []
    await this.pipe((piece) => void pieces.push(Buffer.from(piece)))
    return Buffer.concat(pieces)
  }

  /** @throws ClientGoneError, and what the source and `sink` throw */
  async pipe(sink: (chunk: Buffer) => void | Promise<void>): Promise<void> {
    for await (const piece of piecesOf(this.#bytes)) {
      if (this.#clientIsGone) throw new ClientGoneError()
      this.#receivedBytes += piece.length
      const taken = sink(piece)
      if (taken !== undefined) await taken
    }
  }
}
