/**
 * What a plane sees of HTTP: one request in, one response out. Nothing here knows which server library is used.
 *
 * A handler is called with the request line and headers; the body may still be on its way. It returns (or resolves
 * to) a response. Errors thrown by a handler become a bare 500 by the server; planes turn their own errors into
 * responses before that.
 */

/** One header line as received: lower-case name, value without surrounding blanks. */
export type HeaderLine = readonly [name: string, value: string]

/** A request whose head has arrived. All members are copies and stay valid for the life of the request. */
export interface HttpRequest {
  /** Method in the case it was sent in. */
  readonly method: string
  /** The path of the request target, raw: percent-escapes untouched, no query. Always begins with `/`, always ASCII. */
  readonly path: string
  /** Raw query without the `?`; empty when there is none. */
  readonly query: string
  /** Every header line in the order received. */
  readonly headers: readonly HeaderLine[]
  /** Value of a header by lower-case name, repeats joined by `,` (RFC 9110 section 5.3), or undefined. */
  header(name: string): string | undefined
  /**
   * Where it comes from, in text form (IPv4-mapped addresses as plain IPv4): the socket peer, or the client of a trusted
   * proxy.
   */
  readonly remoteAddress: string
  /** Whether it came by TLS to this listener; a proxy in front may have spoken TLS to the client all the same. */
  readonly secure: boolean
  /** The declared length in bytes, undefined without Content-Length. */
  readonly contentLength: number | undefined
  readonly body: RequestBody
  /** Calls back once when the client has gone before the response was complete. */
  onAborted(listener: () => void): void
  /** Closes the connection, unless the response is out. Not to be called inside the callback that brought a request. */
  cut(): void
}

/** The body of a request. One of `takeArrived`, `readAll` and `pipe` takes it, once; an untouched body is discarded. */
export interface RequestBody {
  /** Bytes that have arrived so far, whether or not anybody has read them. Chunked ones are counted without their framing. */
  readonly receivedBytes: number
  /**
   * Resolves when the last byte has arrived, or never will. Undefined when that is so already. Bytes that arrive
   * meanwhile are kept, 256 KiB of them; more would wait for a reader.
   */
  arrival(): Promise<void> | undefined
  /**
   * The whole body, in memory of its own, when its last byte has arrived and nobody has taken it; otherwise undefined, and
   * it can still be taken in another way. Saves the promises of `readAll`.
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
   * A driver may still hand over what it has read already. When 16 MiB wait, they and what comes next go to `takeNow`, also while a promise of `sink` is pending; it must be
   * done with the chunk when it returns. Without `takeNow` the connection is cut when 128 MiB wait.
   * @throws ClientGoneError when the client left before the end; errors of `sink` and `takeNow` are passed on
   */
  pipe(sink: (chunk: Buffer) => void | Promise<void>, takeNow?: (chunk: Buffer) => void): Promise<void>
}

/** A body that is produced piece by piece, at the reader's pace. */
export interface BodySource {
  /**
   * Total length in bytes; exactly so many must be produced. Undefined when it is not known: the body then goes out in
   * chunks, and a client knows by the last one that it has all.
   */
  readonly length: number | undefined
  /**
   * The next piece, or undefined after the last. The piece before is not read any more, so its memory may be used
   * again. A rejection cuts the connection, so the client sees a short body; it is reported as a fault unless it is a
   * BodyRemovedError or a CutOffError. A source that works in promises lets the event loop go round in between: nothing here does.
   */
  next(): Promise<Buffer | undefined> | Buffer | undefined
  /**
   * Called exactly once: after the last piece, after a failure, or when the client has gone; never while a promise of
   * `next` is pending.
   */
  close(): void
}

/** Whether a body comes piece by piece, and so has to be closed. */
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

/** The server stops, and its time for requests under way is over: the rest of the body is not waited for. */
export class ServerStoppingError extends Error {
  override readonly name = 'ServerStoppingError'
}

/** The client ended the connection before the exchange was complete. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError'
}

/** What a body is read from was removed while it was sent: it ends early, and nothing is wrong with the server. */
export class BodyRemovedError extends Error {
  override readonly name = 'BodyRemovedError'
}

/** A body ends early by a failure that its plane has logged already. */
export class CutOffError extends Error {
  override readonly name = 'CutOffError'
}

/** The body was longer than the reader allows. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'
}
