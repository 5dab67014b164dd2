/**
 * Writes responses through the library, each function within a cork.
 *
 * The library checks nothing that it is given: a CR LF in a header value would split the response, a Content-Length
 * or Date of our own would be sent twice, a status written late is ignored. `responseFault` of
 * `whole-response.ts` refuses such a response as a whole before the first byte is written.
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

function statusLine(status: number): string {
  const known = statusLines.get(status)
  if (known !== undefined) return known
  const line = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`
  statusLines.set(status, line)
  return line
}
