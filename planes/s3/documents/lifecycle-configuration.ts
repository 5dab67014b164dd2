/**
 * The document of PutBucketLifecycleConfiguration and GetBucketLifecycleConfiguration. A rule of this store has a prefix and two
 * periods; all else that a document asks for is refused by the name of its element.
 */

import { KEY_BYTES_MAXIMUM, overlongKeyBytes } from '../../../engine/domain/names.ts'
import { EXPIRY_DAYS, type LifecycleRule } from '../../../engine/events/values.ts'
import { RULES_MAXIMUM } from '../../../engine/lifecycle/rules.ts'
import { invalidArgument, malformedXml, S3Error } from '../errors/s3-errors.ts'
import { childText, expectOnly, readXml, type XmlElement } from '../text/xml-reader.ts'
import { element, successDocument } from '../text/xml-writer.ts'

const ROOT = 'LifecycleConfiguration'
/** As written: references may make a prefix longer. */
const TEXT_MAXIMUM = 8 * KEY_BYTES_MAXIMUM
/** With the name of its bucket before it, an id of a client is short enough for an id of the store. */
export const RULE_ID_BYTES_MAXIMUM = 190

/** A rule as a client sends it; the id is undefined where the server is to make one. */
export type SentRule = Omit<LifecycleRule, 'rule'> & { readonly id: string | undefined }

/**
 * Parses the rules, in order.
 * @throws S3Error MalformedXML, InvalidArgument (an id twice, days out of range), InvalidRequest (too many rules, a rule
 *   without an action), NotImplemented (what rules of this store cannot say, by name)
 */
export function parseLifecycleConfiguration(body: Buffer): SentRule[] {
  const root = readXml(body, ROOT, TEXT_MAXIMUM)
  expectOnly(root, ['Rule'])
  const found = root.children.get('Rule') ?? []
  if (found.length === 0) throw malformedXml('There must be at least one Rule.')
  if (found.length > RULES_MAXIMUM) {
    throw new S3Error('InvalidRequest', { message: `A bucket has at most ${RULES_MAXIMUM} lifecycle rules.` })
  }
  const rules = found.map(readRule)
  const ids = rules.flatMap(({ id }) => id ?? [])
  const twice = ids.find((id, at) => ids.indexOf(id) < at)
  if (twice !== undefined) throw invalidArgument('ID', twice, 'The ID of a rule must occur once.')
  return rules
}

const UNSAID = ['Transition', 'NoncurrentVersionTransition', 'AbortIncompleteMultipartUpload']

function readRule(rule: XmlElement): SentRule {
  for (const name of UNSAID) if (rule.children.has(name)) throw unsaid(name)
  expectOnly(rule, ['ID', 'Status', 'Prefix', 'Filter', 'Expiration', 'NoncurrentVersionExpiration'])
  const expirationDays = daysIn(rule, 'Expiration', 'Days', ['Date', 'ExpiredObjectDeleteMarker'])
  const noncurrentDays = daysIn(rule, 'NoncurrentVersionExpiration', 'NoncurrentDays', ['NewerNoncurrentVersions'])
  if (expirationDays === undefined && noncurrentDays === undefined) {
    throw new S3Error('InvalidRequest', { message: 'At least one action needs to be specified in a rule.' })
  }
  return { id: idOf(rule), prefix: prefixOf(rule), enabled: isEnabled(rule), expirationDays, noncurrentDays }
}

function idOf(rule: XmlElement): string | undefined {
  const id = childText(rule, 'ID')
  if (id === undefined || id === '') return undefined
  if (Buffer.byteLength(id) <= RULE_ID_BYTES_MAXIMUM) return id
  throw invalidArgument('ID', id, `The ID of a rule has at most ${RULE_ID_BYTES_MAXIMUM} bytes on this server.`)
}

function isEnabled(rule: XmlElement): boolean {
  const status = childText(rule, 'Status')
  if (status === 'Enabled' || status === 'Disabled') return status === 'Enabled'
  throw malformedXml('Status must be Enabled or Disabled.')
}

/** The prefix of the rule itself, of its filter, or of And in its filter; S3 wants one of them, which may be empty. */
function prefixOf(rule: XmlElement): string {
  const filter = onlyChild(rule, 'Filter')
  const own = onlyChild(rule, 'Prefix')
  if ((filter === undefined) === (own === undefined)) throw malformedXml('A Rule has either a Filter or a Prefix.')
  const prefix = own === undefined ? filterPrefix(filter as XmlElement) : exactText(own)
  if (overlongKeyBytes(prefix) === undefined) return prefix
  throw invalidArgument('Prefix', prefix.slice(0, 64), `A prefix has at most ${KEY_BYTES_MAXIMUM} bytes.`)
}

function filterPrefix(filter: XmlElement): string {
  const and = onlyChild(filter, 'And')
  if (and !== undefined) expectOnly(filter, ['And'])
  const parts = and ?? filter
  for (const name of ['Tag', 'ObjectSizeGreaterThan', 'ObjectSizeLessThan']) {
    if (parts.children.has(name)) throw unsaid(name)
  }
  expectOnly(parts, ['Prefix'])
  const prefix = onlyChild(parts, 'Prefix')
  return prefix === undefined ? '' : exactText(prefix)
}

/** White space is a part of a prefix, as it is of a key. */
function exactText({ name, text, children }: XmlElement): string {
  if (children.size > 0) throw malformedXml(`${name} must hold text.`)
  return text
}

/** The days of an action; undefined for a rule without it. */
function daysIn(rule: XmlElement, action: string, unit: string, others: readonly string[]): number | undefined {
  const found = onlyChild(rule, action)
  if (found === undefined) return undefined
  for (const name of others) {
    if (found.children.has(name) && childText(found, name) !== 'false') throw unsaid(name)
  }
  expectOnly(found, [unit, ...others])
  const text = childText(found, unit)
  if (text === undefined) throw malformedXml(`${action} must hold ${unit}.`)
  const days = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  const { minimum, maximum } = EXPIRY_DAYS
  if (days >= minimum && days <= maximum) return days
  throw invalidArgument(
    unit,
    text,
    `'${unit}' for ${action} action must be a whole number from ${minimum} to ${maximum}.`,
  )
}

function onlyChild(parent: XmlElement, name: string): XmlElement | undefined {
  const [child, ...others] = parent.children.get(name) ?? []
  if (others.length > 0) throw malformedXml(`${name} occurs more than once.`)
  return child
}

function unsaid(name: string): S3Error {
  const instead =
    name === 'AbortIncompleteMultipartUpload'
      ? ' The setting storage.reclaim_uploads_after_days drops old uploads of all buckets.'
      : ''
  const message =
    `${name} is not supported: a lifecycle rule of this server has a prefix, Expiration in Days and ` +
    `NoncurrentVersionExpiration in NoncurrentDays.${instead}`
  return new S3Error('NotImplemented', { message, refused: name })
}

/** @param shownId the id that a client knows a rule by */
export function lifecycleConfiguration(rules: readonly LifecycleRule[], shownId: (rule: string) => string): string {
  return successDocument(ROOT, rules.map((rule) => ruleElement(rule, shownId(rule.rule))).join(''))
}

function ruleElement({ prefix, enabled, expirationDays, noncurrentDays }: LifecycleRule, id: string): string {
  const expiration = expirationDays === undefined ? '' : `<Expiration>${element('Days', expirationDays)}</Expiration>`
  const noncurrent =
    noncurrentDays === undefined
      ? ''
      : `<NoncurrentVersionExpiration>${element('NoncurrentDays', noncurrentDays)}</NoncurrentVersionExpiration>`
  return (
    `<Rule>${element('ID', id)}<Filter>${element('Prefix', prefix)}</Filter>` +
    `${element('Status', enabled ? 'Enabled' : 'Disabled')}${expiration}${noncurrent}</Rule>`
  )
}
