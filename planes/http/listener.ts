/** A listener of either driver: its options, its interface, and the common implementation. */
import type { X509Certificate } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { HttpHandler, HttpResponse } from './exchange.ts'
import type { HttpDriver } from './http-driver.ts'
import { responseFault } from './responses/whole-response.ts'
import type { ExchangeHost, ServedExchange } from './served-exchange.ts'
import type { ConnectionBounds, ConnectionRefusal } from './limits/connection-rules.ts'
import { TrustedProxies } from './limits/trusted-proxies.ts'
import { StallGuard } from './limits/stall-guard.ts'
import type { TlsFiles } from './tls-files.ts'

/** Time for clients to read the answers to requests that are given up when a listener closes. */
const GIVE_UP_MILLISECONDS = 250

export interface ListenOptions {
  /** HTTP driver; see `http-driver.ts`. */
  readonly driver: HttpDriver
  /** Address to listen on. */
  readonly host: string
  /** Port to listen on, 0 for any free one (which no other thread can share). */
  readonly port: number
  readonly handler: HttpHandler
  /** Silence of a client during an upload or download after which its connection is cut. Default 60,000. */
  readonly stallTimeoutMilliseconds?: number
  /** Bytes that a client must move in that time while `isCrowded`, or be cut off. Default 0: any progress is enough. */
  readonly minimumBytes?: number
  /** Whether places for operations are short. The listener itself knows whether connections are. */
  readonly isCrowded?: () => boolean
  /**
   * How long a client may keep sending a body that was answered without being read, before the connection is closed.
   * Default 30,000.
   */
  readonly lingerMilliseconds?: number
  /** Addresses and networks of proxies that are trusted to name the client. Default: none. */
  readonly trustedProxies?: readonly string[]
  /** With these files the listener speaks TLS, 1.2 or 1.3. */
  readonly tls?: TlsFiles | undefined
  /** Fail if another process listens on the port, and do not share it. Default false. */
  readonly exclusive?: boolean
  /**
   * Beyond this number the oldest connection without a head is closed, else the new one. From three quarters of it on,
   * an address with more than half of all connections gets no further ones. Default: unlimited.
   */
  readonly connectionsMaximum?: number
  /** Called for each connection that is closed because of that maximum. */
  readonly onConnectionRefused?: ((reason: ConnectionRefusal) => void) | undefined
  /** Called with exceptions from handlers, body sources and abort listeners, and of responses that cannot be sent. */
  readonly onHandlerError?: (error: unknown) => void
  /**
   * The answer without a handler: to a malformed request, or when the handler failed (500). It has a request id and the
   * plane's form of errors. Default: `reason` as plain text.
   */
  readonly refusal?: (status: number, reason: string) => HttpResponse
}

export interface HttpListener {
  /** The port listened on. */
  readonly port: number
  /** The certificate of new connections; undefined without TLS. */
  readonly certificate: X509Certificate | undefined
  /** Number of requests whose handler is running or whose response is being sent. */
  activeRequests(): number
  /**
   * Reads the TLS files again. New connections get the new certificate; open connections keep theirs.
   * @returns false when nothing changed: the same certificate, no TLS files, or the listener is closing
   * @throws TlsFilesError when the files cannot be used; the current certificate stays in use
   */
  reloadTls(): boolean
  /**
   * Accepts no more connections, waits for requests under way for at most `graceMilliseconds`, closes every connection,
   * then resolves. Later calls return the promise of the first.
   */
  close(graceMilliseconds: number): Promise<void>
}

/** Resolves in the next turn of the event loop, outside any callback of a driver. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** The bounds of a listener's connections. */
export function boundsOf(options: ListenOptions): ConnectionBounds {
  const { connectionsMaximum = Number.POSITIVE_INFINITY, onConnectionRefused = () => {} } = options
  return { maximum: connectionsMaximum, proxies: proxiesOf(options), refused: onConnectionRefused }
}

/** Undefined without trusted proxies, so that no headers are read. */
function proxiesOf({ trustedProxies = [] }: ListenOptions): TrustedProxies | undefined {
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

  /** Frees the resources of a listener that never served. */
  discard(): Promise<void> {
    this.guard.stop()
    this.stopListening()
    return this.closeConnections()
  }

  report(error: unknown): void {
    try {
      this.#onHandlerError(error)
    } catch {
      // An error of the error handler has no handler; the failed exchange must still be answered.
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

  /** Whether the number of connections is close to its maximum. */
  protected abstract get isCrowded(): boolean

  /** Accepts no more connections. */
  protected abstract stopListening(): void

  /** Closes every connection; resolves when the last one is gone. */
  protected abstract closeConnections(): Promise<void>

  /** Passes a request to the handler, or refuses a malformed one. Called by the driver as soon as it has the head. */
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

  /** The answer to an invalid request. */
  protected refusalOf(status: number, reason: string): HttpResponse {
    return this.#refusal(status, reason)
  }

  async #close(graceMilliseconds: number): Promise<void> {
    this.closing = true
    this.stopListening()
    // A connection that was just accepted may be reported only in the next turn.
    await nextTurn()
    if (this.#active > 0) await this.#idleWithin(graceMilliseconds)
    if (this.#active > 0) await this.#giveUpBodies()
    this.guard.stop()
    await nextTurn()
    await this.closeConnections()
  }

  /** Answers requests with incomplete bodies, and gives their clients a moment to read the answer. */
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
