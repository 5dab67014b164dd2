/** What the documents of clients mean, read off their elements by the words of the S3 API reference. */
import { millisecondsOf } from '../../../engine/brands.ts'
import { parseIsoTimestamp } from '../../../planes/s3/text/timestamps.ts'
import { isDigit } from './naive-calendar.ts'
import type { NaiveElement } from './naive-xml.ts'

export const NOW = millisecondsOf(Date.UTC(2026, 7, 1))
/** The reading of a document that must be refused. */
export const NOTHING: unique symbol = Symbol('nothing')
export type Reading = unknown

/** The text of a leaf that may be there once; `NOTHING` where it is there in another form. */
function leaf(parent: NaiveElement, name: string): string | undefined | typeof NOTHING {
  const [found, ...others] = parent.children.filter((child) => child.name === name)
  if (found === undefined) return undefined
  return others.length > 0 || found.children.length > 0 ? NOTHING : found.text.trim()
}

function holdsOnly(parent: NaiveElement, names: readonly string[]): boolean {
  return parent.text.trim() === '' && parent.children.every(({ name }) => names.includes(name))
}

export function readVersioning(root: NaiveElement): Reading {
  const [status, mfa] = [leaf(root, 'Status'), leaf(root, 'MfaDelete')]
  if (!holdsOnly(root, ['Status', 'MfaDelete']) || (mfa !== undefined && mfa !== 'Disabled')) return NOTHING
  return status === 'Enabled' || status === 'Suspended' ? status.toLowerCase() : NOTHING
}

export function readLegalHold(root: NaiveElement): Reading {
  const status = leaf(root, 'Status')
  return holdsOnly(root, ['Status']) && (status === 'ON' || status === 'OFF') ? status === 'ON' : NOTHING
}

export function readRetention(root: NaiveElement): Reading {
  const [mode, date] = [leaf(root, 'Mode'), leaf(root, 'RetainUntilDate')]
  if (!holdsOnly(root, ['Mode', 'RetainUntilDate'])) return NOTHING
  if (root.children.length === 0) return undefined
  // The form of dates has a target of its own.
  const untilMilliseconds = typeof date === 'string' ? parseIsoTimestamp(date) : undefined
  const isMode = mode === 'GOVERNANCE' || mode === 'COMPLIANCE'
  return isMode && untilMilliseconds !== undefined && untilMilliseconds > NOW ? { mode, untilMilliseconds } : NOTHING
}

export function readLockConfiguration(root: NaiveElement): Reading {
  const rules = root.children.filter(({ name }) => name === 'Rule')
  if (!holdsOnly(root, ['ObjectLockEnabled', 'Rule']) || leaf(root, 'ObjectLockEnabled') !== 'Enabled') return NOTHING
  const [rule] = rules
  if (rule === undefined) return undefined
  const [retention] = rule.children
  if (rules.length > 1 || rule.children.length !== 1 || !holdsOnly(rule, ['DefaultRetention'])) return NOTHING
  if (retention === undefined || !holdsOnly(retention, ['Mode', 'Days', 'Years'])) return NOTHING
  const mode = leaf(retention, 'Mode')
  const [days, years] = [leaf(retention, 'Days'), leaf(retention, 'Years')]
  if ((mode !== 'GOVERNANCE' && mode !== 'COMPLIANCE') || (days === undefined) === (years === undefined)) return NOTHING
  const text = days ?? years
  if (typeof text !== 'string' || typeof (days ?? '') !== 'string' || typeof (years ?? '') !== 'string') return NOTHING
  const digits = text.startsWith('+') ? text.slice(1) : text
  if (digits === '' || ![...digits].every(isDigit)) return NOTHING
  const value = Number(digits)
  const [unit, maximum] = days === undefined ? ['years', 100] : ['days', 36_500]
  return value >= 1 && value <= maximum ? { mode, unit, value } : NOTHING
}

export function readCreateBucket(root: NaiveElement): Reading {
  const region = leaf(root, 'LocationConstraint')
  if (!holdsOnly(root, ['LocationConstraint']) || region === NOTHING) return NOTHING
  if (region === undefined || region === '') return { locationConstraint: undefined }
  return isVisible(region) && region.length <= 255 ? { locationConstraint: region } : NOTHING
}

function isVisible(text: string): boolean {
  return text !== '' && [...text].every((character) => character > ' ' && character < '\x7f')
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'HEAD']
const RULE_MEMBERS = ['ID', 'AllowedOrigin', 'AllowedMethod', 'AllowedHeader', 'ExposeHeader', 'MaxAgeSeconds']

export function readCors(root: NaiveElement): Reading {
  const rules = root.children.map(readCorsRule)
  if (!holdsOnly(root, ['CORSRule']) || rules.length === 0 || rules.length > 100) return NOTHING
  return rules.includes(NOTHING) ? NOTHING : rules
}

function hasOneStar(text: string): boolean {
  return text.split('*').length <= 2
}

function readCorsRule(rule: NaiveElement): Reading {
  const [id, age] = [leaf(rule, 'ID'), leaf(rule, 'MaxAgeSeconds')]
  if (typeof id === 'symbol' || typeof age === 'symbol') return NOTHING
  const texts = (name: string): string[] =>
    rule.children.filter((child) => child.name === name).map(({ text }) => text.trim())
  const lists = rule.children.filter(({ name }) => name !== 'ID' && name !== 'MaxAgeSeconds')
  if (!holdsOnly(rule, RULE_MEMBERS) || lists.some(({ children }) => children.length > 0)) return NOTHING
  const [origins, methods] = [texts('AllowedOrigin'), texts('AllowedMethod')]
  const [headers, exposed] = [texts('AllowedHeader'), texts('ExposeHeader')]
  const isRight =
    (id ?? '').length <= 255 &&
    !/[\p{Cc}\ufffd]/u.test(id ?? '') &&
    (age === undefined || (age !== '' && [...age].every(isDigit) && Number(age) < 2 ** 31)) &&
    origins.length > 0 &&
    origins.every((origin) => isVisible(origin) && !origin.includes(',') && hasOneStar(origin)) &&
    methods.length > 0 &&
    methods.every((method) => METHODS.includes(method)) &&
    headers.every((header) => TOKEN.test(header) && hasOneStar(header)) &&
    exposed.every((header) => TOKEN.test(header) && !header.includes('*'))
  const maxAgeSeconds = age === undefined ? undefined : Number(age)
  return isRight ? { id, origins, methods, headers, exposed, maxAgeSeconds } : NOTHING
}

export function readComplete(root: NaiveElement): Reading {
  const numbers: number[] = []
  const md5s: string[] = []
  for (const part of root.children) {
    const [number, etag] = [leaf(part, 'PartNumber'), leaf(part, 'ETag')]
    // As in hasOnly; what else a part holds is passed over.
    if (part.name !== 'Part' || !/^[ \t\r\n]*$/.test(part.text) || part.hasReferences) return NOTHING
    if (typeof number !== 'string' || typeof etag !== 'string') return NOTHING
    const digits = etag.length > 2 && etag.startsWith('"') && etag.endsWith('"') ? etag.slice(1, -1) : etag
    if (number === '' || ![...number].every(isDigit) || !/^[0-9a-fA-F]{32}$/.test(digits)) return NOTHING
    if (Number(number) <= (numbers.at(-1) ?? 0) || Number(number) > 10_000) return NOTHING
    numbers.push(Number(number))
    md5s.push(digits.toLowerCase())
  }
  if (!hasOnly(root, ['Part']) || numbers.length === 0) return NOTHING
  return { parts: numbers, md5s: md5s.join('') }
}

/** Between elements only the white space of XML may be, which is less than that of the platform; as a reference it is text. */
function hasOnly({ text, hasReferences, children }: NaiveElement, names: readonly string[]): boolean {
  return /^[ \t\r\n]*$/.test(text) && !hasReferences && children.every(({ name }) => names.includes(name))
}

const DELETION_MEMBERS = ['Key', 'VersionId', 'ETag', 'LastModifiedTime', 'Size']

/** Keys keep their white space; of the two conditions that are refused, the first in the order of the words counts. */
export function readDelete(root: NaiveElement): Reading {
  const quiet = leaf(root, 'Quiet')
  const objects = root.children.filter(({ name }) => name === 'Object')
  if (!hasOnly(root, ['Object', 'Quiet']) || quiet === NOTHING || objects.length === 0 || objects.length > 1000) {
    return NOTHING
  }
  const isQuiet = ['true', '1'].includes(String(quiet).toLowerCase())
  if (quiet !== undefined && !isQuiet && !['false', '0'].includes(quiet.toLowerCase())) return NOTHING
  const read: unknown[] = []
  for (const object of objects) {
    const texts = DELETION_MEMBERS.map((name) => leaf(object, name))
    const key = object.children.find(({ name }) => name === 'Key')?.text
    if (!hasOnly(object, DELETION_MEMBERS) || texts.includes(NOTHING) || key === undefined || key === '') return NOTHING
    const [, versionId, etag, time, size] = texts
    const foreign = time === undefined ? (size === undefined ? undefined : 'Size') : 'LastModifiedTime'
    read.push(JSON.parse(JSON.stringify({ key, versionId, etag, foreign })))
  }
  return { objects: read, quiet: isQuiet }
}
