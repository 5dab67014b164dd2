import type { HeaderLine, HttpResponse } from '../http/exchange.ts'
import { PAGE_POLICY } from './pages.ts'

/** Forbid caches and search engines to keep an answer to a link. */
export const PRIVATE_HEADERS: readonly HeaderLine[] = [
  ['cache-control', 'no-store'],
  ['x-robots-tag', 'noindex, nofollow'],
]

/** JSON for programs. */
export function jsonAnswer(status: number, body: unknown): HttpResponse {
  const headers: HeaderLine[] = [
    ['content-type', 'application/json'],
    ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
    ['vary', 'accept'],
    ...PRIVATE_HEADERS,
  ]
  return { status, headers, body: JSON.stringify(body) }
}

/** A page for people. */
export function pageAnswer(status: number, html: string): HttpResponse {
  const headers: HeaderLine[] = [
    ['content-type', 'text/html; charset=utf-8'],
    ['content-security-policy', PAGE_POLICY],
    ['cross-origin-opener-policy', 'same-origin'],
    ['x-frame-options', 'DENY'],
    ['vary', 'accept'],
    ...PRIVATE_HEADERS,
  ]
  return { status, headers, body: html }
}
