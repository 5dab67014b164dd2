/**
 * The HTTP interface of planes: one request in, one response out, independent of the server library.
 *
 * A handler is called when the head has arrived; the body may still be on its way. It returns, or resolves to, a
 * response. An exception of a handler is answered with a plain 500; planes turn their own errors into responses first.
 */

/** One header line as received: lower-case name, value without surrounding blanks. */
export type HeaderLine = readonly [name: string, value: string]

/** A request whose head has arrived. All members are copies and stay valid for the life of the request. */
export interface HttpRequest {
  /** Method in the case it was sent in. */
  readonly method: string
  /** The raw path of the request target: percent-escapes untouched, no query. Starts with `/`, always ASCII. */
  readonly path: string
  /** Raw query without the `?`; empty without a query. */
  readonly query: string
  /** Every header line in the order received. */
  readonly headers: readonly HeaderLine[]
  /** Value of a header by lower-case name, repeats joined by `,` (RFC 9110 section 5.3), or undefined. */
  header(name: string): string | undefined
  /**
   * Address of the sender as text (IPv4-mapped addresses as plain IPv4): the socket peer, or the client of a trusted
   * proxy.
   */
  readonly remoteAddress: string
  /** Whether this listener received it over TLS. A proxy in front may use TLS with the client in any case. */
  readonly secure: boolean
  /** The declared length in bytes, undefined without Content-Length. */
  readonly contentLength: number | undefined
  readonly body: RequestBody
  /** Calls back once if the client disconnects before the response is complete. */
  onAborted(listener: () => void): void
  /**
   * Closes the connection, unless the response was sent. Not to be called inside the callback that brought a request.
   */
  cut(): void
}

/** The body of a request. One of `takeArrived`, `readAll` and `pipe` takes it, once; an untouched body is discarded. */
export interface RequestBody {
  /** Bytes that have arrived so far, read or not, without the framing of chunks. */
  readonly receivedBytes: number
  /**
   * Resolves when the last byte has arrived, or never will; undefined if that is so already. Up to 256 KiB that arrive
   * meanwhile are queued; then the socket is paused until the body is read.
   */
  arrival(): Promise<void> | undefined
  /**
   * The whole body in memory of its own, if it has arrived completely and was not taken; otherwise undefined, and it
   * can still be taken in another way. Saves the promises of `readAll`.
   */
  takeArrived(): Buffer | undefined
  /**
   * The whole body, in memory of its own.
   * @throws BodyTooLargeError when more than `bytesMaximum` bytes arrive
   * @throws ClientGoneError when the client left before the end
   */
  readAll(bytesMaximum: number): Promise<Buffer>
  /**
   * Hands every chunk to `sink` in order. The chunk is valid only until `sink` returns. When `sink` returns a promise
   * the socket is paused until it settles, so a slow disk slows the sender and never fills memory. A paused socket
   * does not show that the client has gone until it runs again. The promise returned here settles only
   * when no call of `sink` is at work.
   *
   * A driver may still hand over bytes that it has read already. When 16 MiB are queued, they and later chunks go to
   * `takeNow`, even while a promise of `sink` is pending; it must be done with the chunk when it returns. Without
   * `takeNow` the connection is cut when 128 MiB are queued.
   * @throws ClientGoneError when the client left before the end; errors of `sink` and `takeNow` are passed on
   */
  pipe(sink: (chunk: Buffer) => void | Promise<void>, takeNow?: (chunk: Buffer) => void): Promise<void>
}

/** A body that is produced piece by piece, at the reader's pace. */
export interface BodySource {
  /**
   * Total length in bytes, exactly what `next` must produce. Undefined if unknown: the body is then sent in chunks, and
   * the last chunk marks its end.
   */
  readonly length: number | undefined
  /**
   * Whether it waits for what is still to happen, for as long as its reader likes. It holds no place among the operations
   * then, but one in a share of its own.
   */
  readonly isLasting?: boolean
  /**
   * The next piece, or undefined after the last. The caller has finished with the previous piece, so its memory may be
   * reused. A rejection cuts the connection, so the client sees a short body; it is reported as a fault unless it is a
   * BodyRemovedError or a CutOffError. A source that returns promises must yield to the event loop itself.
   */
  next(): Promise<Buffer | undefined> | Buffer | undefined
  /**
   * Called exactly once: after the last piece, after a failure, or when the client has gone; never while a promise of
   * `next` is pending.
   */
  close(): void
}

/** Whether a body is streamed, and so must be closed. */
export function isSource(body: HttpResponse['body']): body is BodySource {
  return typeof body === 'object' && !Buffer.isBuffer(body)
}

/** A response. Content-Length is derived from the body and must not be in `headers`; Date is added by the server. */
export interface HttpResponse {
  readonly status: number
  readonly headers: readonly HeaderLine[]
  readonly body?: Buffer | string | BodySource
  /** For answers to HEAD: the length to announce without sending a body. */
  readonly contentLength?: number
  /** Close the connection after this response. */
  readonly close?: boolean
}

export type HttpHandler = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>

/** The server is stopping and no longer waits for the rest of the body. */
export class ServerStoppingError extends Error {
  override readonly name = 'ServerStoppingError'
}

/** The client ended the connection before the exchange was complete. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError'
}

/** The stored bytes were removed while they were sent: the body ends early, without a server fault. */
export class BodyRemovedError extends Error {
  override readonly name = 'BodyRemovedError'
}

/** A body ends early after a failure that its plane has already logged. */
export class CutOffError extends Error {
  override readonly name = 'CutOffError'
}

/** The body was longer than the reader allows. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'
}
