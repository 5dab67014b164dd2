/** A bucket with CORS rules and what its answers hold, for the specs of CORS on the wire. */
import type { Test } from 'tap'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import type { TestServer } from '../../../support/test-server.ts'
import { isError } from '../../../support/wire-assertions.ts'
import type { WireAnswer } from '../../../support/wire-client.ts'

/** An origin that a rule spells out. */
export const APP = 'https://app.example'
const VARY = 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method'

export function configuration(...rules: readonly string[]): string {
  return `<CORSConfiguration>${rules.map((rule) => `<CORSRule>${rule}</CORSRule>`).join('')}</CORSConfiguration>`
}

export const APP_RULE =
  `<ID>app</ID><AllowedOrigin>${APP}</AllowedOrigin><AllowedOrigin>https://*.app.example</AllowedOrigin>` +
  '<AllowedMethod>GET</AllowedMethod><AllowedMethod>PUT</AllowedMethod><AllowedMethod>POST</AllowedMethod>' +
  '<AllowedMethod>HEAD</AllowedMethod><AllowedHeader>content-type</AllowedHeader><AllowedHeader>x-amz-*</AllowedHeader>' +
  '<ExposeHeader>ETag</ExposeHeader><MaxAgeSeconds>600</MaxAgeSeconds>'
export const OPEN_RULE = '<AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod>'

/** `cors-bucket` lets the app in, and others read; `plain-bucket` has no configuration. */
export async function makeCorsBuckets({ raw }: TestServer): Promise<void> {
  await raw('PUT', '/cors-bucket')
  await raw('PUT', '/plain-bucket')
  await raw('PUT', '/cors-bucket/k', { body: 'bytes' })
  await raw('PUT', '/cors-bucket?cors', { body: configuration(APP_RULE, OPEN_RULE) })
}

/** The CORS headers of an answer, `Vary` included. */
export function corsOf({ headers }: WireAnswer): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-') || name === 'vary'))
}

/** What the rule of the app adds to any answer. */
export function granted(origin: string): Record<string, unknown> {
  return {
    'access-control-allow-origin': origin,
    ...(origin === APP ? { 'access-control-allow-credentials': 'true' } : {}),
    'access-control-allow-methods': 'GET, PUT, POST, HEAD',
    'access-control-expose-headers': 'ETag',
    'access-control-max-age': '600',
    vary: VARY,
  }
}
export const OPEN = { 'access-control-allow-origin': '*', 'access-control-allow-methods': 'GET', vary: VARY }

export function asking(origin: string, method: string, requested?: string): HeaderLine[] {
  const headers: HeaderLine[] = [
    ['origin', origin],
    ['access-control-request-method', method],
  ]
  return requested === undefined ? headers : [...headers, ['access-control-request-headers', requested]]
}

export function isDenied(t: Test, answer: WireAnswer, name: string): void {
  isError(t, answer, 'AccessForbidden', name)
  t.same(corsOf(answer), {}, `${name}: nothing is allowed`)
}
