import { type BodySource, ClientGoneError, type HttpRequest, isSource, type RequestBody } from '../http/exchange.ts'
import { piecesOf } from './read-object.ts'

/**
 * The stored bytes of a version as a request body, so that they are received like an upload. They are read at the pace
 * of the sink, one piece at a time, and yield to the event loop after each.
 */
export class PayloadBody implements RequestBody {
  #receivedBytes = 0
  #clientIsGone = false
  readonly #bytes: Buffer | BodySource
  readonly #turn: () => Promise<void> | undefined

  /**
   * @param http the request of the copy, which ends when its client disconnects
   * @param turn called after each piece; returns a promise if other accounts go first
   */
  constructor(bytes: Buffer | BodySource, http: Pick<HttpRequest, 'onAborted'>, turn: () => Promise<void> | undefined) {
    this.#bytes = bytes
    this.#turn = turn
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

  /** @throws ClientGoneError, and what the source, `sink` and the wait for a turn throw */
  async pipe(sink: (chunk: Buffer) => void | Promise<void>): Promise<void> {
    for await (const piece of piecesOf(this.#bytes)) {
      if (this.#clientIsGone) throw new ClientGoneError()
      this.#receivedBytes += piece.length
      const taken = sink(piece)
      if (taken !== undefined) await taken
      const turn = this.#turn()
      if (turn !== undefined) await turn
    }
  }
}
