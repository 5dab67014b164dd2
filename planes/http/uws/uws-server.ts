/**
 * The listener over uWebSockets.js (`uws-apps.ts` holds the library's apps).
 *
 * Rules for callers:
 * - `HEADER_BYTES_VARIABLE` is set before this module is loaded (see `header-limits.ts`).
 * - A worker thread calls `close()` and waits for it before it ends in any way: throwing, `process.exit`,
 *   `worker.terminate()`. A thread that ends with a listener open takes the whole process with it (SIGABRT). So a
 *   worker turns `uncaughtException` into a close, and the main thread asks workers to close before it ends.
 * - Several threads may listen on one port; the kernel spreads connections over them (SO_REUSEPORT). For the same
 *   reason a second process of the same user can take a share of the port unseen: a listener that is alone on its
 *   port says `exclusive`. A port that was got by asking for 0 is never shared.
 *
 * What the library does by itself and cannot be configured: HTTP/1.1 only (1.0, absolute-form and `OPTIONS *` are
 * answered 505), `Expect: 100-continue` answered at once, idle connections closed after about 12 s, heads without a
 * header line or with control characters held until then, heads without Host answered 400, more than 98 header lines or
 * a head above `HEADER_BYTES_READ_MAXIMUM` answered 431; none of these answers has a request id. Bytes above 0x7f are
 * cut off either end of a header value. A header line without a name (`: a`) ends the list of headers: lines after it,
 * even Content-Length, are ignored, so a proxy in front must not let such a line through.
 */
import type { X509Certificate } from 'node:crypto'
import type * as uWS from 'uWebSockets.js'
import { boundsOf, Listener, type ListenOptions } from '../listener.ts'
import { UwsApps } from './uws-apps.ts'
import { UwsExchange } from './uws-exchange.ts'

export class UwsListener extends Listener {
  readonly #apps: UwsApps
  #port = 0

  constructor(options: ListenOptions) {
    // First, because it fails when the files cannot be used.
    const apps = new UwsApps(options.tls, (res, request) => this.#accept(res, request), boundsOf(options))
    super(options)
    this.#apps = apps
  }

  /** False when the address cannot be listened on. */
  async open(): Promise<boolean> {
    const { host, port, exclusive } = this.options
    const opened = await this.#apps.listen(host, port, exclusive ?? false)
    if (opened !== undefined) this.#port = opened
    return opened !== undefined
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

  givesWay(address: string): boolean {
    return this.#apps.givesWay(address)
  }

  protected get isCrowded(): boolean {
    return this.#apps.isCrowded
  }

  protected stopListening(): void {
    this.#apps.stopListening()
  }

  protected closeConnections(): Promise<void> {
    return this.#apps.close()
  }

  #accept(res: uWS.HttpResponse, request: uWS.HttpRequest): void {
    const exchange = new UwsExchange(res, request, this)
    if (exchange.hidesItsConnection) this.#apps.fresh.forget(exchange.peerAddress)
    this.serve(exchange)
  }
}
