/** Entries of the journal with arbitrary values, for properties of their codecs. They are made from the schemas. */
import * as fc from 'fast-check'
import { AUDIT_RESULT, type AuditContext, type AuditResult } from '../../../engine/events/audit.ts'
import { type Change, CHANGES } from '../../../engine/events/changes.ts'
import type { Fields } from '../../../engine/events/schema/compile.ts'
import * as values from '../../../engine/events/values.ts'
import { anyCharacter } from '../any-character.ts'

/** Records as the code makes them, with the ordinary prototype. */
function record<T extends object>(model: { readonly [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record(model, { noNullPrototype: true }) as unknown as fc.Arbitrary<T>
}

export const count = fc.nat({ max: Number.MAX_SAFE_INTEGER })
const text = fc.oneof(fc.string(), fc.string({ unit: anyCharacter }))

const filled = text.filter((one) => one.length > 0 && Buffer.byteLength(one) <= 255)
// oxlint-disable-next-line no-control-regex -- they are what is left out
const headerText = text.filter((one) => !/[\u0000-\u001f\u007f-\u009f\ufffd]/.test(one))
const headerName = fc.stringMatching(/^[a-z-]{1,20}$/)

function digits(length: number): fc.Arbitrary<string> {
  return fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`))
}

function bytes(lengths: fc.IntArrayConstraints): fc.Arbitrary<Buffer> {
  return fc.uint8Array(lengths).map((all) => Buffer.from(all))
}

function fieldsOf(fields: Fields, head: Readonly<Record<string, string>> = {}): fc.Arbitrary<object> {
  const heads = Object.entries(head).map(([name, value]) => [name, fc.constant(value)])
  const all = Object.entries(fields).map(([name, { kind }]) => [name, valueOf(kind.page)])
  return record(Object.fromEntries([...heads, ...all]) as Record<string, fc.Arbitrary<unknown>>)
}

/** By what the page calls a kind. */
const KINDS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  ...Object.fromEntries(
    ['sequence', 'bucket id', 'upload id', 'payload id', 'integer', 'microseconds'].map((page) => [page, count]),
  ),
  text,
  'header text': headerText,
  key: filled,
  id: filled,
  'bucket name': fc.constantFrom('photos', 'a.b-c', '0'.repeat(63)),
  'file name': digits(28),
  policy: filled,
  'client token': fc.stringMatching(/^[!-~]{1,64}$/),
  start: digits(16),
  MD5: digits(32),
  milliseconds: fc.nat({ max: 8.64e15 }),
  'volume number': fc.nat({ max: 2 ** 32 - 1 }),
  'CRC-32': fc.nat({ max: 2 ** 32 - 1 }),
  'length in a volume': fc.nat({ max: 2 ** 24 }),
  'part number': fc.integer({ min: 1, max: 10_000 }),
  count: fc.integer({ min: 1, max: 36_500 }),
  flag: fc.boolean(),
  bytes: bytes({}),
  // Part numbers as bits, at most; any bytes will do for a codec.
  parts: bytes({ maxLength: 1251 }),
  '32 bytes': bytes({ minLength: 32, maxLength: 32 }),
  '1 to 28672 bytes': bytes({ minLength: 1, maxLength: 100 }),
  'giver of a receipt': fc.stringMatching(/^[!-~]{1,100}$/),
  '64 bytes': bytes({ minLength: 64, maxLength: 64 }),
  'name of a log': fc.stringMatching(/^[a-z0-9./_-]{1,40}$/),
  '4 to 32 bytes': bytes({ minLength: 4, maxLength: 32 }),
  tags: fc
    .array(fc.tuple(fc.stringMatching(/^[a-z0-9 ä鍵_.:/=+@-]{1,128}$/), fc.stringMatching(/^[A-Z0-9 é-]{0,256}$/)), {
      maxLength: 50,
    })
    .map((list) => list.flat()),
  'header pairs': fc.array(fc.tuple(headerName, headerText)).map((list) => list.flat()),
}

function valueOf(page: string): fc.Arbitrary<unknown> {
  const [, one = '', or] = /^(.+) or (nil|0)$/.exec(page) ?? []
  if (or === 'nil') return fc.option(valueOf(one), { nil: undefined })
  if (or === '0') return fc.option(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), { nil: undefined })
  if (page.startsWith('array of ')) return fc.array(valueOf(page.slice('array of '.length)))
  if (/^(0|false) /.test(page)) return fc.constantFrom(...page.split(' or ').map((word) => word.replace(/^\w+ /, '')))
  if (page === 'payload') {
    const { variants } = values.payloadReference
    return fc.oneof(...Object.entries(variants).map(([kind, { fields }]) => fieldsOf(fields, { kind })))
  }
  const kind = KINDS[page]
  if (kind !== undefined) return kind
  for (const value of Object.values(values)) {
    if (typeof value === 'object' && 'fields' in value && value.page === page) return fieldsOf(value.fields)
  }
  throw new Error(`${page} has no arbitrary value`)
}

export const change = fc.oneof(
  ...Object.values(CHANGES).map(({ name, fields }) => fieldsOf(fields, { name })),
) as fc.Arbitrary<Change>

export const context: fc.Arbitrary<AuditContext> = record({
  principal: text,
  credentialId: fc.option(text, { nil: undefined }),
  sourceAddress: fc.option(text, { nil: undefined }),
  requestId: fc.option(text, { nil: undefined }),
  operation: text,
  resource: text,
  metadata: fc.array(fc.tuple(text, fc.oneof(text, count))).map((list) => list.flat()),
})
export const result = fc.constantFrom(...(Object.keys(AUDIT_RESULT) as AuditResult[]))
