/**
 * Writes responses through the library, each function within a cork.
 *
 * The library does not validate: a CR LF in a header value would split the response, a Content-Length or Date header
 * would be sent twice, a status written late is ignored. `responseFault` of `whole-response.ts` refuses such a response
 * before the first byte is written.
 */
import { STATUS_CODES } from 'node:http'
import type * as uWS from 'uWebSockets.js'
import type { HttpResponse } from '../exchange.ts'
import { chunkedMessage, isBodyless, type WholeBody, wholeLength } from '../responses/whole-response.ts'

const statusLines = new Map<number, string>()

export function writeStatusAndHeaders(res: uWS.HttpResponse, response: HttpResponse): void {
  res.writeStatus(statusLine(response.status))
  for (const [name, value] of response.headers) res.writeHeader(name, value)
}

/**
 * Ends a response that carries no body. `length` is announced when given.
 *
 * The library does neither correctly: announcing a length leaves the connection marked as busy, so that the next
 * request on it is cut off, and closing announces a wrong length.
 */
export function endWithoutBody(res: uWS.HttpResponse, length: number | undefined, close: boolean): void {
  if (length !== undefined) res.writeHeader('Content-Length', String(length))
  if (close) res.writeHeader('Connection', 'close')
  res.endWithoutBody()
}

/**
 * Writes a whole response but leaves it open for the library, which otherwise would close the socket at once or never.
 * Closing at once with unread bytes would reset the connection, and a client that is still sending would lose the
 * answer that says why. The caller keeps reading and closes later.
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

function statusLine(status: number): string {
  const known = statusLines.get(status)
  if (known !== undefined) return known
  const line = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`
  statusLines.set(status, line)
  return line
}
