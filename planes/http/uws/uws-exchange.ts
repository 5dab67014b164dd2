/**
 * An exchange over the response object of uWebSockets.js.
 *
 * The library lets go of that object when the response ends or the client leaves; touching it after either kills the
 * process or throws. `over` is set in both cases, and every use checks it.
 */
import type * as uWS from 'uWebSockets.js'
import { ChunkedStream } from './chunked-stream.ts'
import { type BodySource, type HttpResponse, isSource } from '../exchange.ts'
import { peerAddress } from './peer-address.ts'
import type { IncomingBody } from '../requests/request-body.ts'
import { type ExchangeHost, ServedExchange } from '../served-exchange.ts'
import { SizedStream } from './sized-stream.ts'
import { closeSource } from '../responses/source-stream.ts'
import { endWithoutBody, writeLingering, writeStatusAndHeaders } from './uws-response.ts'
import { announcedLength, isBodyless, type WholeBody, wholeSource } from '../responses/whole-response.ts'

/** A longer body in memory is sent as a stream, since the library gives up on what the kernel does not take. */
const WHOLE_BYTES_MAXIMUM = 16 * 1024

/**
 * Over TLS the library takes what it is offered whole or, by its own report, not at all. So it is offered little at a
 * time, or a slow reader would seem not to read.
 */
const SECURE_OFFER_BYTES = 64 * 1024

export class UwsExchange extends ServedExchange {
  readonly #res: uWS.HttpResponse

  constructor(res: uWS.HttpResponse, request: uWS.HttpRequest, host: ExchangeHost) {
    // First of all: without this callback an exception, or a HEAD with a length, ends the whole process.
    res.onAborted(() => this.clientGone())
    super(request, peerAddress(res), host)
    this.#res = res
    const { incoming } = this
    // Attached at once: after the callback that began the request the library drops what has come with the head.
    if (incoming !== undefined) res.onData((chunk, last) => this.#received(incoming, chunk, last))
  }

  /** Whether the library does not tell which fresh connection this came by (see uws-apps.ts). */
  get hidesItsConnection(): boolean {
    return this.expectsBody || this.closeRequested || this.fault !== undefined
  }

  cut(): void {
    if (!this.over) this.#res.close()
  }

  protected stopSocket(): void {
    this.#res.pause()
  }

  /**
   * Lets the socket run, and winds up the library's clock. The library remembers what a paused socket was waiting for
   * in one place for all sockets of the thread: resuming one that is not paused may leave it deaf for ever, and only
   * pausing it just before is sure to put its own state there.
   */
  protected wakeSocket(): void {
    this.#res.pause()
    this.#res.resume()
  }

  protected prolongSocket(): void {
    // Bytes that were read before a pause took hold start the library's clock again; pausing once more stops it.
    if (this.paused) this.#res.pause()
    else this.wakeSocket()
  }

  protected schedule(response: HttpResponse, close: boolean, corked: boolean): void {
    if (close || this.host.secure) this.#sendNextTurn(response, close)
    else if (corked) this.#send(response, false)
    else this.#res.cork(() => this.#send(response, false))
  }

  #received(incoming: IncomingBody, chunk: ArrayBuffer, last: boolean): void {
    incoming.receive(Buffer.from(chunk), last, false)
    // The client has sent all there is, so closing loses nothing but an answer that the library still gathers: one that
    // was written in this same call goes out when the call is over.
    if (last && this.lingerUntilMilliseconds !== undefined) setImmediate(() => this.cut())
  }

  /**
   * A connection is closed only from a later turn of the loop. Until then the library counts this exchange as
   * pending, and cuts the connection at the next request on it, so that nothing after a message of doubtful framing
   * is ever taken for a request. That covers repeated lengths, and chunked bodies: the library reads a chunk
   * extension of digits and look-alikes as part of the size.
   *
   * With TLS every response waits for that turn: when the library has decrypted as much as fits its buffer it calls
   * back with the rest still encrypted, and a write then, to any connection of the thread, makes it forget the rest.
   */
  #sendNextTurn(response: HttpResponse, close: boolean): void {
    setImmediate(() => {
      if (this.over) this.giveUp(response)
      else this.#res.cork(() => this.#send(response, close))
    })
  }

  #send(response: HttpResponse, close: boolean): void {
    const { body } = response
    this.incoming?.discard()
    if (!isSource(body) && this.mustLinger(close)) {
      writeLingering(this.#res, response, this.method)
      this.linger()
      return
    }
    writeStatusAndHeaders(this.#res, response)
    if (this.method === 'HEAD' || isBodyless(response.status)) {
      this.release(response)
      const length = this.method === 'HEAD' && !isBodyless(response.status) ? announcedLength(response) : undefined
      endWithoutBody(this.#res, length, close)
      this.finish()
    } else if (isSource(body)) this.#sendSource(body, close)
    else this.#sendWhole(body ?? '', close)
  }

  #sendWhole(body: WholeBody, close: boolean): void {
    if (body.length > WHOLE_BYTES_MAXIMUM) {
      this.#sendSource(wholeSource(typeof body === 'string' ? Buffer.from(body) : body), close)
      return
    }
    this.#res.end(body, close)
    this.finish()
  }

  #sendSource(source: BodySource, close: boolean): void {
    const { length } = source
    if (length === 0) {
      closeSource(source, this)
      this.#res.end('', close)
      this.finish()
      return
    }
    if (close) this.#res.writeHeader('Connection', 'close')
    const offerBytes = this.host.secure ? SECURE_OFFER_BYTES : Number.POSITIVE_INFINITY
    this.stream =
      length === undefined
        ? new ChunkedStream(this.#res, source, this)
        : new SizedStream(this.#res, source, length, this, offerBytes)
    this.stream.start()
    if (!this.over) this.keepWatched()
  }
}
