/** The head of a request as node:http has parsed it, for `request-head.ts` to read. */
import type { IncomingMessage } from 'node:http'
import { HEADER_LINES_MAXIMUM } from '../limits/header-limits.ts'
import { type HeadFault, type HeadSource, TOO_LARGE } from '../requests/request-head.ts'

const ASCII = /^[\0-\x7f]*$/

/** Cache of lower-case names by the names as sent: clients send the same few. */
const knownNames = new Map<string, string>()
const KNOWN_NAMES_MAXIMUM = 512
const KNOWN_NAME_LENGTH_MAXIMUM = 64

export class NodeHead implements HeadSource {
  readonly #request: IncomingMessage

  constructor(request: IncomingMessage) {
    this.#request = request
  }

  getCaseSensitiveMethod(): string {
    return this.#request.method ?? ''
  }

  getUrl(): string {
    const { url = '' } = this.#request
    const end = url.indexOf('?')
    return end === -1 ? url : url.slice(0, end)
  }

  getQuery(): string | undefined {
    const { url = '' } = this.#request
    const end = url.indexOf('?')
    return end === -1 ? undefined : url.slice(end + 1)
  }

  /** Values arrive as latin1; planes get them as UTF-8. */
  forEach(each: (name: string, value: string) => void): void {
    const { rawHeaders } = this.#request
    for (let index = 1; index < rawHeaders.length; index += 2) {
      const value = rawHeaders[index] as string
      each(
        smallName(rawHeaders[index - 1] as string),
        ASCII.test(value) ? value : Buffer.from(value, 'latin1').toString(),
      )
    }
  }

  get fault(): HeadFault | undefined {
    const { httpVersionMajor, httpVersionMinor, rawHeaders, headers } = this.#request
    if (httpVersionMajor !== 1 || httpVersionMinor !== 1) return { status: 505, reason: 'The server speaks HTTP/1.1.' }
    if (rawHeaders.length > 2 * HEADER_LINES_MAXIMUM) return TOO_LARGE
    return headers.host === undefined ? { status: 400, reason: 'The Host header is missing.' } : undefined
  }
}

function smallName(name: string): string {
  const known = knownNames.get(name)
  if (known !== undefined) return known
  const small = name.toLowerCase()
  if (knownNames.size < KNOWN_NAMES_MAXIMUM && name.length <= KNOWN_NAME_LENGTH_MAXIMUM) knownNames.set(name, small)
  return small
}
