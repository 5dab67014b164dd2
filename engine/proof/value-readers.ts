/** Readers of JSON values: each returns the value with its type, or throws with place and fault. */
import { proofMicroseconds } from './proof-time.ts'

/** A value does not have the form of a bundle. The message names the member. */
export class BundleFormError extends Error {
  override readonly name = 'BundleFormError'

  constructor(member: string, reason: string) {
    super(`${member}: ${reason}`)
  }
}

/** @throws BundleFormError */
type Reader<T> = (value: unknown, member: string) => T

type Shape = Readonly<Record<string, Reader<unknown>>>
type ReadShape<S extends Shape> = { readonly [Name in keyof S]: S[Name] extends Reader<infer T> ? T : never }

/**
 * An object with these members and no others: an unknown member would not be signed.
 * @param optional members that may be absent; null is not absent
 */
export function object<R extends Shape, O extends Shape = Record<never, never>>(
  required: R,
  optional?: O,
): Reader<ReadShape<R> & Partial<ReadShape<O>>> {
  return (value, member) => {
    const present = membersOf(value, member)
    const known = { ...required, ...optional }
    for (const name of present.keys()) {
      if (!Object.hasOwn(known, name)) throw new BundleFormError(pathOf(member, name), 'unknown member')
    }
    const read: Record<string, unknown> = {}
    for (const [name, reader] of Object.entries(known)) {
      const path = pathOf(member, name)
      if (present.has(name)) read[name] = reader(present.get(name), path)
      else if (Object.hasOwn(required, name)) throw new BundleFormError(path, 'is missing')
    }
    return read as ReadShape<R> & Partial<ReadShape<O>>
  }
}

/** The members of a value that must be an object. @throws BundleFormError */
export function membersOf(value: unknown, member: string): ReadonlyMap<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new BundleFormError(member, 'must be an object')
  }
  return new Map(Object.entries(value))
}

function pathOf(member: string, name: string): string {
  return member === '' ? name : `${member}.${name}`
}

export function list<T>(reader: Reader<T>): Reader<T[]> {
  return (value, member) => {
    if (!Array.isArray(value)) throw new BundleFormError(member, 'must be a list')
    return value.map((item: unknown, index) => reader(item, `${member}[${index}]`))
  }
}

export const text: Reader<string> = (value, member) => {
  if (typeof value !== 'string') throw new BundleFormError(member, 'must be a string')
  return value
}

/** A text of a form that `what` describes. */
function textOf(form: { test(text: string): boolean }, what: string): Reader<string> {
  return (value, member) => {
    const found = text(value, member)
    if (!form.test(found)) throw new BundleFormError(member, `must be ${what}`)
    return found
  }
}

/** This many bytes in lower-case hexadecimal. */
export function hexadecimal(bytes: number): Reader<string> {
  return textOf(new RegExp(`^[0-9a-f]{${bytes * 2}}$`), `${bytes} bytes in lower-case hexadecimal`)
}

/** Standard base64 with padding (RFC 4648 section 4), of any length. */
export const base64 = textOf({ test: isBase64 }, 'base64')

const BASE64_DIGITS = /^[A-Za-z0-9+/]*$/
/** The last digit before one or two `=` has bits that belong to no byte and must be zero: one text for each value. */
const BASE64_ENDS = [/^$/, /[AEIMQUYcgkosw048]$/, /[AQgw]$/]

function isBase64(digits: string): boolean {
  const padding = digits.endsWith('==') ? 2 : digits.endsWith('=') ? 1 : 0
  const bare = digits.slice(0, digits.length - padding)
  if (digits.length % 4 !== 0 || !BASE64_DIGITS.test(bare)) return false
  return padding === 0 || (BASE64_ENDS[padding] as RegExp).test(bare)
}

/** A time as RFC 3339 text. */
export const time = textOf(
  { test: (found) => proofMicroseconds(found) !== undefined },
  'an RFC 3339 time with T and Z or an offset, and at most six digits of a second',
)

/** 0 to 2^53 - 1. */
export const whole: Reader<number> = (value, member) => {
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw new BundleFormError(member, 'must be a whole number below 2^53')
  }
  return value as number
}

/** One of these texts. */
export function oneOf<T extends string>(...allowed: readonly T[]): Reader<T> {
  return (value, member) => {
    const found = allowed.find((each) => each === value)
    if (found === undefined) throw new BundleFormError(member, `must be ${allowed.join(' or ')}`)
    return found
  }
}
