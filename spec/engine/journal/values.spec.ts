/** Values in the journal and in the audit index. */
import * as fc from 'fast-check'
import { test, type Test } from 'tap'
import { PartSet } from '../../../engine/domain/part-set.ts'
import { AUDIT_RESULT, type AuditContext, auditPart } from '../../../engine/events/audit.ts'
import { CHANGES, decodeChange, encodeChange } from '../../../engine/events/changes.ts'
import { decodeAuditPart, decodeEntry, encodeEntry } from '../../../engine/events/entry-codec.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import type { Fields } from '../../../engine/events/schema/compile.ts'
import type { Kind } from '../../../engine/events/schema/kinds.ts'
import * as values from '../../../engine/events/values.ts'
import { change, context, count, result } from '../../support/journals/arbitrary-entries.ts'
import { CHANGE_TABLES } from '../../support/journals/change-tables.ts'
import { markdownTable, tableWith } from '../../support/pages/markdown-tables.ts'

const PAGE = 'spec/formats/journal.md'
const FILE_NAME = '00112233445566778899aabbccdd'
const DIGEST = Buffer.from(Array.from({ length: 32 }, (_, index) => 0x40 + index))

test('the changes, values and payloads of the page are those of the schema', async (t) => {
  for (const [header, rows] of Object.entries(CHANGE_TABLES)) {
    t.same(tableWith(PAGE, header), rows, `the table for the page:\n${markdownTable(header, rows)}`)
  }
})

test('fields at the end that are nil or false are left out, and a field after them keeps the gap', async (t) => {
  const written = [3, 2, 'a', 5, 'etag', DIGEST, [], []] as const
  const file = { kind: 'file', payload: 2, name: FILE_NAME, length: 5, sealed: false } as const
  const plain = decodeChange([...written, [2, 2, FILE_NAME, 5, false], true, null, null, null, null])
  t.match(plain, { payload: file, replaced: true, version: undefined, lock: undefined, source: undefined })
  t.same(encodeChange(plain), [...written, [2, 2, FILE_NAME, 5], true])
  t.same(decodeChange(encodeChange(plain) as unknown[]), plain)
  const summed = decodeChange([...written, null, true, null, null, [0, DIGEST.subarray(0, 4)]])
  t.match(summed, { lock: undefined, checksum: { algorithm: 'crc32', value: DIGEST.subarray(0, 4), composite: false } })
  t.same(encodeChange(summed), [...written, null, true, null, null, [0, DIGEST.subarray(0, 4)]])
})

test('a form that is not known is refused by its place', async (t) => {
  const written = [3, 2, 'a', 5, 'etag', DIGEST, [], []] as const
  t.throws(
    () => decodeChange([...written, null, true, null, [[2, 1], null], null, null]),
    /^object.written: lock: retention: mode: 0 GOVERNANCE or 1 COMPLIANCE expected, 2 found$/,
  )
  t.throws(
    () => decodeChange([...written, [3, 2], true, null, null, null, null]),
    /^object.written: payload: a known payload expected, 3 found$/,
  )
})

test('a set of parts is bytes whose bits are its numbers', async (t) => {
  const parts = new PartSet()
  for (const part of [10, 1, 7, 8]) parts.add(part)
  t.same([...parts.bytes], [0b1000_0010, 0b0000_0101], 'number n is bit n mod 8 of byte n div 8')
})

test('the fields of an entry have the order of the page', async (t) => {
  const rows = tableWith(PAGE, 'index | field')
  const audit: AuditContext = {
    principal: 'principal',
    credentialId: 'credential id',
    sourceAddress: 'source address',
    requestId: 'request id',
    operation: 'operation',
    resource: 'resource',
    metadata: ['metadata', 1],
  }
  const body = encodeEntry(audit, 'failure', 77, [{ name: 'server.stopped' }])
  // An array of ten, then small values: taken apart here by hand, byte by byte.
  t.equal(body[0], 0x90 + rows.length)
  t.equal(body[1], AUDIT_RESULT.failure)
  let at = 2
  for (const [index, field = ''] of rows.slice(1, 7)) {
    const expected = Object.values(audit)[Number(index) - 1] as string
    t.equal(body[at], 0xa0 + expected.length, `${index} is a text`)
    t.equal(body.toString('latin1', at + 1, at + 1 + expected.length), expected)
    t.ok(field.startsWith(expected), `${index} is ${expected}`)
    at += 1 + expected.length
  }
  t.same([...body.subarray(at)], [77, 0x92, 0xa8, ...Buffer.from('metadata'), 1, 0x91, 0x91, 7])
})

test('it is what the whole entry has, and the bytes stay as they are', async (t) => {
  const intent = fc.option(count, { nil: undefined })
  const changes = fc.array(change, { maxLength: 3 })
  fc.assert(
    fc.property(context, result, intent, changes, (audit, outcome, attempt, done) => {
      const body = Buffer.from(encodeEntry(audit, outcome, attempt, done))
      const before = Buffer.from(body)
      const { changes: _, ...expected } = decodeEntry(body)
      t.same(decodeAuditPart(body), expected)
      return body.equals(before)
    }),
    { numRuns: 300 },
  )
})

test('what is no entry is refused, and stays as it is', async (t) => {
  const entry = Buffer.from(
    encodeEntry(
      {
        principal: 'a',
        credentialId: undefined,
        sourceAddress: undefined,
        requestId: undefined,
        operation: 'o',
        resource: 'r',
        metadata: [],
      },
      'success',
      undefined,
      [{ name: 'server.stopped' }],
    ),
  )
  const unknownResult = Buffer.from(entry)
  unknownResult[1] = 9
  for (const body of [Buffer.from([0x90]), Buffer.from([0xc0]), entry.subarray(0, 5), unknownResult]) {
    const before = Buffer.from(body)
    t.throws(() => decodeAuditPart(body))
    t.ok(body.equals(before))
  }
})

/** One of everything that MessagePack can hold, and numbers that are not whole or not safe. */
const ANYTHING = [
  null,
  true,
  false,
  0,
  1,
  9,
  -1,
  1.5,
  2 ** 53,
  'text',
  '',
  new Uint8Array(3),
  new Uint8Array(32),
  [],
  ['a'],
  ['a', 'b'],
  ['a', 1],
  {},
  new Map(),
  9n,
  undefined,
] as const

interface Form {
  readonly sample: unknown
  readonly accepts: (value: unknown) => boolean
}

const isWhole = (value: unknown): boolean => [0, 1, 9].includes(value as number)
const isText = (value: unknown): boolean => typeof value === 'string'
const isFilled = (value: unknown): boolean => isText(value) && value !== ''
const isFlag = (value: unknown): boolean => value === true || value === false
const isBytes = (value: unknown): boolean => value instanceof Uint8Array
const isOf4To32 = (value: unknown): boolean => value instanceof Uint8Array && value.length >= 4 && value.length <= 32
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
const whole: Form = { sample: 7, accepts: isWhole }
const positive: Form = { sample: 7, accepts: (value) => isWhole(value) && value !== 0 }
const LOG_NAME = /^[A-Za-z0-9._/-]{1,255}$/

/** What the page promises of each kind, said again without the code that keeps it. */
const FORMS: Readonly<Record<string, Form>> = {
  sequence: whole,
  'bucket id': whole,
  'upload id': whole,
  'payload id': whole,
  'volume number': whole,
  'CRC-32': whole,
  'length in a volume': whole,
  'part number': positive,
  count: positive,
  integer: whole,
  milliseconds: whole,
  microseconds: whole,
  text: { sample: 't', accepts: isText },
  'header text': { sample: 't', accepts: isText },
  key: { sample: 'k', accepts: isFilled },
  id: { sample: 'i', accepts: isFilled },
  'bucket name': { sample: 'photos', accepts: isFilled },
  policy: { sample: '{}', accepts: isFilled },
  'client token': { sample: 'token', accepts: isFilled },
  'file name': { sample: '00112233445566778899aabbccdd', accepts: () => false },
  start: { sample: '0011223344556677', accepts: () => false },
  MD5: { sample: '00112233445566778899aabbccddeeff', accepts: () => false },
  flag: { sample: true, accepts: isFlag },
  bytes: { sample: new Uint8Array(5), accepts: isBytes },
  parts: { sample: new Uint8Array(5), accepts: isBytes },
  '32 bytes': { sample: new Uint8Array(32), accepts: (value) => isBytes(value) && (value as Uint8Array).length === 32 },
  '64 bytes': { sample: new Uint8Array(64), accepts: (value) => isBytes(value) && (value as Uint8Array).length === 64 },
  '1 to 28672 bytes': { sample: new Uint8Array(9), accepts: isBytes },
  'giver of a receipt': { sample: 'https://tsa.example/', accepts: isFilled },
  'name of a log': { sample: 'log/1', accepts: (value) => LOG_NAME.test(String(value)) && typeof value === 'string' },
  '4 to 32 bytes': { sample: new Uint8Array(4), accepts: isOf4To32 },
  'header pairs': { sample: ['a', 'b'], accepts: (value) => isTexts(value) && (value as unknown[]).length !== 1 },
  tags: { sample: ['a', 'b'], accepts: (value) => isTexts(value) && (value as unknown[]).length !== 1 },
  'pairs of text with text or integer': {
    sample: ['a', 1],
    accepts: (value) => Array.isArray(value) && value.length !== 1,
  },
  payload: { sample: [0, 7], accepts: () => false },
}

const RECORDS = new Map(
  Object.values(values).flatMap((value) =>
    typeof value === 'object' && 'fields' in value ? [[value.page, value] as const] : [],
  ),
)

function formOf(page: string): Form {
  const [, orNil] = /^(.+) or nil$/.exec(page) ?? []
  if (orNil !== undefined) {
    const { sample, accepts } = formOf(orNil)
    return { sample, accepts: (value) => value === null || accepts(value) }
  }
  const [, orZero] = /^(.+) or 0$/.exec(page) ?? []
  if (orZero !== undefined) return formOf(orZero)
  const [, item] = /^array of (.+)$/.exec(page) ?? []
  if (item !== undefined) {
    const { sample, accepts } = formOf(item)
    return { sample: [sample], accepts: (value) => Array.isArray(value) && value.every(accepts) }
  }
  const words = page.split(' or ')
  if (words.every((word, at) => word.startsWith(`${at} `))) {
    return { sample: 1, accepts: (value) => Number.isInteger(value) && words[value as number] !== undefined }
  }
  if (page.startsWith('false ')) return { sample: true, accepts: isFlag }
  const record = RECORDS.get(page)
  if (record !== undefined) return { sample: samplesOf(record.fields), accepts: () => false }
  const form = FORMS[page]
  if (form === undefined) throw new Error(`${page} has no form in this table`)
  return form
}

function samplesOf(fields: Fields): unknown[] {
  return Object.values(fields).map(({ kind }) => formOf(kind.page).sample)
}

/** Tries anything in place of each field, and other numbers of fields. `head` is what the array begins with. */
function tryFields(t: Test, name: string, head: unknown[], fields: Fields, decode: (stored: unknown) => unknown): void {
  const sample = [...head, ...samplesOf(fields)]
  t.ok(decode(sample), `${name} accepts the samples`)
  let at = head.length
  for (const { kind, label } of Object.values(fields)) {
    const { accepts } = formOf(kind.page)
    const accepted = ANYTHING.filter((value) => {
      try {
        return decode(sample.with(at, value)) !== undefined
      } catch (error) {
        const { name: thrown, message } = error as Error
        if (thrown !== 'FormError' || !message.startsWith(`${name}: ${label}: `))
          t.fail(`${name}, ${label}: ${message}`)
        return false
      }
    })
    t.same(accepted, ANYTHING.filter(accepts), `${name}: ${label}`)
    at += 1
  }
  const least = sample.length - Object.values(fields).filter(({ trailing }) => trailing !== undefined).length
  const lengths = least === sample.length ? `${least}` : `${least} to ${sample.length}`
  for (let length = head.length; length < sample.length; length += 1) {
    if (length >= least) t.ok(decode(sample.slice(0, length)))
    else {
      const message = `${name}: array of ${lengths}`
      t.throws(() => decode(sample.slice(0, length)), { name: 'FormError', message })
    }
  }
  t.throws(() => decode([...sample, null]), { name: 'FormError', message: `${sample.length} expected` }, 'one too many')
}

test('every field of every change refuses every other type', async (t) => {
  for (const { name, code, fields } of Object.values(CHANGES)) {
    await t.test(name, async (each) => {
      tryFields(each, name, [code], fields, decodeChange)
      const stored = [code, ...samplesOf(fields)]
      each.same(encodeChange(decodeChange(stored)), stored, 'and what is accepted is stored as it was')
    })
  }
})

test('every field of every value refuses every other type', async (t) => {
  for (const { page, fields, decode } of RECORDS.values()) {
    await t.test(page, async (value) => tryFields(value, page, [], fields, (stored) => decode(stored, page)))
  }
  const { variants, decode } = values.payloadReference
  for (const { code, meaning, fields } of Object.values(variants)) {
    await t.test(meaning, async (one) =>
      tryFields(one, 'payload', [code], fields, (stored) => decode(stored, 'payload')),
    )
  }
})

test('every field of the audit part refuses every other type', async (t) => {
  tryFields(t, 'entry', [], auditPart.fields, (stored) => auditPart.decode(stored, 'entry'))
})

/** Texts and numbers that have the right type, and would leave the store or end the program where they are used. */
const HOSTILE: readonly (readonly [page: string, values: readonly unknown[]])[] = [
  [
    'file name',
    ['../../../../x', '/etc/passwd', '', '.', '00112233445566778899AABBCCDD', `${FILE_NAME}\n`, `${FILE_NAME}0`],
  ],
  ['bucket name', ['', '../x', 'a/b', 'A-bucket', 'b'.repeat(64), 'b\u0000b']],
  ['key', ['', 'k'.repeat(1025), 'ä'.repeat(513)]],
  ['id', ['', 'i'.repeat(256)]],
  ['client token or nil', ['', 'a b', 'ü', 'a\n', 'x'.repeat(65)]],
  ['header text', ['a\r\nset-cookie: b', 'a\u0000', '\u007f']],
  ['header pairs', [['a', 'b\r\nc: d'], 'a\r\nb c'.split(' '), 'a: b'.split(' ')]],
  ['start', ['0011', '../../0011223344', '00112233445566778']],
  ['MD5', ['', '0'.repeat(31), '../../../../../../../../../../x01']],
  ['part number', [0, 10_001]],
  ['parts', [new Uint8Array(1252)]],
  ['volume number', [2 ** 32]],
  ['CRC-32', [2 ** 32]],
  ['length in a volume', [2 ** 24 + 1]],
  ['milliseconds', [8.64e15 + 1]],
  ['count', [0, 36_501]],
]

test('a value that would be a path, a key of a row, a header or a length beyond all bounds is refused', async (t) => {
  const kinds = new Map<string, Kind<unknown>>()
  const keep = (fields: Fields): void => {
    for (const { kind } of Object.values(fields)) kinds.set(kind.page, kind)
  }
  for (const { fields } of [...Object.values(CHANGES), ...RECORDS.values()]) keep(fields)
  for (const { fields } of Object.values(values.payloadReference.variants)) keep(fields)
  for (const [page, hostile] of HOSTILE) {
    for (const value of hostile) {
      t.throws(() => kinds.get(page)?.decode(value, page), { name: 'FormError' }, `${page}: ${JSON.stringify(value)}`)
    }
  }
  const paths = new StorePaths('/store')
  t.equal(paths.file(FILE_NAME), `/store/payloads/files/dd/${FILE_NAME}`)
  for (const name of ['../../../../x', '..', '', `${FILE_NAME}/../../x`]) t.throws(() => paths.file(name), RangeError)
})

test('what is not a change at all is refused', async (t) => {
  for (const stored of [...ANYTHING, [99], [0], ['bucket.created', 1, 'b', 'eu'], ['3'], [[3]]]) {
    t.throws(() => decodeChange(stored), { name: 'FormError', message: /^change: (array|a known kind) expected/ })
  }
})

test('no kind and no name is given twice', async (t) => {
  const all = Object.values(CHANGES)
  t.equal(new Set(all.map(({ code }) => code)).size, all.length)
  t.equal(new Set(all.map(({ name }) => name)).size, all.length)
})
