/**
 * One request and its response, from the parsed head to the last byte: the part common to both drivers. Subclasses send
 * the bytes.
 */
import { BodyRemovedError, CutOffError, type HttpResponse, isSource } from './exchange.ts'
import { ReceivedRequest } from './requests/received-request.ts'
import { IncomingBody, type Throttle } from './requests/request-body.ts'
import type { HeadSource } from './requests/request-head.ts'
import { closeSource, type SourceStream, type StreamOwner } from './responses/source-stream.ts'
import type { GuardedExchange, StallGuard } from './limits/stall-guard.ts'
import type { TrustedProxies } from './limits/trusted-proxies.ts'
import { responseFault } from './responses/whole-response.ts'

/** With more unread bytes of a request body than this, the connection is closed instead of reading them off. */
const DISCARDED_BYTES_MAXIMUM = 1024 * 1024

/** The listener's interface for its exchanges. */
export interface ExchangeHost {
  readonly guard: StallGuard
  /** How long a client may keep sending after an answer that closes the connection. */
  readonly lingerMilliseconds: number
  /** Proxies that are trusted to name the client. */
  readonly proxies: TrustedProxies | undefined
  /** Connections are TLS. */
  readonly secure: boolean
  /** The listener is closing: every response closes its connection. */
  readonly closing: boolean
  /** Whether connections of this address end with their answer, because it has too many. */
  givesWay(address: string): boolean
  report(error: unknown): void
  /** The answer sent when a server fault prevents the handler's. */
  failure(): HttpResponse
  /** The handler has settled, and its response was sent or its client has gone. */
  exchangeOver(): void
}

export abstract class ServedExchange extends ReceivedRequest implements Throttle, GuardedExchange, StreamOwner {
  protected readonly host: ExchangeHost
  protected readonly incoming: IncomingBody | undefined
  protected stream: SourceStream | undefined
  paused = false
  /** The response was sent or the client has gone: the driver's objects must not be used any more. */
  protected over = false
  /** Until when a client may go on sending that was answered without being read. */
  protected lingerUntilMilliseconds: number | undefined
  #guarded = false
  /** The handler has given its response. */
  #answered = false
  /** Whether the host was notified of the end. */
  #left = false

  constructor(head: HeadSource, peerAddress: string, host: ExchangeHost) {
    super(head, peerAddress, host.secure, host.proxies)
    this.host = host
    if (!this.expectsBody) return
    this.incoming = new IncomingBody(this, this.contentLength)
    this.body = this.incoming
  }

  /** Has the stall guard watch the exchange until it is over; called if there is no response at once. */
  keepWatched(): void {
    if (this.#guarded || this.over) return
    this.#guarded = true
    this.host.guard.add(this)
  }

  /** Answers 500 for an exception of the handler. */
  fail(error: unknown): void {
    this.host.report(error)
    this.respond(this.host.failure(), false)
  }

  /**
   * Sends the response, or a 500 if it is invalid.
   * @param corked whether this runs inside the callback of the driver that brought the request
   */
  respond(response: HttpResponse, corked: boolean): void {
    this.#answered = true
    const fault = responseFault(response)
    if (fault !== undefined) {
      this.report(new Error(`Response to ${this.method} replaced by a 500: ${fault}`))
      this.release(response)
      this.respond(this.host.failure(), corked)
    } else if (this.over) this.giveUp(response)
    else this.schedule(response, response.close === true || this.#mustClose(), corked)
  }

  pause(): void {
    if (this.paused || this.over) return
    this.paused = true
    this.stopSocket()
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    if (!this.over) this.wakeSocket()
  }

  clientProgress(): number | undefined {
    if (this.stream !== undefined) return this.stream.progress()
    const { incoming } = this
    if (incoming === undefined || incoming.complete || this.paused) return undefined
    return incoming.receivedBytes
  }

  prolong(nowMilliseconds: number): void {
    if (this.lingerUntilMilliseconds !== undefined && nowMilliseconds >= this.lingerUntilMilliseconds) {
      this.cut()
      return
    }
    this.prolongSocket()
    this.stream?.retry()
  }

  giveUpBody(): void {
    if (!this.#answered) this.incoming?.giveUp()
  }

  /** Closes the connection. */
  abstract override cut(): void

  streamDone(): void {
    this.finish()
  }

  streamFailed(error: unknown): void {
    if (!(error instanceof BodyRemovedError || error instanceof CutOffError)) this.report(error)
    this.cut()
  }

  report(error: unknown): void {
    this.host.report(error)
  }

  /** Sends a response that can be sent, now or in a later turn. */
  protected abstract schedule(response: HttpResponse, close: boolean, corked: boolean): void

  protected abstract stopSocket(): void

  protected abstract wakeSocket(): void

  /** Restarts the driver's timeout for the client. */
  protected abstract prolongSocket(): void

  /** To be called when the connection has closed before the response was sent, or while lingering after it. */
  protected clientGone(): void {
    const lingering = this.lingerUntilMilliseconds !== undefined
    this.over = true
    this.#unwatch()
    this.stream?.abort()
    this.incoming?.abandon()
    if (lingering) return
    this.notifyAborted()
    if (this.#answered) this.#leave()
  }

  /** Whether ending now would make the kernel reset a connection that the client is still sending on. */
  protected mustLinger(close: boolean): boolean {
    const { incoming } = this
    if (incoming === undefined || incoming.complete) return false
    if (close || this.closeRequested || this.contentLength === undefined) return true
    return this.contentLength - incoming.receivedBytes > DISCARDED_BYTES_MAXIMUM
  }

  /** After the response: reads the rest of the client's body for a bounded time, then closes the connection. */
  protected linger(): void {
    this.lingerUntilMilliseconds = performance.now() + this.host.lingerMilliseconds
    this.keepWatched()
    this.#leave()
  }

  protected finish(): void {
    this.over = true
    this.#unwatch()
    this.#leave()
  }

  /** Releases a response whose client has gone. */
  protected giveUp(response: HttpResponse): void {
    this.release(response)
    this.#leave()
  }

  protected release({ body }: HttpResponse): void {
    if (isSource(body)) closeSource(body, this)
  }

  #mustClose(): boolean {
    return this.host.closing || this.chunked || this.fault !== undefined || this.host.givesWay(this.peerAddress)
  }

  #leave(): void {
    if (this.#left) return
    this.#left = true
    this.host.exchangeOver()
  }

  #unwatch(): void {
    if (this.#guarded) this.host.guard.remove(this)
  }
}
