/** The handler's view of a request: copies of everything in the head, and news of the client's leaving. */
import type { HeaderLine, HttpRequest, RequestBody } from './exchange.ts'
import { EMPTY_BODY } from './request-body.ts'
import type { HeadFault, RequestHead } from './request-head.ts'

export abstract class UwsRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: readonly HeaderLine[]
  readonly remoteAddress: string
  readonly secure: boolean
  readonly contentLength: number | undefined
  body: RequestBody = EMPTY_BODY
  /** Set when the request must not reach a handler. */
  readonly fault: HeadFault | undefined
  protected readonly chunked: boolean
  protected readonly closeRequested: boolean
  #abortListeners: (() => void)[] | undefined
  #aborted = false

  constructor(head: RequestHead, remoteAddress: string, secure: boolean) {
    this.method = head.method
    this.path = head.path
    this.query = head.query
    this.headers = head.headers
    this.contentLength = head.contentLength
    this.fault = head.fault
    this.chunked = head.chunked
    this.closeRequested = head.closeRequested
    this.remoteAddress = remoteAddress
    this.secure = secure
  }

  /** Hears of exceptions that nobody waits for. */
  abstract report(error: unknown): void

  header(name: string): string | undefined {
    let found: string | undefined
    for (const line of this.headers) {
      if (line[0] === name) found = found === undefined ? line[1] : `${found},${line[1]}`
    }
    return found
  }

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
