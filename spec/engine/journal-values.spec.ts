/** Changes, values and entries are stored in the forms that the page of the journal gives them. */
import * as fc from 'fast-check'
import { test } from 'tap'
import { PartSet } from '../../engine/domain/part-set.ts'
import { encodeStatements } from '../../engine/events/access-codec.ts'
import { AUDIT_RESULT, type AuditContext } from '../../engine/events/audit.ts'
import { decodeChange, encodeChange } from '../../engine/events/change-codec.ts'
import { CHANGE_KIND, type Change } from '../../engine/events/changes.ts'
import { encodeEntry } from '../../engine/events/entry-codec.ts'
import {
  encodeCorsRules,
  encodeDefaultRetention,
  encodeLock,
  encodePayload,
  encodePlace,
} from '../../engine/events/value-codec.ts'
import { CHANGES, payload } from '../support/arbitrary-entries.ts'
import { tableWith } from '../support/markdown-tables.ts'

const PAGE = 'spec/formats/journal.md'
const DIGEST = Buffer.from(Array.from({ length: 32 }, (_, index) => 0x40 + index))

/** Splits at commas that are outside parentheses. */
function splitFields(cell: string): string[] {
  return cell
    .split(/,(?![^(]*\))/)
    .map((field) => field.trim())
    .filter((field) => field !== '')
}

/** How many fields a row names: without those that were appended, and with them. */
function fieldCounts(cell: string): [least: number, most: number] {
  const fields = splitFields(cell)
  return [fields.filter((field) => !field.includes('†')).length, fields.length]
}

test('the change kinds of the page are those of the code, field by field', async (t) => {
  const rows = tableWith(PAGE, 'kind | name | fields after the kind')
  t.same(Object.fromEntries(rows.map(([kind, name]) => [name, Number(kind)])), CHANGE_KIND)
  for (const [kind, name = '', fields = ''] of rows) {
    const samples = fc.sample(CHANGES[name as Change['name']] as fc.Arbitrary<Change>, { numRuns: 400, seed: 1 })
    const stored = samples.map((sample) => encodeChange(sample))
    t.same([...new Set(stored.map((one) => one[0]))], [Number(kind)], `${name} begins with its kind`)
    const lengths = stored.map((one) => one.length - 1)
    const [least, most] = fieldCounts(fields)
    t.equal(Math.max(...lengths), most, `${name} has as many fields as its row`)
    t.equal(Math.min(...lengths), least, `${name} may leave out those that were appended`)
  }
  const payloads = tableWith(PAGE, 'first | meaning | rest')
  for (const [first, meaning = '', rest = ''] of payloads) {
    const kind = (['shared', 'volume', 'file'] as const).find((word) => meaning.includes(word))
    const references = fc.sample(
      payload.filter((one) => one?.kind === kind),
      { numRuns: 20, seed: 1 },
    )
    const stored = references.map((reference) => encodePayload(reference) as unknown[])
    const lengths = stored.map((one) => one.length - 1)
    t.same([...new Set(stored.map((one) => one[0]))], [Number(first)], `${kind}: first`)
    t.same([Math.min(...lengths), Math.max(...lengths)], fieldCounts(rest), `${kind}: rest`)
  }
  t.equal(payloads.length, 3)
})

/** Changes as the first version of the vocabulary stored them, and what they are now. */
test('what an earlier version left out is read for what it was', async (t) => {
  const written = [3, 2, 'a', 5, 'etag', DIGEST, [], []] as const
  const volume = { kind: 'volume', payload: 2, volume: 0, offset: 64, length: 5, checksum: 77, sealed: false } as const
  const file = { kind: 'file', payload: 2, name: 'name', length: 5, sealed: false } as const
  t.match(decodeChange([1, 2, 'photos', 'eu']), { lockEnabled: false })
  t.match(decodeChange([...written, [1, 2, 0, 64, 5, 77], false]), { payload: volume, version: undefined })
  const plain = decodeChange([...written, [2, 2, 'name', 5], true])
  t.match(plain, { payload: file, replaced: true, version: undefined, lock: undefined })
  t.same(encodeChange(plain), [...written, [2, 2, 'name', 5], true], 'and is written as it was')
  const lock = [[1, 253_402_300_799_999], null]
  const locked = decodeChange([...written, null, true, null, lock])
  const retention = { mode: 'COMPLIANCE', untilMilliseconds: Date.parse('9999-12-31T23:59:59.999Z') }
  t.match(locked, { version: undefined, lock: { retention, hold: undefined } })
  t.same(encodeChange(locked), [...written, null, true, null, lock], 'a lock without a place keeps the gap')
  t.throws(() => decodeChange([...written, null, true, null, [[2, 1], null]]), /unknown retention mode 2/)
  t.throws(() => decodeChange([...written, [3, 2], true]), /unknown payload kind 3/)
})

test('the values of the page have the forms of the code', async (t) => {
  const rows = tableWith(PAGE, 'value | form')
  const counts = Object.fromEntries(rows.map(([name, form = '']) => [name, /^`\[([^\]]*)\]`/.exec(form)?.[1]]))
  const rule = { id: 'a', origins: [], methods: [], headers: [], exposed: [], maxAgeSeconds: 1 }
  const stored: Record<string, readonly unknown[]> = {
    place: encodePlace({ isNull: true, replacesNull: 5 }),
    lock: encodeLock({ retention: { mode: 'COMPLIANCE', untilMilliseconds: 7 }, hold: false }),
    'default retention': encodeDefaultRetention({ mode: 'COMPLIANCE', unit: 'years', value: 3 }),
    'CORS rule': encodeCorsRules([rule])[0] ?? [],
    statement: encodeStatements([{ effect: 'deny', actions: ['a'], resources: ['r'] }])[0] ?? [],
  }
  for (const [name, values] of Object.entries(stored))
    t.equal(values.length, splitFields(counts[name] ?? '').length, name)
  t.same(
    Object.keys(counts).filter((name) => name !== 'parts'),
    Object.keys(stored),
  )
  t.same(stored['place'], [true, 5])
  t.same(stored['lock'], [[1, 7], false])
  t.same(stored['default retention'], [1, true, 3])
  t.same(stored['statement'], [true, ['a'], ['r']])
  const parts = new PartSet()
  for (const part of [10, 1, 7, 8]) parts.add(part)
  t.same([...parts.bytes], [0b1000_0010, 0b0000_0101], 'number n is bit n mod 8 of byte n div 8')
})

test('the fields of an entry and the results of the page are those of the code', async (t) => {
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
  const results = /result: ([a-z0-9 ,]+)/.exec(rows[0]?.[1] ?? '')?.[1]
  t.equal(
    results,
    Object.entries(AUDIT_RESULT)
      .map(([name, code]) => `${code} ${name}`)
      .join(', '),
  )
})
