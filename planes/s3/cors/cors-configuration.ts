/**
 * The document of PutBucketCors and GetBucketCors. Its values go into response headers, so each is checked against a
 * grammar without control characters (S21).
 */

import type { CorsRule } from '../../../engine/events/values.ts'
import { malformedXml, S3Error } from '../errors/s3-errors.ts'
import { childText, expectOnly, readXml, type XmlElement } from '../text/xml-reader.ts'
import { element, successDocument } from '../text/xml-writer.ts'

const ROOT = 'CORSConfiguration'
const CORS_RULES_MAXIMUM = 100
/** The whole configuration is one record of the journal. S3 allows 64 KiB of XML, most of it tags. */
export const CORS_BYTES_MAXIMUM = 20 * 1024

const METHODS: readonly string[] = ['GET', 'PUT', 'POST', 'DELETE', 'HEAD']
const ID_LENGTH_MAXIMUM = 255
/** The largest number of seconds that every cache supports (RFC 9111 section 1.2.2). */
const SECONDS_MAXIMUM = 2 ** 31 - 1

/** Grammars of values: visible ASCII without a comma; a header name (RFC 9110 token, which may contain `*`). */
const ORIGIN = /^[\x21-\x2b\x2d-\x7e]+$/
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Control characters, and the replacement character for invalid UTF-8. */
const UNPRINTABLE = /[\p{Cc}\ufffd]/u

/** Upper bounds of what the stored form adds to a rule, and to the bytes of each text. */
const RULE_OVERHEAD_BYTES = 32
const TEXT_OVERHEAD_BYTES = 3

/**
 * Parses the rules, in order, in the form they are stored.
 * @throws S3Error MalformedXML (also: no rule, a rule without AllowedOrigin or AllowedMethod,
 *   MaxAgeSeconds that is not a whole number); InvalidRequest (more than 100 rules, more than 20 KiB of them, a method
 *   that S3 does not know, two wildcards in a value, a value of another form)
 */
export function parseCorsConfiguration(body: Buffer): CorsRule[] {
  const root = readXml(body, ROOT, CORS_BYTES_MAXIMUM)
  expectOnly(root, ['CORSRule'])
  const found = root.children.get('CORSRule') ?? []
  if (found.length === 0) throw malformedXml('There must be at least one CORSRule.')
  if (found.length > CORS_RULES_MAXIMUM) {
    throw invalid(`The number of CORS rules should not exceed allowed limit of ${CORS_RULES_MAXIMUM} rules.`)
  }
  const rules = found.map(readRule)
  checkSize(rules)
  return rules
}

function readRule(rule: XmlElement): CorsRule {
  expectOnly(rule, ['ID', 'AllowedOrigin', 'AllowedMethod', 'AllowedHeader', 'ExposeHeader', 'MaxAgeSeconds'])
  const origins = texts(rule, 'AllowedOrigin')
  const methods = texts(rule, 'AllowedMethod')
  if (origins.length === 0 || methods.length === 0) {
    throw malformedXml('A CORSRule needs an AllowedOrigin and an AllowedMethod.')
  }
  const headers = texts(rule, 'AllowedHeader')
  const exposed = texts(rule, 'ExposeHeader')
  for (const origin of origins) checkPattern('AllowedOrigin', origin, ORIGIN)
  for (const method of methods) checkMethod(method)
  for (const header of headers) checkPattern('AllowedHeader', header, HEADER_NAME)
  for (const header of exposed) checkExposed(header)
  return { id: readId(rule), origins, methods, headers, exposed, maxAgeSeconds: readMaxAge(rule) }
}

/** The texts of a repeatable element. */
function texts(rule: XmlElement, name: string): string[] {
  return (rule.children.get(name) ?? []).map((child) => {
    if (child.children.size > 0) throw malformedXml(`${name} must hold text.`)
    return child.text.trim()
  })
}

function readId(rule: XmlElement): string | undefined {
  const id = childText(rule, 'ID')
  if (id === undefined) return undefined
  if (id.length <= ID_LENGTH_MAXIMUM && !UNPRINTABLE.test(id)) return id
  throw invalid(`ID must be at most ${ID_LENGTH_MAXIMUM} characters long and hold no control characters.`)
}

function readMaxAge(rule: XmlElement): number | undefined {
  const text = childText(rule, 'MaxAgeSeconds')
  if (text === undefined) return undefined
  const seconds = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (seconds <= SECONDS_MAXIMUM) return seconds
  throw malformedXml(`MaxAgeSeconds must be a whole number from 0 to ${SECONDS_MAXIMUM}.`)
}

function checkMethod(method: string): void {
  if (METHODS.includes(method)) return
  throw invalid(`Found unsupported HTTP method in CORS config. Unsupported method is ${method}`)
}

function checkPattern(name: string, text: string, form: RegExp): void {
  if (!form.test(text)) throw invalid(`${name} is empty or holds characters that cannot be there.`)
  if (text.split('*').length <= 2) return
  throw invalid(`${name} "${text}" can not have more than one wildcard.`)
}

function checkExposed(header: string): void {
  if (!HEADER_NAME.test(header)) throw invalid('ExposeHeader must be the name of a header.')
  if (!header.includes('*')) return
  throw invalid(`ExposeHeader "${header}" contains wildcard. We currently do not support wildcard for ExposeHeader.`)
}

function checkSize(rules: readonly CorsRule[]): void {
  let bytes = 0
  for (const rule of rules) {
    bytes += RULE_OVERHEAD_BYTES
    for (const text of [rule.id ?? '', ...rule.origins, ...rule.methods, ...rule.headers, ...rule.exposed]) {
      bytes += TEXT_OVERHEAD_BYTES + Buffer.byteLength(text)
    }
  }
  if (bytes <= CORS_BYTES_MAXIMUM) return
  const details = [
    ['Size', String(bytes)],
    ['MaxSizeAllowed', String(CORS_BYTES_MAXIMUM)],
  ] as const
  throw new S3Error('InvalidRequest', { message: 'The CORS configuration is too large.', details })
}

function invalid(message: string): S3Error {
  return new S3Error('InvalidRequest', { message })
}

/** The document of a bucket with CORS rules. */
export function corsConfiguration(rules: readonly CorsRule[]): string {
  return successDocument(ROOT, rules.map(ruleElement).join(''))
}

function ruleElement(rule: CorsRule): string {
  const inner =
    (rule.id === undefined ? '' : element('ID', rule.id)) +
    elements('AllowedHeader', rule.headers) +
    elements('AllowedMethod', rule.methods) +
    elements('AllowedOrigin', rule.origins) +
    elements('ExposeHeader', rule.exposed) +
    (rule.maxAgeSeconds === undefined ? '' : element('MaxAgeSeconds', rule.maxAgeSeconds))
  return `<CORSRule>${inner}</CORSRule>`
}

function elements(name: string, values: readonly string[]): string {
  return values.map((value) => element(name, value)).join('')
}
