/** Requests as text: a request line, header lines, an empty line, the body. Anything is some request. */
import type { HeaderLine, HttpRequest } from '../../../planes/http/exchange.ts'
import { BodyTooLargeError } from '../../../planes/http/exchange.ts'

/** What the HTTP library takes away before a handler sees a value. A run is looked at once: there may be 64 KiB of it. */
export const BLANKS_AROUND = /^[ \t]+|(?<![ \t])[ \t]+$/g
const LINE_ENDS = /[\r\0]/g
const OUTSIDE_VISIBLE_ASCII = /[^\x21-\x7e]/g

/**
 * Header lines of a text, with lower-case names. Names and values that no HTTP message can carry are made such.
 */
export function headerLines(lines: readonly string[]): HeaderLine[] {
  return lines.flatMap((line): HeaderLine[] => {
    const colon = line.indexOf(':')
    if (colon <= 0) return []
    const name = line
      .slice(0, colon)
      .toLowerCase()
      .replaceAll(/[^!#$%&'*+\-.^_`|~0-9a-z]/g, '_')
    return [
      [
        name,
        line
          .slice(colon + 1)
          .replaceAll(LINE_ENDS, ' ')
          .replaceAll(BLANKS_AROUND, ''),
      ],
    ]
  })
}

/** A request with these headers. */
export function requestWith(
  headers: readonly HeaderLine[],
  method = 'GET',
  target = '/',
  body: Buffer = Buffer.alloc(0),
): HttpRequest {
  const mark = target.indexOf('?')
  return {
    method,
    path: mark === -1 ? target : target.slice(0, mark),
    query: mark === -1 ? '' : target.slice(mark + 1),
    headers,
    header: (name) => {
      const values = headers.filter((line) => line[0] === name).map((line) => line[1])
      return values.length === 0 ? undefined : values.join(',')
    },
    remoteAddress: '127.0.0.1',
    secure: false,
    contentLength: body.length,
    body: {
      receivedBytes: 0,
      arrival: () => undefined,
      takeArrived: () => Buffer.from(body),
      readAll: (bytesMaximum) =>
        body.length > bytesMaximum ? Promise.reject(new BodyTooLargeError()) : Promise.resolve(Buffer.from(body)),
      pipe: async (sink) => {
        if (body.length > 0) await sink(Buffer.from(body))
      },
    },
    onAborted: () => {},
    cut: () => {},
  }
}

/** The request that an input is. */
export function requestOf(input: Buffer): HttpRequest {
  const end = input.indexOf('\n\n')
  const head = (end === -1 ? input : input.subarray(0, end)).toString('latin1').split('\n')
  const body = end === -1 ? Buffer.alloc(0) : input.subarray(end + 2)
  const [method = '', target = ''] = (head[0] ?? '').split(' ')
  const path = target.replaceAll(OUTSIDE_VISIBLE_ASCII, '~')
  const isMethod = /^[A-Za-z][A-Za-z-]{0,31}$/.test(method)
  return requestWith(
    headerLines(head.slice(1)),
    isMethod ? method : 'GET',
    path.startsWith('/') ? path : `/${path}`,
    body,
  )
}
