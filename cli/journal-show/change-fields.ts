/** The changes of an entry with the names that `spec/formats/journal.md` gives their fields. */
import { hexadecimal } from '../journal-verify/bodies.ts'

/** A value that JSON can hold. */
export type Printable = string | number | boolean | null | readonly Printable[] | { readonly [name: string]: Printable }

type Reader = (value: unknown) => Printable

/** Kinds of payload by their first value: name, then the fields behind it. */
const payloadTable: Readonly<Record<number, readonly [name: string, ...fields: string[]]>> = {
  0: ['shared', 'payload_id'],
  1: ['volume', 'payload_id', 'volume', 'offset', 'length', 'crc32'],
  2: ['file', 'payload_id', 'file', 'length'],
}

/** Kinds of change: name, then the fields behind the kind, those with a form of their own with their reader. */
const changeTable: Readonly<
  Record<number, readonly [name: string, ...fields: (string | readonly [string, Reader])[]]>
> = {
  1: ['bucket.created', 'bucket_id', 'name', 'region'],
  2: ['bucket.deleted', 'bucket_id', 'name'],
  3: [
    'object.written',
    'bucket_id',
    'key',
    'size',
    'etag',
    'sha256',
    ['headers', namedPairs],
    ['user_metadata', namedPairs],
    ['payload', namedPayload],
    'replaced',
  ],
  4: ['object.deleted', 'bucket_id', 'key'],
  5: ['journal.recovered', 'segment_number', 'offset', 'length', 'sha256'],
  6: ['server.started', 'version', 'start'],
  7: ['server.stopped'],
}

/** Every kind of change that has names, for comparison with the page. */
export const changeNames: ReadonlyMap<number, string> = new Map(
  Object.entries(changeTable).map(([kind, [name]]) => [Number(kind), name]),
)

/** A change with named fields. One of an unknown kind, or with more fields than are known, shows them unnamed. */
export function namedChange(change: unknown): Printable {
  const [kind, ...values] = Array.isArray(change) ? change : [change]
  const row = typeof kind === 'number' ? changeTable[kind] : undefined
  if (row === undefined) return { kind: printable(kind), fields: values.map(printable) }
  const [name, ...fields] = row
  const named = fields.map((field, index): [string, Printable] => {
    const [fieldName, read] = typeof field === 'string' ? [field, printable] : field
    return [fieldName, read(values[index])]
  })
  const surplus = values.slice(fields.length).map(printable)
  return { kind: name, ...Object.fromEntries(named), ...(surplus.length === 0 ? {} : { fields: surplus }) }
}

/** Pairs as an object; as they are when a name comes twice, because an object would drop one. */
export function namedPairs(pairs: unknown): Printable {
  if (!Array.isArray(pairs)) return printable(pairs)
  const entries: [string, Printable][] = []
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    entries.push([String(pairs[index]), printable(pairs[index + 1])])
  }
  const faithful = pairs.length % 2 === 0 && new Set(entries.map(([name]) => name)).size === entries.length
  return faithful ? Object.fromEntries(entries) : pairs.map(printable)
}

function namedPayload(payload: unknown): Printable {
  if (!Array.isArray(payload)) return printable(payload)
  const [first, ...values] = payload
  const row = typeof first === 'number' ? payloadTable[first] : undefined
  if (row === undefined) return payload.map(printable)
  const [name, ...fields] = row
  return {
    kind: name,
    ...Object.fromEntries(fields.map((field, index): [string, Printable] => [field, printable(values[index])])),
  }
}

/** Any decoded value in the form JSON can hold: bytes in hexadecimal, integers beyond 2^53 in decimal digits. */
export function printable(value: unknown): Printable {
  if (value === undefined || value === null) return null
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (value instanceof Uint8Array) return hexadecimal(value)
  if (Array.isArray(value)) return value.map(printable)
  return String(value)
}
