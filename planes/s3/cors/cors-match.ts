/**
 * Finds the rule of a bucket's CORS configuration that matches a request, and the headers that it adds (S3 user guide,
 * "How does Amazon S3 evaluate the CORS configuration on a bucket"; Fetch standard, CORS protocol). Without a
 * configuration no headers are added: browser access is denied by default.
 */

import type { CorsRule } from '../../../engine/events/values.ts'
import type { HeaderLine, HttpRequest } from '../../http/exchange.ts'
import { S3Error } from '../errors/s3-errors.ts'

/** Preflights are not authenticated, so the number of requested headers is bounded. */
const REQUESTED_HEADERS_MAXIMUM = 100

/**
 * An origin: visible ASCII without a comma, which would make it two. Bounded, because answers repeat it even without
 * authentication; a host has at most 253 characters.
 */
const ORIGIN = /^[\x21-\x2b\x2d-\x7e]{1,512}$/
/** A header name (RFC 9110 token) in lower case. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/

const VARY: HeaderLine = ['vary', 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method']

/**
 * The headers of the answer to a preflight.
 * @param rules of the bucket; empty also for a missing bucket, so that its absence is not revealed
 * @throws S3Error BadRequest (no Origin or no requested method), AccessForbidden (no rule matches)
 */
export function preflightHeaders(request: HttpRequest, rules: readonly CorsRule[]): HeaderLine[] {
  const origin = request.header('origin')
  const method = request.header('access-control-request-method')
  if (origin === undefined || origin === '') {
    throw new S3Error('BadRequest', { message: 'Insufficient information. Origin request header needed.' })
  }
  if (method === undefined || method === '') {
    const message = 'Insufficient information. Access-Control-Request-Method request header needed.'
    throw new S3Error('BadRequest', { message })
  }
  const requested = requestedHeaders(request.header('access-control-request-headers'))
  const match = requested && findRule(rules, origin, method, requested)
  if (match === undefined || requested === undefined) throw new S3Error('AccessForbidden')
  const lines = ruleHeaders(match, origin)
  if (requested.length > 0) lines.push(['access-control-allow-headers', requested.join(', ')])
  return lines
}

/**
 * The headers to add to the answer to any other request: none without an Origin or a matching rule.
 * @param rules of the bucket
 */
export function corsHeaders(request: HttpRequest, rules: readonly CorsRule[]): HeaderLine[] {
  const origin = rules.length === 0 ? undefined : request.header('origin')
  if (origin === undefined) return []
  const match = findRule(rules, origin, request.method, [])
  return match === undefined ? [] : ruleHeaders(match, origin)
}

interface Match {
  readonly rule: CorsRule
  /** The entry of the rule that matches the origin. */
  readonly allowedOrigin: string
}

/** The first rule that matches origin (case-sensitive), method and every requested header (in lower case). */
function findRule(
  rules: readonly CorsRule[],
  origin: string,
  method: string,
  requested: readonly string[],
): Match | undefined {
  if (!ORIGIN.test(origin)) return undefined
  for (const rule of rules) {
    const allowedOrigin = rule.origins.find((pattern) => fits(pattern, origin))
    if (allowedOrigin === undefined || !rule.methods.includes(method)) continue
    const allowed = rule.headers.map((pattern) => pattern.toLowerCase())
    if (requested.every((name) => allowed.some((pattern) => fits(pattern, name)))) return { rule, allowedOrigin }
  }
  return undefined
}

/** Whether a text matches a pattern, in which one `*` matches any characters or none. */
function fits(pattern: string, text: string): boolean {
  const star = pattern.indexOf('*')
  if (star === -1) return pattern === text
  const tail = pattern.slice(star + 1)
  return text.length >= star + tail.length && text.startsWith(pattern.slice(0, star)) && text.endsWith(tail)
}

/**
 * The names in a list of headers, in lower case, each once; undefined for an invalid name or too many of them. Answers
 * repeat only these names.
 */
function requestedHeaders(list: string | undefined): string[] | undefined {
  const pieces = (list ?? '').split(',').map((name) => name.trim().toLowerCase())
  const names = [...new Set(pieces)].filter((name) => name !== '')
  if (names.length > REQUESTED_HEADERS_MAXIMUM) return undefined
  return names.every((name) => HEADER_NAME.test(name)) ? names : undefined
}

/**
 * The origin is repeated where the rule names origins; a rule of `*` answers `*`. Credentials are allowed only for an
 * origin that the rule spells out: anyone could register a name that matches a pattern, and every sandboxed page has
 * the origin `null` (S21).
 */
function ruleHeaders({ rule, allowedOrigin }: Match, origin: string): HeaderLine[] {
  const lines: HeaderLine[] = [['access-control-allow-origin', allowedOrigin === '*' ? '*' : origin]]
  if (!allowedOrigin.includes('*') && allowedOrigin !== 'null') lines.push(['access-control-allow-credentials', 'true'])
  lines.push(['access-control-allow-methods', rule.methods.join(', ')])
  if (rule.exposed.length > 0) lines.push(['access-control-expose-headers', rule.exposed.join(', ')])
  if (rule.maxAgeSeconds !== undefined) lines.push(['access-control-max-age', String(rule.maxAgeSeconds)])
  lines.push(VARY)
  return lines
}
