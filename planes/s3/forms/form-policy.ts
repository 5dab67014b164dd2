/**
 * The policy of a form (S3 developer guide, "POST Policy"): until when it holds, and what the fields must be. Its signature is checked
 * elsewhere, and before.
 */
import type { Milliseconds } from '../../../engine/brands.ts'
import { S3Error } from '../errors/s3-errors.ts'
import { parseIsoTimestamp } from '../text/timestamps.ts'
import type { FileBounds } from './form-body.ts'
import type { FormFields } from './form-reader.ts'

/** Fields that no condition has to name, in addition to names that begin with `x-ignore-`. */
const EXEMPT: ReadonlySet<string> = new Set(['file', 'policy', 'x-amz-signature'])
const IGNORED_PREFIX = 'x-ignore-'
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
const SIZE = /^\d{1,15}$/
/** S3's escapes that JSON does not have, and every other one. */
const ESCAPES = /\\(?:([$v])|[^])/g

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Holds a form against its policy.
 * @param policy in base64, as it was signed
 * @param fields with their variables expanded, and `bucket`: to which the form was sent
 * @returns the bounds of the file that the policy gives
 * @throws S3Error InvalidPolicyDocument; AccessDenied: the policy has expired, a condition does not hold, or a field that no condition
 *   names
 */
export function judgeForm(policy: string, fields: FormFields, now: Milliseconds): FileBounds {
  const { expiration, conditions } = readPolicy(policy)
  if (now > expiration) throw denied('Policy expired.')
  let bounds: FileBounds = { least: 0, most: Infinity }
  const named = new Set<string>()
  for (const condition of conditions) {
    const [operator, subject, value] = asArray(condition)
    if (typeof operator !== 'string') throw failed(condition)
    if (operator.toLowerCase() === 'content-length-range') {
      const [least, most] = [sizeOf(subject), sizeOf(value)]
      if (least === undefined || most === undefined) throw failed(condition)
      bounds = { least: Math.max(bounds.least, least), most: Math.min(bounds.most, most) }
      continue
    }
    if (!holds(operator, subject, value, fields, named)) throw failed(asArray(condition))
  }
  const extra = [...fields.keys()].find(
    (name) => !named.has(name) && !EXEMPT.has(name) && !name.startsWith(IGNORED_PREFIX),
  )
  if (extra !== undefined) throw denied(`Extra input fields: ${extra}`)
  return bounds
}

/** Whether a condition on a field holds; what cannot be read does not. A field that the form does not have meets none. */
function holds(operator: string, subject: unknown, value: unknown, fields: FormFields, named: Set<string>): boolean {
  if (typeof subject !== 'string' || typeof value !== 'string' || !subject.startsWith('$')) return false
  const name = subject.slice(1).toLowerCase()
  named.add(name)
  const present = fields.get(name)
  if (present === undefined) return false
  switch (operator.toLowerCase()) {
    case 'eq':
      return present === value
    case 'starts-with':
      // A list of types: each of them.
      if (name === 'content-type') return present.split(',').every((type) => type.trimStart().startsWith(value))
      return present.startsWith(value)
    default:
      return false
  }
}

interface Policy {
  readonly expiration: Milliseconds
  readonly conditions: readonly unknown[]
}

function readPolicy(policy: string): Policy {
  const document = readJson(policy)
  if (typeof document !== 'object' || document === null || Array.isArray(document)) throw invalid('Invalid JSON.')
  const { expiration, conditions } = document as Readonly<Record<string, unknown>>
  const end = typeof expiration === 'string' ? parseIsoTimestamp(expiration) : undefined
  if (end === undefined) throw invalid("Policy 'expiration' must be a time such as 2030-01-01T12:00:00.000Z.")
  if (!Array.isArray(conditions)) throw invalid("Policy 'conditions' must be a list.")
  return { expiration: end, conditions: conditions as readonly unknown[] }
}

function readJson(policy: string): unknown {
  if (!BASE64.test(policy)) throw invalid('It must be in base64.')
  try {
    const text = decoder.decode(Buffer.from(policy, 'base64'))
    return JSON.parse(text.replace(ESCAPES, (all, own) => (own === undefined ? all : own === '$' ? '$' : '\\u000b')))
  } catch {
    throw invalid('Invalid JSON.')
  }
}

/**
 * A condition as a list: operator, `$` and field, value. An object with one member is `eq`.
 * @throws S3Error InvalidPolicyDocument
 */
function asArray(condition: unknown): readonly unknown[] {
  if (Array.isArray(condition)) return condition.length === 3 ? (condition as readonly unknown[]) : []
  if (typeof condition !== 'object' || condition === null) throw invalid('A condition must be an object or a list.')
  const [member, ...others] = Object.entries(condition)
  if (member === undefined || others.length > 0) {
    throw invalid('Invalid Simple-Condition: Simple-Conditions must have exactly one property specified.')
  }
  const [name, value] = member
  if (typeof value !== 'string') throw invalid('Invalid Simple-Condition: value must be a string.')
  return ['eq', `$${name}`, value]
}

/** Bytes, as a number or as its digits. */
function sizeOf(value: unknown): number | undefined {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  return SIZE.test(text) ? Number(text) : undefined
}

function invalid(why: string): S3Error {
  return new S3Error('InvalidPolicyDocument', { message: `Invalid Policy: ${why}` })
}

function denied(why: string): S3Error {
  return new S3Error('AccessDenied', { message: `Invalid according to Policy: ${why}` })
}

/** Names the condition as S3 does: a list in JSON with blanks after its commas. */
function failed(condition: unknown): S3Error {
  const text = Array.isArray(condition)
    ? `[${condition.map((each) => JSON.stringify(each)).join(', ')}]`
    : JSON.stringify(condition)
  return denied(`Policy Condition failed: ${text}`)
}
