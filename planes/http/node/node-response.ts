/** Writes responses through node:http, and without it where it would close the connection too early. */
import { STATUS_CODES, type ServerResponse } from 'node:http'
import type { HttpResponse } from '../exchange.ts'
import { announcedLength, chunkedMessage, isBodyless, type WholeBody } from '../responses/whole-response.ts'

const ASCII = /^[\0-\x7f]*$/
const LINE_END = Buffer.from('\r\n')

/**
 * Writes status and headers, to go out with the body.
 * @param length bytes of the body; undefined if it is sent in chunks or absent
 */
export function writeHead(
  to: ServerResponse,
  response: HttpResponse,
  length: number | undefined,
  close: boolean,
): void {
  const lines: string[] = []
  for (const [name, value] of response.headers) lines.push(name, wireText(value))
  if (length !== undefined) lines.push('Content-Length', String(length))
  if (close) lines.push('Connection', 'close')
  to.writeHead(response.status, lines)
}

/** A text whose latin1 form, which node:http writes, is the UTF-8 of `value`. */
function wireText(value: string): string {
  return ASCII.test(value) ? value : Buffer.from(value).toString('latin1')
}

/** A whole message with `Connection: close`; without a body if `method` is HEAD. */
export function lastMessage(response: HttpResponse, method: string): Buffer {
  const { status, headers } = response
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}`]
  for (const [name, value] of headers) lines.push(`${name}: ${value}`)
  lines.push(`Date: ${new Date().toUTCString()}`)
  if (method === 'HEAD') lines.push(`Content-Length: ${announcedLength(response) ?? 0}`)
  lines.push('Connection: close')
  if (method === 'HEAD' || isBodyless(status)) return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
  const body = response.body as WholeBody | undefined
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\nTransfer-Encoding: `), chunkedMessage(body), LINE_END])
}
