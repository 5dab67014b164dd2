/**
 * The bytes of the journal and of HEAD are laid out as the page of the format says.
 * Proves: RES-CHN-01.
 */
import { microsecondsOf, sequenceOf } from '../../../engine/brands.ts'
import { genesisNext } from '../../../engine/journal/positions.ts'
import type { SegmentHeader } from '../../../engine/journal/segment.ts'
import { branded } from '../../support/plain.ts'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { sha256 } from '@noble/hashes/sha2.js'
import * as fc from 'fast-check'
import { test } from 'tap'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { decodeChange } from '../../../engine/events/changes.ts'
import { decodeEntry, encodeEntry } from '../../../engine/events/entry-codec.ts'
import { BatchBuilder } from '../../../engine/journal/batch-builder.ts'
import { decodeBatchHeader, readRecords } from '../../../engine/journal/batch-reader.ts'
import * as format from '../../../engine/journal/format.ts'
import { HeadFile, refusedBatchId } from '../../../engine/journal/head-mark.ts'
import { decodeSegmentHeader, encodeSegmentHeader } from '../../../engine/journal/segment.ts'
import { context, change, count, result } from '../../support/journals/arbitrary-entries.ts'
import { assertBytes, isZero, numberOf } from '../../support/journals/byte-layout.ts'
import { byteFields, tableWith } from '../../support/pages/markdown-tables.ts'

const PAGE = 'spec/formats/journal.md'
const text = readFileSync(PAGE, 'utf8')
const HASH = Buffer.from(Array.from({ length: 32 }, (_, index) => 0xa0 + index))
const DIGEST = Buffer.from(Array.from({ length: 32 }, (_, index) => 0x40 + index))
const DEPLOYMENT = Buffer.from(Array.from({ length: 16 }, (_, index) => 0x10 + index))

test('the segment header is laid out as the page says', async (t) => {
  const header = branded<SegmentHeader>({
    segmentNumber: 0x0102030405,
    firstSequence: 0x1112131415,
    firstBatch: 0x2122232425,
    createdMicroseconds: 0x3132333435,
    deploymentId: DEPLOYMENT,
    chainHead: HASH,
    previousDigest: DIGEST,
  })
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
  const builder = new BatchBuilder(HASH, microsecondsOf(5_000))
  builder.begin(sequenceOf(0x0a0b0c0d0e))
  builder.add(format.RECORD_KIND.audit, microsecondsOf(6_000), bodies[0])
  builder.add(format.RECORD_KIND.change, microsecondsOf(5_500), bodies[1])
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
      'order time': 6_000,
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
  const mark = {
    sequence: sequenceOf(0x0102030405),
    batch: 0x1112131415,
    head: HASH,
    clean: true,
    bootId,
    refused: refusedBatchId(HASH),
  }
  head.write({ ...mark, sequence: sequenceOf(1), clean: false })
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
    'the first bytes of the hash': HASH.subarray(0, 24),
    'CRC-32 of bytes 0 to 127': 'checksum',
  })
  t.equal(bytes.length, 8192)
  t.equal(numberOf(bytes.subarray(4096 + 8, 4096 + 16)), 1, 'slot = mark number modulo 2')
  const again = HeadFile.open(nodeDisk, paths)
  t.same(again.newest, { ...mark, head: Uint8Array.from(HASH) }, 'the greater mark number counts')
  again.write({ ...mark, sequence: sequenceOf(7) })
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
  t.throws(() => decodeChange([255, 'x']), 'a kind of a later version is not half understood')
  t.throws(() => decodeEntry(Buffer.from([0x91, 0x01])), 'and neither is what is not an entry')
})

test('J4 a batch is read as it was written, and the reader leaves its bytes as they were', async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 40 }),
      // Sequence 0 is the genesis, which is no audit record.
      fc.integer({ min: 1, max: 2 ** 40 }),
      fc.nat({ max: 2 ** 40 }),
      (bodies, firstSequence, batchNumber) => {
        const builder = new BatchBuilder(HASH, microsecondsOf(0))
        builder.begin(sequenceOf(firstSequence))
        bodies.forEach((body, index) => builder.add(format.RECORD_KIND.audit, microsecondsOf(index), body))
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
        const chain = { ...genesisNext(), nextSequence: sequenceOf(firstSequence), head: Buffer.from(HASH) }
        t.equal(
          readRecords(batch, header, chain, ({ body }) => read.push(Uint8Array.from(body))),
          undefined,
        )
        assert.deepEqual(read, bodies)
        assert.deepEqual(batch, copy)
        assert.deepEqual(chain.head, builder.head)
      },
    ),
    { numRuns: 50 },
  )
  const builder = new BatchBuilder(HASH, microsecondsOf(0))
  builder.begin(sequenceOf(0))
  t.throws(() =>
    builder.add(format.RECORD_KIND.audit, microsecondsOf(0), Buffer.alloc(format.RECORD_BODY_BYTES_MAXIMUM + 1)),
  )
})
