/** An exchange of the HTTP driver in memory: the server's end of a connection without a socket. */
import { type BodySource, type HeaderLine, type HttpResponse, isSource } from '../../../planes/http/exchange.ts'
import type { HeadSource } from '../../../planes/http/requests/request-head.ts'
import { closeSource, SourceStream, type StreamOwner } from '../../../planes/http/responses/source-stream.ts'
import { announcedLength, isBodyless, wholeLength, wholeSource } from '../../../planes/http/responses/whole-response.ts'
import { type ExchangeHost, ServedExchange } from '../../../planes/http/served-exchange.ts'

/** As in the other drivers: a longer body in memory is sent as a stream, at the pace of its reader. */
const WHOLE_BYTES_MAXIMUM = 16 * 1024

/** The client's end of a connection, as the server uses it. */
export interface ClientEnd {
  /** Of the sender, as text. */
  readonly address: string
  /** The head of the answer. @param length of the body; undefined if it has none, or ends where it ends */
  head(status: number, headers: readonly HeaderLine[], length: number | undefined, closes: boolean): void
  /**
   * Bytes of the body, valid only during the call.
   * @returns whether the client has taken them; otherwise `taken` is called when it has, which may be never
   */
  take(bytes: Buffer, taken: () => void): boolean
  /** The answer is whole. */
  end(): void
  /** The server has closed the connection. */
  closed(): void
  /** The server reads no more, or reads again. */
  pause(): void
  resume(): void
}

export class MemoryExchange extends ServedExchange {
  readonly #client: ClientEnd

  constructor(head: HeadSource, client: ClientEnd, host: ExchangeHost) {
    super(head, client.address, host)
    this.#client = client
  }

  /** Takes bytes of the body from the client. They belong to the exchange from now on. */
  receive(bytes: Buffer, isLast: boolean): void {
    this.incoming?.receive(bytes, isLast, true)
    if (isLast && this.lingerUntilMilliseconds !== undefined) this.clientGone()
  }

  /** The connection is closed. */
  gone(): void {
    if (!this.over || this.lingerUntilMilliseconds !== undefined) this.clientGone()
  }

  cut(): void {
    if (this.over && this.lingerUntilMilliseconds === undefined) return
    this.#client.closed()
    this.gone()
  }

  protected stopSocket(): void {
    this.#client.pause()
  }

  protected wakeSocket(): void {
    this.#client.resume()
  }

  protected prolongSocket(): void {
    // No library here has a timeout of its own.
  }

  protected schedule(response: HttpResponse, close: boolean): void {
    const { status, headers, body = '' } = response
    this.incoming?.discard()
    const isWhole = !isSource(body)
    const lingers = isWhole && this.mustLinger(close)
    if (this.method === 'HEAD' || isBodyless(status)) {
      this.release(response)
      this.#client.head(status, headers, isBodyless(status) ? undefined : announcedLength(response), close)
      this.#ended(lingers)
    } else if (!isWhole) this.#stream(response, body, close)
    else if (wholeLength(body) > WHOLE_BYTES_MAXIMUM && !lingers) {
      this.#stream(response, wholeSource(Buffer.from(body)), close)
    } else {
      this.#client.head(status, headers, wholeLength(body), close)
      // What is this short fits the buffers of a connection, whether or not the client reads it.
      this.#client.take(Buffer.from(body), () => undefined)
      this.#ended(lingers)
    }
  }

  override streamDone(): void {
    this.#client.end()
    super.streamDone()
  }

  #ended(lingers: boolean): void {
    this.#client.end()
    if (lingers) this.linger()
    else this.finish()
  }

  #stream({ status, headers }: HttpResponse, source: BodySource, close: boolean): void {
    const { length } = source
    this.#client.head(status, headers, length, close)
    if (length === 0) {
      closeSource(source, this)
      this.#ended(false)
      return
    }
    this.stream = new MemoryStream(this.#client, source, this)
    this.stream.start()
    if (!this.over) this.keepWatched()
  }
}

class MemoryStream extends SourceStream {
  readonly #client: ClientEnd
  readonly #length: number | undefined
  #givenBytes = 0
  #takenPieces = 0
  #isWaiting = false

  constructor(client: ClientEnd, source: BodySource, owner: StreamOwner) {
    super(source, owner)
    this.#client = client
    this.#length = source.length
  }

  progress(): number | undefined {
    return this.#isWaiting ? this.#takenPieces : undefined
  }

  start(): void {
    this.run()
  }

  retry(): void {
    // The client says by itself when it has taken a piece.
  }

  protected get isWaiting(): boolean {
    return this.#isWaiting
  }

  protected gathered(work: () => void): void {
    work()
  }

  protected send(piece: Buffer): void {
    this.#givenBytes += piece.length
    if (this.#length !== undefined && this.#givenBytes > this.#length) {
      this.fail(new Error(`The body has more than ${this.#length} bytes`))
      return
    }
    this.#isWaiting = true
    if (this.#client.take(piece, () => this.#taken())) this.#took()
  }

  protected finish(): void {
    if (this.#length === undefined) this.done()
    else this.fail(new Error(`The body ended after ${this.#givenBytes} of ${this.#length} bytes`))
  }

  #took(): void {
    this.#isWaiting = false
    this.#takenPieces += 1
    if (this.#givenBytes === this.#length) this.done()
  }

  #taken(): void {
    this.#took()
    if (this.#givenBytes !== this.#length) this.runOn()
  }
}
