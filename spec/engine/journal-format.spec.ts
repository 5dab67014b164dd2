import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { sha256 } from '@noble/hashes/sha2.js'
import * as fc from 'fast-check'
import { test } from 'tap'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { PartSet } from '../../engine/domain/part-set.ts'
import { encodeStatements } from '../../engine/events/access-codec.ts'
import { AUDIT_RESULT, type AuditContext } from '../../engine/events/audit.ts'
import { decodeChange, encodeChange, type StoredChange } from '../../engine/events/change-codec.ts'
import { CHANGE_KIND, type Change } from '../../engine/events/changes.ts'
import { decodeEntry, encodeEntry } from '../../engine/events/entry-codec.ts'
import {
  encodeCorsRules,
  encodeDefaultRetention,
  encodeLock,
  encodePayload,
  encodePlace,
} from '../../engine/events/value-codec.ts'
import { BatchBuilder } from '../../engine/journal/batch-builder.ts'
import { decodeBatchHeader, readRecords } from '../../engine/journal/batch-reader.ts'
import * as format from '../../engine/journal/format.ts'
import { HeadFile } from '../../engine/journal/head-mark.ts'
import { decodeSegmentHeader, encodeSegmentHeader } from '../../engine/journal/segment.ts'
import { CHANGES, context, change, count, payload, result } from '../support/arbitrary-entries.ts'
import { assertBytes, isZero, numberOf } from '../support/byte-layout.ts'
import { byteFields, tableWith } from '../support/markdown-tables.ts'

const PAGE = 'spec/formats/journal.md'
const text = readFileSync(PAGE, 'utf8')
const HASH = Buffer.from(Array.from({ length: 32 }, (_, index) => 0xa0 + index))
const DIGEST = Buffer.from(Array.from({ length: 32 }, (_, index) => 0x40 + index))
const DEPLOYMENT = Buffer.from(Array.from({ length: 16 }, (_, index) => 0x10 + index))

test('the segment header is laid out as the page says', async (t) => {
  const header = {
    segmentNumber: 0x0102030405,
    firstSequence: 0x1112131415,
    firstBatch: 0x2122232425,
    createdMicroseconds: 0x3132333435,
    deploymentId: DEPLOYMENT,
    chainHead: HASH,
    previousDigest: DIGEST,
  }
  const bytes = encodeSegmentHeader(header)
  assertBytes(t, bytes, byteFields(tableWith(PAGE, 'offset | size | field')), {
    'magic, ASCII': format.SEGMENT_HEADER.magic,
    'format version': format.FORMAT_VERSION,
    'header length': format.SEGMENT_HEADER.bytes,
    zero: 'zero',
    'segment number': header.segmentNumber,
    'first sequence': header.firstSequence,
    'first batch number': header.firstBatch,
    'creation time': header.createdMicroseconds,
    'deployment id': DEPLOYMENT,
    'chain head': HASH,
    'content digest of the segment before': DIGEST,
    'CRC-32 of bytes 0 to 251': 'checksum',
  })
  t.same(decodeSegmentHeader(bytes), {
    ...header,
    deploymentId: Uint8Array.from(DEPLOYMENT),
    chainHead: Uint8Array.from(HASH),
    previousDigest: Uint8Array.from(DIGEST),
  })
  t.match(text, format.SEGMENT_HEADER.magic)
})

/** One batch of two records behind a known chain head, as the writer makes it. */
function twoRecords(bodies: readonly [Buffer, Buffer]): Buffer {
  const builder = new BatchBuilder(HASH, 5_000)
  builder.begin(0x0a0b0c0d0e)
  builder.add(format.RECORD_KIND.audit, 6_000, bodies[0])
  builder.add(format.RECORD_KIND.change, 5_500, bodies[1])
  return Buffer.from(builder.finish(0x1a1b1c1d1e, 0x2a2b2c2d2e, true))
}

const BODIES = [Buffer.from('body of eleven.'.slice(0, 11)), Buffer.from('sixteen bytes!!!')] as const
/** Frame and body, padded to 8. */
const RECORD_BYTES = [104, 104] as const

test('J2 the batch header and trailer are laid out as the page says', async (t) => {
  const batch = twoRecords(BODIES)
  assertBytes(t, batch.subarray(0, 64), byteFields(tableWith(PAGE, 'offset in the batch header | size | field')), {
    'magic, ASCII': format.BATCH_HEADER.magic,
    'format version': format.FORMAT_VERSION,
    'flags; bit 0': format.BATCH_FLAG_SEALS,
    'batch number': 0x1a1b1c1d1e,
    'first sequence': 0x0a0b0c0d0e,
    'record count': 2,
    'B, a multiple of 8': RECORD_BYTES[0] + RECORD_BYTES[1],
    'segment number': 0x2a2b2c2d2e,
    zero: 'zero',
    'CRC-32 of bytes 0 to 59': 'checksum',
  })
  const parts = tableWith(PAGE, 'part | size | content')
  t.same(
    parts.map(([part, size]) => [part, size]),
    [
      ['header', String(format.BATCH_HEADER.bytes)],
      ['records', 'B'],
      ['trailer', String(format.BATCH_TRAILER.bytes)],
    ],
  )
  const end = batch.length - 8
  t.equal(end, 64 + RECORD_BYTES[0] + RECORD_BYTES[1])
  t.equal(batch.readUInt32BE(end), crc32(batch.subarray(0, end)), 'CRC-32 of header and records (4 bytes)')
  t.equal(batch.toString('latin1', end + 4), 'OSJE', 'then ASCII OSJE')
  t.match(text, `ASCII \`${format.BATCH_TRAILER.magic}\``)
  t.equal(batch.length % format.ALIGNMENT_BYTES, 0)
})

test('J4 records are laid out and hashed as the page says', async (t) => {
  const batch = twoRecords(BODIES)
  const fields = byteFields(tableWith(PAGE, 'offset | size | field', 1))
  const domain = Buffer.concat([Buffer.from('object-store/journal-record/v1'), Buffer.alloc(2)])
  let previous = HASH
  let at: number = 64
  for (const [index, body] of BODIES.entries()) {
    const record = batch.subarray(at, at + (RECORD_BYTES[index] ?? 0))
    const hash = Buffer.from(sha256(Buffer.concat([domain, record.subarray(32, 88 + body.length)])))
    assertBytes(t, record.subarray(0, 88), fields, {
      'hash of this record': hash,
      'L, length of the body': body.length,
      'kind: ': index === 0 ? 4 : 3,
      'body version': format.BODY_VERSION,
      sequence: 0x0a0b0c0d0e + index,
      // The second record was given an earlier time than the first.
      time: 6_000,
      'the hash that the record before states': previous,
    })
    t.same(record.subarray(88, 88 + body.length), body, 'the body follows')
    t.ok(isZero(record.subarray(88 + body.length)), 'then zeros up to a multiple of 8')
    t.equal(record.length, format.recordBytes(body.length))
    previous = hash
    at += record.length
  }
  t.equal(format.RECORD.frameBytes, 88)
  t.same(
    Object.entries(format.RECORD_KIND)
      .map(([name, kind]) => `${kind} ${name}`)
      .join(', '),
    kindsOnThePage(),
  )
})

function kindsOnThePage(): string {
  return /kind: (1 genesis, [a-z0-9 ,]+); no other/.exec(text)?.[1] ?? ''
}

test('HEAD is laid out as the page says, in two slots written in turn (J6)', async (t) => {
  const paths = new StorePaths(t.testdir({ journal: {} }))
  const head = HeadFile.open(nodeDisk, paths)
  t.equal(head.newest, undefined, 'a new file marks nothing')
  const bootId = '01234567-89ab-cdef-0123-456789abcdef'
  const mark = { sequence: 0x0102030405, batch: 0x1112131415, head: HASH, clean: true, bootId }
  head.write({ ...mark, sequence: 1, clean: false })
  head.write(mark)
  head.close()
  const bytes = readFileSync(join(paths.journal, 'HEAD'))
  assertBytes(t, bytes.subarray(0, 132), byteFields(tableWith(PAGE, 'offset in a slot | size | field')), {
    'magic, ASCII': 'OSTHEAD1',
    'mark number': 2,
    'last durable sequence': mark.sequence,
    'batch number of the batch': mark.batch,
    'hash of that record': HASH,
    '1 after a clean stop': 1,
    "boot id of the host's kernel": bootId,
    zero: 'zero',
    'CRC-32 of bytes 0 to 127': 'checksum',
  })
  t.equal(bytes.length, 8192)
  t.equal(numberOf(bytes.subarray(4096 + 8, 4096 + 16)), 1, 'slot = mark number modulo 2')
  const again = HeadFile.open(nodeDisk, paths)
  t.same(again.newest, { ...mark, head: Uint8Array.from(HASH) }, 'the greater mark number counts')
  again.write({ ...mark, sequence: 7 })
  again.close()
  t.equal(numberOf(readFileSync(paths.head).subarray(4096 + 8, 4096 + 16)), 3, 'and numbers go on')
})

test('every change and every entry comes back from the journal as it was', async (t) => {
  fc.assert(
    fc.property(
      context,
      result,
      fc.option(count, { nil: undefined }),
      fc.array(change),
      (audit, outcome, intent, all) => {
        const body = Buffer.from(encodeEntry(audit, outcome, intent, all))
        const entry = decodeEntry(body)
        assert.deepEqual(entry, { ...audit, result: outcome, intent, changes: all })
        assert.ok(encodeEntry(audit, outcome, intent, all).equals(body), 'equal entries give equal bytes')
      },
    ),
    { numRuns: 200 },
  )
  t.throws(() => decodeChange([255, 'x'] as StoredChange), 'a kind of a later version is not half understood')
  t.throws(() => decodeEntry(Buffer.from([0x91, 0x01])), 'and neither is what is not an entry')
})

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

test('J4 a batch is read as it was written, and the reader leaves its bytes as they were', async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 40 }),
      // Sequence 0 is the genesis, which is no audit record.
      fc.integer({ min: 1, max: 2 ** 40 }),
      fc.nat({ max: 2 ** 40 }),
      (bodies, firstSequence, batchNumber) => {
        const builder = new BatchBuilder(HASH, 0)
        builder.begin(firstSequence)
        bodies.forEach((body, index) => builder.add(format.RECORD_KIND.audit, index, body))
        const batch = Buffer.from(builder.finish(batchNumber, 3, false))
        const header = decodeBatchHeader(batch)
        assert(header !== undefined)
        const { recordBytes, ...stated } = header
        const bytes = 64 + recordBytes + 8
        const recordCount = bodies.length
        assert.deepEqual(stated, { batchNumber, firstSequence, recordCount, segmentNumber: 3, seals: false, bytes })
        assert.equal(bytes, batch.length)
        const copy = Buffer.from(batch)
        const read: Uint8Array[] = []
        const position = { sequence: firstSequence, head: Buffer.from(HASH), timeMicroseconds: 0 }
        t.equal(
          readRecords(batch, header, position, ({ body }) => read.push(Uint8Array.from(body))),
          undefined,
        )
        assert.deepEqual(read, bodies)
        assert.deepEqual(batch, copy)
        assert.deepEqual(position.head, builder.head)
      },
    ),
    { numRuns: 50 },
  )
  const builder = new BatchBuilder(HASH, 0)
  builder.begin(0)
  t.throws(() => builder.add(format.RECORD_KIND.audit, 0, Buffer.alloc(format.RECORD_BODY_BYTES_MAXIMUM + 1)))
})
