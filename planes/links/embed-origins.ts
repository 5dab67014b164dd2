/** Which pages may show an embed: cross-origin headers, frames, and what a browser says of the page that asks. */
import type { HeaderLine, HttpRequest } from '../http/exchange.ts'
import { isHarmlessOrigin } from '../http/headers/origin.ts'

const EVERY_ORIGIN = '*'
const EXPOSED = 'accept-ranges, content-disposition, content-length, content-range, etag, last-modified'
const ASKED_HEADERS = 'if-match, if-modified-since, if-none-match, if-range, if-unmodified-since, range'
/** How long a browser may remember the answer to a preflight, which opens nothing. */
const PREFLIGHT_SECONDS = 600
/** Destinations that show the answer as a document or frame, where `frame-ancestors` decides. */
const FRAMES: ReadonlySet<string> = new Set(['document', 'embed', 'fencedframe', 'frame', 'iframe', 'object'])
const ELSEWHERE: ReadonlySet<string> = new Set(['cross-site', 'same-site'])

/** The origins of an embed. Origins that could not be sent safely in a header are left out. */
export class EmbedOrigins {
  readonly #allowed: readonly string[]

  constructor(allowed: readonly string[]) {
    this.#allowed = allowed.filter((origin) => origin === EVERY_ORIGIN || isHarmlessOrigin(origin))
  }

  get isEverybody(): boolean {
    return this.#allowed.includes(EVERY_ORIGIN)
  }

  /**
   * Whether the requesting page may use the answer. A browser names the page in Origin or Referer; a cross-site request
   * that names no page is refused. Requests of programs, and navigation by a link, come from no page.
   */
  allows(http: HttpRequest): boolean {
    if (this.isEverybody) return true
    const origin = http.header('origin')
    if (origin !== undefined) return this.#allowed.includes(origin)
    const isShownElsewhere =
      ELSEWHERE.has(http.header('sec-fetch-site') ?? '') && !FRAMES.has(http.header('sec-fetch-dest') ?? '')
    return !isShownElsewhere || this.#allowed.includes(originOf(http.header('referer') ?? ''))
  }

  /** The headers by which a browser hands the answer to the page that asked, which is allowed. */
  crossOriginHeaders(http: HttpRequest): HeaderLine[] {
    const origin = http.header('origin')
    if (this.isEverybody) return [['access-control-allow-origin', EVERY_ORIGIN], ...exposed()]
    if (origin === undefined) return [['vary', 'origin']]
    return [['access-control-allow-origin', origin], ...exposed(), ['vary', 'origin']]
  }

  /** The source list of `frame-ancestors`. */
  get frameAncestors(): string {
    return this.#allowed.length === 0 ? "'none'" : this.#allowed.join(' ')
  }
}

function exposed(): HeaderLine[] {
  return [['access-control-expose-headers', EXPOSED]]
}

/** Further headers of the answer to a preflight (Fetch standard, CORS-preflight request). */
export const PREFLIGHT_HEADERS: readonly HeaderLine[] = [
  ['allow', 'GET, HEAD, OPTIONS'],
  ['access-control-allow-methods', 'GET, HEAD'],
  ['access-control-allow-headers', ASKED_HEADERS],
  ['access-control-max-age', String(PREFLIGHT_SECONDS)],
]

/** The origin of a URL; empty for an invalid URL. */
function originOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : ''
}
