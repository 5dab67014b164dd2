/** The part of responses common to both drivers: validity and length. */
import { type BodySource, type HttpResponse, isSource } from '../exchange.ts'

/** A body that is in memory whole. */
export type WholeBody = Buffer | string

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Matches nearly every value; a fast check before the full one. */
const PLAIN_VALUE = /^[\t\x20-\x7e]*$/
/**
 * Control characters below 0x80 but tab (RFC 9110 section 5.5; those above are two harmless bytes in UTF-8), and
 * halves of surrogate pairs, which have no UTF-8 form.
 */
const FORBIDDEN_IN_VALUE = /[^\t\u0080-\u009f\P{Cc}]|\p{Surrogate}/u
/** Headers that only this layer or the library writes, from the body and the state of the connection. */
const RESERVED_NAME = /^(?:connection|content-length|date|transfer-encoding)$/i

/** Cache of header names found valid: apart from user metadata, all answers have the same few names. */
const knownNames = new Set<string>()
const KNOWN_NAMES_MAXIMUM = 256
const KNOWN_NAME_LENGTH_MAXIMUM = 64

/** Why `response` cannot be sent; undefined if it can. */
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

/** Length in bytes as sent. */
export function wholeLength(body: WholeBody | undefined): number {
  if (body === undefined) return 0
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length
}

/** The Content-Length of an answer to HEAD; undefined for an unknown length, where it may be omitted (RFC 9110 8.6). */
export function announcedLength({ body, contentLength }: HttpResponse): number | undefined {
  return contentLength ?? (isSource(body) ? body.length : wholeLength(body))
}

/** The end of a head and a chunked body. */
export function chunkedMessage(body: WholeBody | undefined): Buffer {
  const length = wholeLength(body)
  if (body === undefined || length === 0) return Buffer.from('chunked\r\n\r\n0\r\n')
  const content = typeof body === 'string' ? Buffer.from(body) : body
  return Buffer.concat([Buffer.from(`chunked\r\n\r\n${length.toString(16)}\r\n`), content, Buffer.from('\r\n0\r\n')])
}

/** A body in memory as a source, for bodies that the kernel may not take at once. */
export function wholeSource(body: Buffer): BodySource & { readonly length: number } {
  let rest: Buffer | undefined = body
  return {
    length: body.length,
    next: () => {
      const piece = rest
      rest = undefined
      return piece
    },
    close: () => {},
  }
}
