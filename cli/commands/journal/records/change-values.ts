/** Values of changes as JSON. A value of an unexpected form is shown as it is. */
import { hexadecimal } from '../../../../engine/verify/bodies.ts'
import { formatMicroseconds } from './rfc3339-time.ts'

/** A value that JSON can hold. */
export type Printable = string | number | boolean | null | readonly Printable[] | { readonly [name: string]: Printable }

/** Shows one decoded value; never fails. */
type Reader = (value: unknown) => Printable

/** A field: its name, and its reader if that is not `printable`. */
export type Field = string | readonly [name: string, read: Reader]

/** Any decoded value: bytes in hexadecimal, integers beyond 2^53 in decimal digits. */
export function printable(value: unknown): Printable {
  if (value === undefined || value === null) return null
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (value instanceof Uint8Array) return hexadecimal(value)
  if (Array.isArray(value)) return value.map(printable)
  return String(value)
}

/** Names the values of an array. Missing values are left out; values without a name are in `fields`. */
export function named(fields: readonly Field[], values: readonly unknown[]): { readonly [name: string]: Printable } {
  const entries = fields.slice(0, values.length).map((field, index): [string, Printable] => {
    const [name, read] = typeof field === 'string' ? [field, printable] : field
    return [name, read(values[index])]
  })
  const surplus = values.slice(fields.length).map(printable)
  return { ...Object.fromEntries(entries), ...(surplus.length === 0 ? {} : { fields: surplus }) }
}

/** A reader of arrays whose values have these names. */
export function tuple(...fields: readonly Field[]): Reader {
  return (value) => (Array.isArray(value) ? named(fields, value) : printable(value))
}

/** A reader of arrays of one kind of value. */
export function listOf(read: Reader): Reader {
  return (value) => (Array.isArray(value) ? value.map(read) : printable(value))
}

/** A reader of numbers, or of false and true, that encode words. */
export function wordOf(...words: readonly string[]): Reader {
  return (value) => {
    const index = typeof value === 'boolean' ? Number(value) : value
    return (typeof index === 'number' ? words[index] : undefined) ?? printable(value)
  }
}

/** Pairs as an object; unchanged if a name is repeated, because an object would drop one. */
export function namedPairs(pairs: unknown): Printable {
  if (!Array.isArray(pairs)) return printable(pairs)
  const entries: [string, Printable][] = []
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    entries.push([String(pairs[index]), printable(pairs[index + 1])])
  }
  const faithful = pairs.length % 2 === 0 && new Set(entries.map(([name]) => name)).size === entries.length
  return faithful ? Object.fromEntries(entries) : pairs.map(printable)
}

/** Kinds of payload by their first value: name, then the fields after it. */
const payloadTable: Readonly<Record<number, readonly [name: string, ...fields: string[]]>> = {
  0: ['shared', 'payload_id'],
  1: ['volume', 'payload_id', 'volume', 'offset', 'length', 'crc32', 'sealed'],
  2: ['file', 'payload_id', 'file', 'length', 'sealed'],
}

export function namedPayload(payload: unknown): Printable {
  if (!Array.isArray(payload)) return printable(payload)
  const [first, ...values] = payload
  const row = typeof first === 'number' ? payloadTable[first] : undefined
  if (row === undefined) return payload.map(printable)
  const [name, ...fields] = row
  return { kind: name, ...named(fields, values) }
}

/** Microseconds since 1970 as RFC 3339 text. */
export function microseconds(value: unknown): Printable {
  return typeof value === 'number' ? formatMicroseconds(value) : printable(value)
}

/** Milliseconds since 1970 as RFC 3339 text. */
export function milliseconds(value: unknown): Printable {
  const date = new Date(typeof value === 'number' ? value : Number.NaN)
  return Number.isNaN(date.getTime()) ? printable(value) : date.toISOString()
}

/** Part numbers stored as bits, shown as ranges: `1-3,5`. */
export function partRanges(bits: unknown): Printable {
  if (!(bits instanceof Uint8Array)) return printable(bits)
  const ranges: string[] = []
  let first: number | undefined
  // One bit beyond the end, which is never set and ends the last range.
  for (let part = 0; part <= bits.length * 8; part += 1) {
    const isSet = (((bits[part >> 3] ?? 0) >> (part & 7)) & 1) === 1
    if (isSet) {
      first ??= part
      continue
    }
    if (first !== undefined) ranges.push(first === part - 1 ? String(first) : `${first}-${part - 1}`)
    first = undefined
  }
  return ranges.join(',')
}
