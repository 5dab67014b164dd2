import { JOURNAL_START } from '../../projections/tables/audit-index.ts'
/** Lines that are written from the bytes of entries are those that the runtime makes of their events. */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { test } from 'tap'
import { type BucketId, microsecondsOf, payloadIdOf, sequenceOf, type UploadId } from '../../engine/brands.ts'
import { encodeEntry } from '../../engine/events/entry-codec.ts'
import type { Change } from '../../engine/events/changes.ts'
import type { BatchHeader } from '../../engine/journal/batch-reader.ts'
import { BATCH_HEADER, RECORD, RECORD_KIND, recordBytes, writeUint64 } from '../../engine/journal/format.ts'
import { OpaqueIds } from '../../engine/keys/opaque-ids.ts'
import { serverTurns } from '../../projections/audit/turns.ts'
import { type EventCollector, EventList } from '../../projections/events/event-collectors.ts'
import { problemRecord } from '../../planes/management/audit/chain-problem.ts'
import { EventLines, type LineForm } from '../../projections/events/event-lines.ts'
import { EventNames } from '../../projections/events/event-names.ts'
import { type EventRange, EventScan } from '../../projections/events/event-scan.ts'
import { ObjectEntry } from '../../projections/events/object-entry.ts'
import { eventResource, STORAGE_EVENT_TYPES, storageEventId } from '../../projections/events/storage-event.ts'
import { auditOf } from '../support/commands.ts'

const FIRST_SEQUENCE = 4711
const EVERYTHING = 1000
const IDS = { versionIds: new OpaqueIds(Buffer.alloc(32, 1)), uploadIds: new OpaqueIds<UploadId>(Buffer.alloc(32, 2)) }
const TABLE = {
  get: (key: Buffer) => Buffer.from(`bucket-${key.at(-1)}`),
  rows: () => [],
  decoded: () => [],
  keys: () => [],
  count: () => 0,
}

interface Written {
  readonly body: Buffer
  readonly timeMicroseconds: number
}

/** A batch as far as a scan reads it: no hashes, no checksums. */
function batchOf(records: readonly Written[]): { readonly header: BatchHeader; readonly bytes: Buffer } {
  const frames = records.map(({ body, timeMicroseconds }, index) => {
    const bytes = Buffer.alloc(recordBytes(body.length))
    bytes.writeUInt32BE(body.length, RECORD.bodyLengthAt)
    bytes.writeUInt16BE(RECORD_KIND.change, RECORD.kindAt)
    writeUint64(bytes, FIRST_SEQUENCE + index, RECORD.sequenceAt)
    writeUint64(bytes, timeMicroseconds, RECORD.timeAt)
    body.copy(bytes, RECORD.frameBytes)
    return bytes
  })
  const bytes = Buffer.concat([Buffer.alloc(BATCH_HEADER.bytes), ...frames])
  const header = { firstSequence: sequenceOf(FIRST_SEQUENCE), recordCount: records.length }
  return { header: { ...header, recordBytes: bytes.length - BATCH_HEADER.bytes } as BatchHeader, bytes }
}

async function scan(records: readonly Written[], range: EventRange, collector: EventCollector): Promise<void> {
  const events = new EventScan(range, collector, new EventNames(TABLE, IDS), serverTurns)
  const step = { kind: 'batch', ...batchOf(records), lastMicroseconds: microsecondsOf(0) } as const
  await events.step(step, JOURNAL_START, sequenceOf(0))
}

async function linesOf(records: readonly Written[], range: EventRange, form: LineForm): Promise<string> {
  const lines = new EventLines(form, problemRecord)
  await scan(records, range, lines)
  return lines.bytes.toString()
}

/** The same by way of events as objects. */
async function expected(records: readonly Written[], range: EventRange, form: LineForm): Promise<string> {
  const list = new EventList(EVERYTHING)
  await scan(records, range, list)
  return list.events
    .map((event) => {
      const json = JSON.stringify(eventResource(event))
      return form === 'ndjson' ? `${json}\n` : `id: ${storageEventId(event)}\nevent: ${event.type}\ndata: ${json}\n\n`
    })
    .join('')
}

const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 40 }),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
  fc.constantFrom('a"b', 'a\\b', 'line\nline', '\u007f', 'é', '\u2028', '😀', 'x'.repeat(300), '\ufeffbom'),
)
// oxlint-disable-next-line no-control-regex
const header = text.map((one) => one.replaceAll(/[\u0000-\u001f\u007f-\u009f\ufffd]/gu, '_'))
const bucketId = fc.constantFrom(1, 7, 300).map((id) => id as BucketId)
const size = fc.oneof(fc.nat(), fc.constantFrom(0, 127, 128, 255, 256, 65_536, 2 ** 32, 2 ** 53 - 1))
const place = fc.option(fc.record({ isNull: fc.boolean(), replacesNull: fc.constantFrom(undefined, sequenceOf(3)) }), {
  nil: undefined,
})
const headers = fc.array(
  fc.tuple(fc.constantFrom('content-type', 'cache-control', 'content-typf'), header).map((pair) => [...pair]),
  { maxLength: 3 },
)
const source = fc.option(
  fc.record({
    bucketId,
    key: text,
    version: fc.constant(sequenceOf(2)),
    isNull: fc.boolean(),
    restores: fc.boolean(),
    token: fc.constantFrom(undefined, 'token'),
  }),
  { nil: undefined, freq: 8 },
)

const written = fc
  .record({ bucketId, key: text, size, etag: header, headers, replaced: fc.boolean(), version: place, source })
  .chain((some) =>
    fc.record({ lock: fc.boolean(), checksum: fc.boolean(), payload: fc.boolean() }).map(
      (has): Change => ({
        name: 'object.written',
        ...some,
        headers: some.headers.flat(),
        digest: Buffer.alloc(32, 9),
        metadata: ['colour', 'red'],
        payload: has.payload ? { kind: 'shared', payload: payloadIdOf(5) } : undefined,
        lock: has.lock ? { retention: undefined, hold: true } : undefined,
        checksum: has.checksum ? { algorithm: 'crc32', value: Buffer.alloc(4), composite: false } : undefined,
      }),
    ),
  )
const deleted = fc.record({ bucketId, key: text, size }).map((some): Change => ({ name: 'object.deleted', ...some }))
const marked = fc.record({ bucketId, key: text, isNull: fc.boolean() }).map(
  ({ isNull, ...some }): Change => ({
    name: 'marker.written',
    ...some,
    version: { isNull, replacesNull: undefined },
  }),
)
const otherwise = fc.constantFrom<Change>(
  { name: 'bucket.created', bucketId: 7 as BucketId, bucket: 'bucket-7', region: 'us-east-1', lockEnabled: false },
  { name: 'bucket.quota-set', bucketId: 7 as BucketId, bucket: 'bucket-7', bytes: 1, objects: undefined },
  {
    name: 'version.deleted',
    bucketId: 7 as BucketId,
    key: 'k',
    version: sequenceOf(5),
    promotes: sequenceOf(4),
    removed: { isNull: false, isMarker: true, size: 0 },
    current: { isNull: true, size: 5, etag: 'e', contentType: undefined },
    uncovers: undefined,
  },
)
const change = fc.oneof(written, written, deleted, marked, otherwise)
const principal = fc.constantFrom(
  'system:root',
  'system:lifecycle',
  'service_account:uploader',
  'management:auditor',
  'anonymous',
  'system:roof',
  'odd"kind:x',
)
const record = fc
  .record({
    principal,
    requestId: fc.option(fc.oneof(fc.uuid(), text), { nil: undefined }),
    changes: fc.oneof(
      change.map((one) => [one]),
      fc.tuple(change, change),
    ),
    intent: fc.constantFrom(undefined, 12, 70_000),
    timeMicroseconds: fc.oneof(
      fc.nat({ max: 9_007_199_254_740_991 }),
      fc.constantFrom(0, 999_999, 1_000_000, 1_763_900_000_000_001, 1_763_900_000_999_999),
    ),
  })
  .map(({ changes, intent, timeMicroseconds, ...who }): Written => {
    const context = { ...auditOf('s3:PUT', 'bucket:b/ä'), ...who, metadata: ['some', 1, 'more', 'text'] }
    const year = 400 * 366 * 24 * 60 * 60 * 1_000_000
    return {
      body: Buffer.from(encodeEntry(context, 'success', intent, changes)),
      timeMicroseconds: microsecondsOf(timeMicroseconds % year),
    }
  })
const range = fc.record({
  bucket: fc.constantFrom(undefined, undefined, 'bucket-7', 'bucket-none'),
  prefix: fc.constantFrom(undefined, undefined, '', 'a', 'é', 'xxxx', 'a"'),
  types: fc.option(
    fc.subarray([...STORAGE_EVENT_TYPES]).map((types) => new Set(types)),
    { nil: undefined },
  ),
})

test('the bytes are those of the events as objects', async (t) => {
  const outcome = fc.assert(
    fc.asyncProperty(
      fc.array(record, { minLength: 1, maxLength: 20 }),
      range,
      fc.constantFrom<LineForm>('ndjson', 'sse'),
      async (records, wanted, form) => {
        assert.equal(await linesOf(records, wanted, form), await expected(records, wanted, form))
      },
    ),
    { numRuns: 500 },
  )
  await t.resolves(outcome)
})

function bodyOf(only: Change): Buffer {
  return Buffer.from(encodeEntry(auditOf('s3:PUT', 'bucket:b/k'), 'success', 9, [only]))
}

test('what is usual is read where it is, what is cut off is not', (t) => {
  const entry = new ObjectEntry()
  const object = { bucketId: 7 as BucketId, key: 'k', version: undefined }
  const usual = bodyOf({
    name: 'object.written',
    ...object,
    size: 5,
    etag: 'e',
    digest: Buffer.alloc(32),
    headers: ['content-type', 'text/plain'],
    metadata: [],
    payload: undefined,
    replaced: true,
    lock: undefined,
    checksum: undefined,
    source: undefined,
  })
  t.equal(entry.read(usual, 0, usual.length), 'one event')
  t.match(entry, { type: 'object.updated', bucketId: 7, size: 5, isNull: true })
  const longer = Buffer.concat([usual, usual])
  t.equal(entry.read(longer, 0, usual.length - 1), 'undecoded', 'its last value is beyond its end')
  const quota = bodyOf({ name: 'bucket.quota-set', bucketId: 7 as BucketId, bucket: 'b', bytes: 1, objects: 1 })
  t.equal(entry.read(quota, 0, quota.length), 'nothing')
  t.end()
})

test('a piece ends after a quarter of a MiB, and its memory is used again', async (t) => {
  const one: Written = { body: Buffer.alloc(0), timeMicroseconds: 0 }
  const key = 'k'.repeat(1000)
  const changes: Change[] = [{ name: 'object.deleted', bucketId: 7 as BucketId, key, size: 1 }]
  const body = Buffer.from(encodeEntry(auditOf('s3:DELETE', `bucket:b/${key}`), 'success', undefined, changes))
  const records = Array.from({ length: 400 }, () => ({ ...one, body }))
  const lines = new EventLines('ndjson', problemRecord)
  await scan(records, {}, lines)
  t.equal(lines.isFull, true)
  const first = lines.bytes
  t.ok(first.length >= 256 * 1024 && first.length < 258 * 1024)
  lines.begin()
  t.equal(lines.isEmpty, true)
  await scan(records, {}, lines)
  t.equal(lines.bytes.buffer, first.buffer)
})
