/**
 * One request and its response, from the parsed head to the last byte, over the library's response object.
 *
 * The library lets go of that object when the response ends or the client leaves; touching it after either kills the
 * process or throws. `#over` is set in both cases, and every use checks it.
 */
import type * as uWS from 'uWebSockets.js'
import { ChunkedStream } from './chunked-stream.ts'
import { BodyRemovedError, type BodySource, CutOffError, type HttpResponse, isSource } from './exchange.ts'
import { peerAddress } from './peer-address.ts'
import { IncomingBody, type Throttle } from './request-body.ts'
import { SizedStream, wholeSource } from './sized-stream.ts'
import { closeSource, type SourceStream, type StreamOwner } from './source-stream.ts'
import type { GuardedExchange, StallGuard } from './stall-guard.ts'
import { UwsRequest } from './uws-request.ts'
import {
  endWithoutBody,
  isBodyless,
  responseFault,
  type WholeBody,
  wholeLength,
  writeLingering,
  writeStatusAndHeaders,
} from './uws-response.ts'

/** A longer body in memory is sent as a stream, since the library gives up on what the kernel does not take. */
const WHOLE_BYTES_MAXIMUM = 16 * 1024

/** Beyond so many unread bytes of a request body the connection is closed rather than kept in step. */
const DISCARDED_BYTES_MAXIMUM = 1024 * 1024

/**
 * Over TLS the library takes what it is offered whole or, by its own report, not at all. So it is offered little at a
 * time, or a slow reader would seem not to read.
 */
const SECURE_OFFER_BYTES = 64 * 1024

/** What an exchange needs of the listener that it came through. */
export interface ExchangeHost {
  readonly guard: StallGuard
  /** How long a client may go on sending after an answer that closes the connection. */
  readonly lingerMilliseconds: number
  /** Connections are TLS. */
  readonly secure: boolean
  /** The listener is closing: every response closes its connection. */
  readonly closing: boolean
  /** Whether connections of this address end with their answer, because it has too many. */
  givesWay(address: string): boolean
  report(error: unknown): void
  /** The handler has settled, and its response is out or its client gone. */
  exchangeOver(): void
}

const INTERNAL_ERROR: HttpResponse = {
  status: 500,
  headers: [['Content-Type', 'text/plain; charset=utf-8']],
  body: 'Internal Server Error\n',
}

export class Exchange extends UwsRequest implements Throttle, GuardedExchange, StreamOwner {
  readonly #res: uWS.HttpResponse
  readonly #host: ExchangeHost
  readonly #incoming: IncomingBody | undefined
  #stream: SourceStream | undefined
  paused = false
  #guarded = false
  #over = false
  /** The handler has given its response. */
  #answered = false
  /** The host knows that this is over. */
  #left = false
  #lingerUntilMilliseconds: number | undefined

  constructor(res: uWS.HttpResponse, request: uWS.HttpRequest, host: ExchangeHost) {
    // First of all: without this callback an exception, or a HEAD with a length, ends the whole process.
    res.onAborted(() => this.#clientGone())
    super(request, peerAddress(res), host.secure)
    this.#res = res
    this.#host = host
    if (!this.expectsBody) return
    const incoming = new IncomingBody(this, this.contentLength)
    this.#incoming = incoming
    this.body = incoming
    // Attached at once: after the callback that began the request the library drops what has come with the head.
    res.onData((chunk, last) => this.#received(incoming, chunk, last))
  }

  /** Whether the library does not tell which fresh connection this came by (see fresh-connections.ts). */
  get hidesItsConnection(): boolean {
    return this.expectsBody || this.closeRequested || this.fault !== undefined
  }

  /** Has the exchange watched until it is over; called when the response is not known at once. */
  keepWatched(): void {
    if (this.#guarded || this.#over) return
    this.#guarded = true
    this.#host.guard.add(this)
  }

  /** Answers 500 for an exception of the handler. */
  fail(error: unknown): void {
    this.#host.report(error)
    this.respond(INTERNAL_ERROR, false)
  }

  /**
   * Sends the response, or a 500 in its place when it cannot be sent as it is.
   * @param corked whether this runs inside the library's callback for the request, where writes are gathered
   */
  respond(response: HttpResponse, corked: boolean): void {
    this.#answered = true
    const fault = responseFault(response)
    if (fault !== undefined) {
      this.report(new Error(`Response to ${this.method} replaced by a 500: ${fault}`))
      this.#release(response)
      this.respond(INTERNAL_ERROR, corked)
    } else if (this.#over) this.#giveUp(response)
    else if (response.close === true || this.#mustClose()) this.#respondNextTurn(response, true)
    else if (this.#host.secure) this.#respondNextTurn(response, false)
    else if (corked) this.#send(response, false)
    else this.#res.cork(() => this.#send(response, false))
  }

  pause(): void {
    if (this.paused || this.#over) return
    this.paused = true
    this.#res.pause()
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    if (!this.#over) this.#wake()
  }

  clientProgress(): number | undefined {
    if (this.#stream !== undefined) return this.#stream.progress()
    const incoming = this.#incoming
    if (incoming === undefined || incoming.complete || this.paused) return undefined
    return incoming.receivedBytes
  }

  prolong(nowMilliseconds: number): void {
    if (this.#lingerUntilMilliseconds !== undefined && nowMilliseconds >= this.#lingerUntilMilliseconds) {
      this.cut()
      return
    }
    // Bytes that were read before a pause took hold start the library's clock again; pausing once more stops it.
    if (this.paused) this.#res.pause()
    else this.#wake()
    this.#stream?.retry()
  }

  cut(): void {
    if (!this.#over) this.#res.close()
  }

  streamDone(): void {
    this.#finish()
  }

  streamFailed(error: unknown): void {
    if (!(error instanceof BodyRemovedError || error instanceof CutOffError)) this.report(error)
    this.cut()
  }

  report(error: unknown): void {
    this.#host.report(error)
  }

  /**
   * Lets the socket run, and winds up the library's clock. The library remembers what a paused socket was waiting for
   * in one place for all sockets of the thread: resuming one that is not paused may leave it deaf for ever, and only
   * pausing it just before is sure to put its own state there.
   */
  #wake(): void {
    this.#res.pause()
    this.#res.resume()
  }

  #received(incoming: IncomingBody, chunk: ArrayBuffer, last: boolean): void {
    incoming.receive(chunk, last)
    // The client has sent all there is, so closing loses nothing but an answer that the library still gathers: one that
    // was written in this same call goes out when the call is over.
    if (last && this.#lingerUntilMilliseconds !== undefined) setImmediate(() => this.cut())
  }

  #clientGone(): void {
    const lingering = this.#lingerUntilMilliseconds !== undefined
    this.#over = true
    this.#unwatch()
    this.#stream?.abort()
    this.#incoming?.abandon()
    if (lingering) return
    this.notifyAborted()
    if (this.#answered) this.#leave()
  }

  #mustClose(): boolean {
    return this.#host.closing || this.chunked || this.fault !== undefined || this.#host.givesWay(this.remoteAddress)
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
  #respondNextTurn(response: HttpResponse, close: boolean): void {
    setImmediate(() => {
      if (this.#over) this.#giveUp(response)
      else this.#res.cork(() => this.#send(response, close))
    })
  }

  #send(response: HttpResponse, close: boolean): void {
    const { body } = response
    this.#incoming?.discard()
    if (!isSource(body) && this.#mustLinger(close)) {
      this.#linger(response)
      return
    }
    writeStatusAndHeaders(this.#res, response)
    if (this.method === 'HEAD' || isBodyless(response.status)) {
      this.#release(response)
      const length = this.method === 'HEAD' && !isBodyless(response.status) ? announcedLength(response) : undefined
      endWithoutBody(this.#res, length, close)
      this.#finish()
    } else if (isSource(body)) this.#sendSource(body, close)
    else this.#sendWhole(body ?? '', close)
  }

  #sendWhole(body: WholeBody, close: boolean): void {
    if (body.length > WHOLE_BYTES_MAXIMUM) {
      this.#sendSource(wholeSource(typeof body === 'string' ? Buffer.from(body) : body), close)
      return
    }
    this.#res.end(body, close)
    this.#finish()
  }

  #sendSource(source: BodySource, close: boolean): void {
    const { length } = source
    if (length === 0) {
      closeSource(source, this)
      this.#res.end('', close)
      this.#finish()
      return
    }
    if (close) this.#res.writeHeader('Connection', 'close')
    const offerBytes = this.#host.secure ? SECURE_OFFER_BYTES : Number.POSITIVE_INFINITY
    this.#stream =
      length === undefined
        ? new ChunkedStream(this.#res, source, this)
        : new SizedStream(this.#res, source, length, this, offerBytes)
    this.#stream.start()
    if (!this.#over) this.keepWatched()
  }

  /** Whether ending now would make the kernel reset a connection that the client is still sending on. */
  #mustLinger(close: boolean): boolean {
    const incoming = this.#incoming
    if (incoming === undefined || incoming.complete) return false
    if (close || this.closeRequested || this.contentLength === undefined) return true
    return this.contentLength - incoming.receivedBytes > DISCARDED_BYTES_MAXIMUM
  }

  #linger(response: HttpResponse): void {
    writeLingering(this.#res, response, this.method)
    this.#lingerUntilMilliseconds = performance.now() + this.#host.lingerMilliseconds
    this.keepWatched()
    this.#leave()
  }

  #finish(): void {
    this.#over = true
    this.#unwatch()
    this.#leave()
  }

  #leave(): void {
    if (this.#left) return
    this.#left = true
    this.#host.exchangeOver()
  }

  /** The client left before the response was known. */
  #giveUp(response: HttpResponse): void {
    this.#release(response)
    this.#leave()
  }

  #release({ body }: HttpResponse): void {
    if (isSource(body)) closeSource(body, this)
  }

  #unwatch(): void {
    if (this.#guarded) this.#host.guard.remove(this)
  }
}

/** Undefined for a body of unknown length: what HEAD gets may leave it out (RFC 9110 section 8.6). */
function announcedLength({ body, contentLength }: HttpResponse): number | undefined {
  return contentLength ?? (isSource(body) ? body.length : wholeLength(body))
}
