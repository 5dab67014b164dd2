/**
 * An exchange over the response object of uWebSockets.js.
 *
 * The library frees that object when the response ends or the client disconnects; using it afterwards kills the process
 * or throws. `over` is set in both cases, and every use checks it.
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

/** A longer body in memory is sent as a stream, since the library drops bytes that the kernel does not take. */
const WHOLE_BYTES_MAXIMUM = 16 * 1024

/**
 * Over TLS the library reports a write as taken wholly or not at all. So writes are small; with large ones a slow
 * reader would seem to make no progress.
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
    // Attached at once: after the callback of the request the library drops bytes that arrived with the head.
    if (incoming !== undefined) res.onData((chunk, last) => this.#received(incoming, chunk, last))
  }

  /** Whether the library does not report which fresh connection carried this request (see uws-apps.ts). */
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
   * Resumes the socket and restarts the library's timeout. The library keeps the state of a paused socket in one
   * variable for all sockets of the thread, so resuming a socket that is not paused may leave it without events for
   * ever. Pausing it just before puts its own state there.
   */
  protected wakeSocket(): void {
    this.#res.pause()
    this.#res.resume()
  }

  protected prolongSocket(): void {
    // Bytes read before a pause took effect restart the library's timeout; pausing again stops it.
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
    // The client has sent everything, so closing can lose only the answer that the library still gathers. An answer
    // written during this call is sent when the call returns.
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
