/** A listener of whichever driver: what is asked of it, and what is the same for all of them. */
import type { X509Certificate } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { HttpHandler, HttpResponse } from './exchange.ts'
import type { HttpDriver } from './http-driver.ts'
import { responseFault } from './responses/whole-response.ts'
import type { ExchangeHost, ServedExchange } from './served-exchange.ts'
import { TrustedProxies } from './limits/trusted-proxies.ts'
import { StallGuard } from './limits/stall-guard.ts'
import type { TlsFiles } from './tls-files.ts'

/** For the answers to requests that are given up when a listener closes. */
const GIVE_UP_MILLISECONDS = 250

export interface ListenOptions {
  /** What speaks HTTP; see `http-driver.ts`. */
  readonly driver: HttpDriver
  /** Address to listen on. */
  readonly host: string
  /** Port to listen on, 0 for any free one (which no other thread can share). */
  readonly port: number
  readonly handler: HttpHandler
  /** Silence of a client, in the middle of an upload or download, after which it is cut off. Default 60,000. */
  readonly stallTimeoutMilliseconds?: number
  /** What a client must move in that time when `isCrowded` says so, or be cut off. Default 0: any progress will do. */
  readonly minimumBytes?: number
  /** Whether operations are short of places. The listener itself knows when connections are. */
  readonly isCrowded?: () => boolean
  /**
   * How long a client may go on sending a body that was answered without being read, before the connection is closed.
   * Default 30,000.
   */
  readonly lingerMilliseconds?: number
  /** Addresses and networks of proxies that are believed where a request comes from. Default: none. */
  readonly trustedProxies?: readonly string[]
  /** With these files the listener speaks TLS, 1.2 or 1.3. */
  readonly tls?: TlsFiles | undefined
  /** Fail if anybody else listens on the port, and keep it from others. Default false. */
  readonly exclusive?: boolean
  /**
   * Beyond these the oldest connection without a head is closed, or the new one. From three quarters of them on, an address
   * that has more than half of all gets no further ones. Default: as many as come.
   */
  readonly connectionsMaximum?: number
  /** Called with exceptions from handlers, body sources and abort listeners, and of responses that cannot be sent. */
  readonly onHandlerError?: (error: unknown) => void
  /**
   * The answer where no handler has one: the request is malformed, or the handler failed (500). It has a request id and
   * the form of errors of the plane. Default: `reason` as plain text.
   */
  readonly refusal?: (status: number, reason: string) => HttpResponse
}

export interface HttpListener {
  /** The port listened on. */
  readonly port: number
  /** The certificate that new connections are shown; undefined without TLS. */
  readonly certificate: X509Certificate | undefined
  /** Requests whose handler is at work or whose response is under way. */
  activeRequests(): number
  /**
   * Reads the TLS files again. New connections get the certificate in them; those that are open go on with the one
   * that they began with.
   * @returns false when nothing changed: the files hold what is served already, there are none, or the listener closes
   * @throws TlsFilesError when the files cannot be used; everything stays as it was
   */
  reloadTls(): boolean
  /**
   * Accepts no more connections; resolves when requests under way are done or after `graceMilliseconds`, having closed
   * every connection. Later calls return the promise of the first.
   */
  close(graceMilliseconds: number): Promise<void>
}

/** One turn of the event loop; what runs then is not inside a callback of a driver. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** Undefined where there are none, so that nobody looks at headers. */
export function proxiesOf({ trustedProxies = [] }: ListenOptions): TrustedProxies | undefined {
  return trustedProxies.length === 0 ? undefined : new TrustedProxies(trustedProxies)
}

function plainRefusal(status: number, reason: string): HttpResponse {
  return { status, headers: [['Content-Type', 'text/plain; charset=utf-8']], body: `${reason}\n` }
}

export abstract class Listener implements HttpListener, ExchangeHost {
  closing = false
  readonly guard: StallGuard
  readonly lingerMilliseconds: number
  readonly secure: boolean
  readonly proxies: TrustedProxies | undefined

  protected readonly options: ListenOptions
  readonly #onHandlerError: (error: unknown) => void
  readonly #refusal: (status: number, reason: string) => HttpResponse
  #active = 0
  #idle: (() => void) | undefined
  #closed: Promise<void> | undefined

  constructor(options: ListenOptions) {
    this.options = options
    this.#onHandlerError = options.onHandlerError ?? (() => {})
    this.#refusal = options.refusal ?? plainRefusal
    this.secure = options.tls !== undefined
    this.proxies = proxiesOf(options)
    this.lingerMilliseconds = options.lingerMilliseconds ?? 30_000
    const { stallTimeoutMilliseconds = 60_000, minimumBytes = 0, isCrowded = () => false } = options
    const isShort = () => isCrowded() || this.isCrowded
    this.guard = new StallGuard({ stallTimeoutMilliseconds, minimumBytes, isCrowded: isShort })
  }

  abstract readonly port: number
  abstract readonly certificate: X509Certificate | undefined
  abstract reloadTls(): boolean
  abstract givesWay(address: string): boolean

  activeRequests(): number {
    return this.#active
  }

  close(graceMilliseconds: number): Promise<void> {
    this.#closed ??= this.#close(graceMilliseconds)
    return this.#closed
  }

  /** Frees what a listener holds that never served. */
  discard(): Promise<void> {
    this.guard.stop()
    this.stopListening()
    return this.closeConnections()
  }

  report(error: unknown): void {
    try {
      this.#onHandlerError(error)
    } catch {
      // An error of the error handler has no handler: the exchange that failed goes on to its answer.
    }
  }

  failure(): HttpResponse {
    const reason = 'Internal Server Error'
    try {
      const answer = this.#refusal(500, reason)
      if (responseFault(answer) === undefined) return answer
    } catch (error) {
      this.report(error)
    }
    return plainRefusal(500, reason)
  }

  exchangeOver(): void {
    this.#active -= 1
    if (this.#active === 0) this.#idle?.()
  }

  /** Whether there are about as many connections as there may be. */
  protected abstract get isCrowded(): boolean

  /** Accepts no more connections. */
  protected abstract stopListening(): void

  /** Closes every connection; resolves when the last one is gone. */
  protected abstract closeConnections(): Promise<void>

  /** Has a request answered by the handler, or refused if it is malformed. Called by the driver as soon as it has the head. */
  protected serve(exchange: ServedExchange): void {
    this.#active += 1
    let answer: HttpResponse | Promise<HttpResponse>
    try {
      const { fault } = exchange
      answer = fault === undefined ? this.options.handler(exchange) : this.#refusal(fault.status, fault.reason)
    } catch (error) {
      exchange.fail(error)
      return
    }
    if (!(answer instanceof Promise)) {
      exchange.respond(answer, true)
      return
    }
    exchange.keepWatched()
    answer.then(
      (response) => exchange.respond(response, false),
      (error: unknown) => exchange.fail(error),
    )
  }

  /** The answer to what is no request at all. */
  protected refusalOf(status: number, reason: string): HttpResponse {
    return this.#refusal(status, reason)
  }

  async #close(graceMilliseconds: number): Promise<void> {
    this.closing = true
    this.stopListening()
    // A connection accepted just now may become known only in the next turn.
    await nextTurn()
    if (this.#active > 0) await this.#idleWithin(graceMilliseconds)
    if (this.#active > 0) await this.#giveUpBodies()
    this.guard.stop()
    await nextTurn()
    await this.closeConnections()
  }

  /** Answers those who have not sent all of their bodies, and leaves them a moment to read that. */
  async #giveUpBodies(): Promise<void> {
    this.guard.giveUpBodies()
    await pause(GIVE_UP_MILLISECONDS)
  }

  #idleWithin(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      this.#idle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
