/**
 * Reads and validates the head of a request from a driver's parser.
 *
 * The parser of uWebSockets.js is lenient where two readers could disagree about a message: it accepts two
 * Content-Length lines and uses the first, treats any Transfer-Encoding as chunked, and accepts an empty method and raw
 * bytes above 0x7e in the target. Such a head gets a fault here and reaches no handler (RFC 9112 sections 3.2 and 6.3).
 */
import type { HeaderLine } from '../exchange.ts'
import { HEADER_BYTES_MAXIMUM } from '../limits/header-limits.ts'

/** A parsed head, as uWebSockets.js gives it; valid only during the callback that brings it. */
export interface HeadSource {
  getCaseSensitiveMethod(): string
  /** The target up to its query, raw. */
  getUrl(): string
  getQuery(): string | undefined
  /** Every header line in the order received: lower-case name, value without surrounding blanks. */
  forEach(each: (name: string, value: string) => void): void
  /** Fault that the parser of the driver let through. */
  readonly fault?: HeadFault | undefined
}

/** Why a request cannot be handed to a handler. */
export interface HeadFault {
  readonly status: number
  readonly reason: string
}

/** Answered also to heads that are too long to be parsed. */
export const TOO_LARGE: HeadFault = { status: 431, reason: 'The request head is too large.' }

const METHOD = /^[A-Za-z][A-Za-z-]{0,31}$/
const OUTSIDE_VISIBLE_ASCII = /[^\x21-\x7e]/
/** At most 15 digits: always exact as a number. */
const CONTENT_LENGTH = /^\d{1,15}$/
/**
 * Bytes of a head outside its parts: two blanks, HTTP/1.1, two line ends; and per line a colon, a blank, a line end.
 */
const REQUEST_LINE_BYTES = 14
const HEADER_LINE_BYTES = 4

/** Gathers header lines. One per thread, because the library calls back synchronously and closures are expensive. */
class HeaderCollector {
  lines: HeaderLine[] = []
  contentLength: string | undefined
  transferEncoding: string | undefined
  connection: string | undefined
  host: string | undefined
  authorization: string | undefined
  repeated: string | undefined
  /** Of all lines, at least. */
  bytes = 0

  readonly collect = (name: string, value: string): void => {
    this.lines.push([name, value])
    this.bytes += name.length + value.length + HEADER_LINE_BYTES
    switch (name) {
      case 'content-length':
        if (this.contentLength !== undefined) this.repeated = 'Content-Length'
        this.contentLength = value
        break
      case 'host':
        if (this.host !== undefined) this.repeated = 'Host'
        this.host = value
        break
      case 'authorization':
        if (this.authorization !== undefined) this.repeated = 'Authorization'
        this.authorization = value
        break
      case 'transfer-encoding':
        if (this.transferEncoding !== undefined) this.repeated = 'Transfer-Encoding'
        this.transferEncoding = value
        break
      case 'connection':
        this.connection ??= value
        break
    }
  }

  reset(): void {
    this.lines = []
    this.contentLength = undefined
    this.transferEncoding = undefined
    this.connection = undefined
    this.host = undefined
    this.authorization = undefined
    this.repeated = undefined
    this.bytes = 0
  }
}

const collector = new HeaderCollector()

/** The head of a request, copied from the parser. */
export class RequestHead {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: readonly HeaderLine[]
  readonly contentLength: number | undefined
  /** The body is framed by chunks; its length is known only at its end. */
  readonly chunked: boolean
  /** Whether the client asked to close the connection, by the test of uWebSockets.js, which checks only the length. */
  readonly closeRequested: boolean
  /** Set when the request must not reach a handler. */
  readonly fault: HeadFault | undefined

  constructor(request: HeadSource) {
    // The plain getMethod of uWebSockets.js lower-cases its buffer in place, so it is never called.
    this.method = request.getCaseSensitiveMethod()
    this.path = request.getUrl()
    this.query = request.getQuery() ?? ''
    collector.reset()
    request.forEach(collector.collect)
    const { lines, contentLength, transferEncoding, connection } = collector
    this.headers = lines
    this.contentLength = contentLength === undefined ? undefined : Number(contentLength)
    this.chunked = transferEncoding !== undefined
    this.closeRequested = connection?.length === 5
    this.fault = request.fault ?? faultOf(this.method, this.path, this.query, collector)
  }

  header(name: string): string | undefined {
    let found: string | undefined
    for (const line of this.headers) {
      if (line[0] === name) found = found === undefined ? line[1] : `${found},${line[1]}`
    }
    return found
  }
}

function faultOf(method: string, path: string, query: string, found: HeaderCollector): HeadFault | undefined {
  const targetBytes = method.length + path.length + query.length
  if (targetBytes + found.bytes + REQUEST_LINE_BYTES > HEADER_BYTES_MAXIMUM) return TOO_LARGE
  if (!METHOD.test(method)) return { status: 400, reason: 'The method is malformed.' }
  if (!path.startsWith('/') || OUTSIDE_VISIBLE_ASCII.test(path) || OUTSIDE_VISIBLE_ASCII.test(query)) {
    return { status: 400, reason: 'The request target must be percent-encoded ASCII and begin with a slash.' }
  }
  if (found.repeated !== undefined) return { status: 400, reason: `The ${found.repeated} header is repeated.` }
  const { contentLength, transferEncoding } = found
  if (contentLength !== undefined && !CONTENT_LENGTH.test(contentLength)) {
    return { status: 400, reason: 'The Content-Length header is malformed.' }
  }
  if (transferEncoding === undefined) return undefined
  if (contentLength !== undefined) {
    return { status: 400, reason: 'Content-Length and Transfer-Encoding exclude each other.' }
  }
  if (transferEncoding.toLowerCase() === 'chunked') return undefined
  return { status: 501, reason: 'The only transfer coding supported is chunked.' }
}
