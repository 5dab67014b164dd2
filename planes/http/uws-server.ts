/**
 * The HTTP server of every plane, over uWebSockets.js (`uws-apps.ts` holds the library's apps).
 *
 * What a caller must keep to:
 * - `HEADER_BYTES_VARIABLE` is set before this module is loaded (see `header-limits.ts`).
 * - A worker thread calls `close()` and waits for it before it ends in any way: throwing, `process.exit`,
 *   `worker.terminate()`. A thread that ends with a listener open takes the whole process with it (SIGABRT). So a
 *   worker turns `uncaughtException` into a close, and the main thread asks workers to close before it ends.
 * - Several threads may listen on one port; the kernel spreads connections over them (SO_REUSEPORT). For the same
 *   reason a second process of the same user can take a share of the port unseen: a listener that is alone on its
 *   port says `exclusive`. A port that was got by asking for 0 is never shared.
 *
 * What the library does by itself and cannot be configured: HTTP/1.1 only (1.0, absolute-form and `OPTIONS *` are
 * answered 505), `Expect: 100-continue` answered at once, idle connections closed after about 12 s, heads without Host
 * or with control characters held until then, more than 98 header lines or a head above the bound answered 431,
 * bytes above 0x7f cut off either end of a header value. A header line without a name (`: a`) ends the list of headers:
 * nobody sees what follows it, a Content-Length included, so a proxy in front must not let such a line through.
 */
import type { X509Certificate } from 'node:crypto'
import { createServer } from 'node:net'
import type * as uWS from 'uWebSockets.js'
import type { HttpHandler, HttpResponse } from './exchange.ts'
import { StallGuard } from './stall-guard.ts'
import type { TlsFiles } from './tls-files.ts'
import { nextTurn, UwsApps } from './uws-apps.ts'
import { Exchange, type ExchangeHost } from './uws-exchange.ts'

export interface ListenOptions {
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
  /** The answer to a request that is malformed and reaches no handler. Default: `reason` as plain text. */
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

/**
 * Starts a listener in this thread.
 * @throws TlsFilesError when the TLS files cannot be used
 * @throws Error naming host and port when they cannot be listened on
 */
export async function listen(options: ListenOptions): Promise<HttpListener> {
  const listener = new UwsListener(options)
  try {
    if (await listener.open()) return listener
  } catch (error) {
    await listener.discard()
    throw error
  }
  await listener.discard()
  throw new Error(`Cannot listen on ${options.host}:${options.port}: ${await listenFailure(options)}`)
}

/** The library says only that it failed; asking the kernel once more shows why. */
function listenFailure({ host, port }: ListenOptions): Promise<string> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code === 'EADDRINUSE' ? 'the port is in use' : error.message)
    })
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve('the address cannot be bound')))
  })
}

function plainRefusal(status: number, reason: string): HttpResponse {
  return { status, headers: [['Content-Type', 'text/plain; charset=utf-8']], body: `${reason}\n` }
}

class UwsListener implements HttpListener, ExchangeHost {
  closing = false
  readonly guard: StallGuard
  readonly lingerMilliseconds: number
  readonly secure: boolean

  readonly #options: ListenOptions
  readonly #apps: UwsApps
  readonly #onHandlerError: (error: unknown) => void
  readonly #refusal: (status: number, reason: string) => HttpResponse
  #port = 0
  #active = 0
  #idle: (() => void) | undefined
  #closed: Promise<void> | undefined

  constructor(options: ListenOptions) {
    this.#options = options
    const { tls, connectionsMaximum = Number.POSITIVE_INFINITY } = options
    this.#apps = new UwsApps(tls, (res, request) => this.#accept(res, request), connectionsMaximum)
    this.#onHandlerError = options.onHandlerError ?? (() => {})
    this.#refusal = options.refusal ?? plainRefusal
    this.secure = options.tls !== undefined
    this.lingerMilliseconds = options.lingerMilliseconds ?? 30_000
    const { stallTimeoutMilliseconds = 60_000, minimumBytes = 0, isCrowded = () => false } = options
    const isShort = () => isCrowded() || this.#apps.isCrowded
    this.guard = new StallGuard({ stallTimeoutMilliseconds, minimumBytes, isCrowded: isShort })
  }

  /** False when the address cannot be listened on. */
  async open(): Promise<boolean> {
    const { host, port, exclusive } = this.#options
    const opened = await this.#apps.listen(host, port, exclusive ?? false)
    if (opened !== undefined) this.#port = opened
    return opened !== undefined
  }

  /** Frees what a listener holds that never served. */
  discard(): Promise<void> {
    this.guard.stop()
    this.#apps.stopListening()
    return this.#apps.close()
  }

  get port(): number {
    return this.#port
  }

  get certificate(): X509Certificate | undefined {
    return this.#apps.certificate
  }

  reloadTls(): boolean {
    return !this.closing && this.#apps.reload()
  }

  activeRequests(): number {
    return this.#active
  }

  close(graceMilliseconds: number): Promise<void> {
    this.#closed ??= this.#close(graceMilliseconds)
    return this.#closed
  }

  givesWay(address: string): boolean {
    return this.#apps.givesWay(address)
  }

  report(error: unknown): void {
    try {
      this.#onHandlerError(error)
    } catch {
      // An error of the error handler has no handler: the exchange that failed goes on to its answer.
    }
  }

  exchangeOver(): void {
    this.#active -= 1
    if (this.#active === 0) this.#idle?.()
  }

  #accept(res: uWS.HttpResponse, request: uWS.HttpRequest): void {
    this.#active += 1
    const exchange = new Exchange(res, request, this)
    if (exchange.hidesItsConnection) this.#apps.fresh.forget(exchange.remoteAddress)
    let answer: HttpResponse | Promise<HttpResponse>
    try {
      const { fault } = exchange
      answer = fault === undefined ? this.#options.handler(exchange) : this.#refusal(fault.status, fault.reason)
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

  async #close(graceMilliseconds: number): Promise<void> {
    this.closing = true
    this.#apps.stopListening()
    // A connection accepted just now may reach its app only in the next turn.
    await nextTurn()
    if (this.#active > 0) await this.#idleWithin(graceMilliseconds)
    this.guard.stop()
    await nextTurn()
    await this.#apps.close()
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
