/**
 * Writes responses through the library, each function within a cork.
 *
 * The library checks nothing that it is given: a CR LF in a header value would split the response, a Content-Length
 * or Date of our own would be sent twice, a status written late is ignored. `responseFault` refuses such a response
 * as a whole before the first byte is written.
 */
import { STATUS_CODES } from 'node:http'
import type * as uWS from 'uWebSockets.js'
import type { HttpResponse } from './exchange.ts'

/** A body that is in memory whole. */
export type WholeBody = Buffer | string

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** What nearly every value is made of; a quick look before the thorough one. */
const PLAIN_VALUE = /^[\t\x20-\x7e]*$/
/**
 * Control characters below 0x80 but tab (RFC 9110 section 5.5; those above are two harmless bytes in UTF-8), and
 * halves of surrogate pairs, which have no UTF-8 form.
 */
const FORBIDDEN_IN_VALUE = /[^\t\u0080-\u009f\P{Cc}]|\p{Surrogate}/u
/** Written by this layer or by the library, from the body and the state of the connection. */
const RESERVED_NAME = /^(?:connection|content-length|date|transfer-encoding)$/i

const statusLines = new Map<number, string>()

/** Names that were found to be in order: all answers have the same few, beside those of user metadata. */
const knownNames = new Set<string>()
const KNOWN_NAMES_MAXIMUM = 256
const KNOWN_NAME_LENGTH_MAXIMUM = 64

/** What makes `response` impossible to send, or undefined. */
export function responseFault(response: HttpResponse): string | undefined {
  if (!Number.isInteger(response.status) || response.status < 200 || response.status > 599) {
    return `status ${response.status} is not a final status`
  }
  for (const [name, value] of response.headers) {
    const fault = knownNames.has(name) ? undefined : nameFault(name)
    if (fault !== undefined) return fault
    if (!PLAIN_VALUE.test(value) && FORBIDDEN_IN_VALUE.test(value))
      return `the value of header ${name} has a forbidden character`
  }
  return undefined
}

function nameFault(name: string): string | undefined {
  if (!HEADER_NAME.test(name)) return `header name ${JSON.stringify(name)} is malformed`
  if (RESERVED_NAME.test(name)) return `header ${name} is the server's own`
  if (knownNames.size < KNOWN_NAMES_MAXIMUM && name.length <= KNOWN_NAME_LENGTH_MAXIMUM) knownNames.add(name)
  return undefined
}

/** A status that never has a body nor a Content-Length (RFC 9110 sections 15.3.5 and 15.4.5). */
export function isBodyless(status: number): boolean {
  return status === 204 || status === 304
}

export function writeStatusAndHeaders(res: uWS.HttpResponse, response: HttpResponse): void {
  res.writeStatus(statusLine(response.status))
  for (const [name, value] of response.headers) res.writeHeader(name, value)
}

/**
 * Ends a response that carries no body. `length` is announced when given.
 *
 * Neither is left to the library: announcing through it leaves the connection marked as busy, so that the next
 * request on it is cut off; and closing through it announces a length that makes no sense.
 */
export function endWithoutBody(res: uWS.HttpResponse, length: number | undefined, close: boolean): void {
  if (length !== undefined) res.writeHeader('Content-Length', String(length))
  if (close) res.writeHeader('Connection', 'close')
  res.endWithoutBody()
}

/**
 * Writes a whole response but leaves it open in the eyes of the library, which otherwise would close the socket at
 * once or never. With unread bytes after it, closing at once resets the connection, and a client that is still
 * sending would lose the answer that says why. The caller goes on reading and closes later.
 *
 * The library has no such call. Its last header line is used to carry the rest of the message: it appends CR LF to
 * the value, which is just the end of a chunked body, or of the head where there is no body.
 */
export function writeLingering(res: uWS.HttpResponse, response: HttpResponse, method: string): void {
  writeStatusAndHeaders(res, response)
  res.writeHeader('Date', new Date().toUTCString())
  const body = response.body as WholeBody | undefined
  if (method === 'HEAD' || isBodyless(response.status)) {
    if (method === 'HEAD') res.writeHeader('Content-Length', String(response.contentLength ?? wholeLength(body)))
    res.writeHeader('Connection', 'close\r\n')
    return
  }
  res.writeHeader('Connection', 'close')
  res.writeHeader('Transfer-Encoding', chunkedMessage(body))
}

/** Length in bytes as sent. */
export function wholeLength(body: WholeBody | undefined): number {
  if (body === undefined) return 0
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length
}

function chunkedMessage(body: WholeBody | undefined): Buffer {
  const length = wholeLength(body)
  if (body === undefined || length === 0) return Buffer.from('chunked\r\n\r\n0\r\n')
  const content = typeof body === 'string' ? Buffer.from(body) : body
  return Buffer.concat([Buffer.from(`chunked\r\n\r\n${length.toString(16)}\r\n`), content, Buffer.from('\r\n0\r\n')])
}

function statusLine(status: number): string {
  const known = statusLines.get(status)
  if (known !== undefined) return known
  const line = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`
  statusLines.set(status, line)
  return line
}
