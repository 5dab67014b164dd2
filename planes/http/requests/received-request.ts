import type { HttpRequest, RequestBody } from '../exchange.ts'
import type { TrustedProxies } from '../limits/trusted-proxies.ts'
import { EMPTY_BODY } from './request-body.ts'
import { type HeadSource, RequestHead } from './request-head.ts'

/** The handler's view of a request: its head, and the notification when the client disconnects. */
export abstract class ReceivedRequest extends RequestHead implements HttpRequest {
  readonly remoteAddress: string
  /** The other end of the connection. */
  readonly peerAddress: string
  readonly secure: boolean
  body: RequestBody = EMPTY_BODY
  #abortListeners: (() => void)[] | undefined
  #aborted = false

  constructor(head: HeadSource, peerAddress: string, secure: boolean, proxies: TrustedProxies | undefined) {
    super(head)
    this.peerAddress = peerAddress
    this.remoteAddress =
      proxies === undefined ? peerAddress : proxies.clientOf(peerAddress, (name) => this.header(name))
    this.secure = secure
  }

  abstract cut(): void

  /** Called with exceptions that have no caller to reach. */
  abstract report(error: unknown): void

  onAborted(listener: () => void): void {
    if (this.#aborted) this.#notify(listener)
    else if (this.#abortListeners === undefined) this.#abortListeners = [listener]
    else this.#abortListeners.push(listener)
  }

  protected get expectsBody(): boolean {
    return this.chunked || (this.contentLength !== undefined && this.contentLength > 0)
  }

  protected notifyAborted(): void {
    this.#aborted = true
    for (const listener of this.#abortListeners ?? []) this.#notify(listener)
  }

  #notify(listener: () => void): void {
    try {
      listener()
    } catch (error) {
      this.report(error)
    }
  }
}
