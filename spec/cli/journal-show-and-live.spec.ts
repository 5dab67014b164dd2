/** Changes as they are shown, and a journal that is read while it is written. */
import { closeSync, ftruncateSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { test } from 'tap'
import { changeNames, namedChange } from '../../cli/commands/journal/records/change-fields.ts'
import { PartSet } from '../../engine/domain/part-set.ts'
import { CHANGES, encodeChange } from '../../engine/events/changes.ts'
import { decodeBody } from '../../engine/verify/bodies.ts'
import { verifyJournal } from '../../engine/verify/journal-verifier.ts'
import { verifySegment } from '../../engine/verify/segment-verifier.ts'
import { SegmentWindow } from '../../engine/verify/segment-window.ts'
import { change } from '../support/arbitrary-entries.ts'
import { partBits } from '../support/commands.ts'
import { JournalBuilder } from '../support/journal-builder.ts'
import { packBody } from '../support/journal-bytes.ts'
import { sampleJournal } from '../support/journal-damage.ts'
import { LiveJournal } from '../support/live-journal.ts'

const DIGEST = Buffer.alloc(32, 0xab)
const HEX = 'ab'.repeat(32)
const YEAR_9999 = Date.parse('9999-12-31T23:59:59.999Z')
const BUCKET = { bucket_id: 2, name: 'b' }
const KEY = { bucket_id: 2, key: 'k' }
const NOTHING = { headers: {}, user_metadata: {}, replaced: true }
const WRITTEN = { kind: 'object.written', bucket_id: 2, etag: 'etag', sha256: HEX, ...NOTHING }
const SUMMED = { version: null, lock: null, checksum: { algorithm: 'sha256', value: HEX } }

const POLICY = { policy: 'p', title: 't', statements: [{ effect: 'deny', actions: ['s3:*'], resources: ['bucket:b'] }] }

/** Each change as it is stored, and as it is shown. */
const SHOWN: readonly (readonly [stored: readonly unknown[], shown: Record<string, unknown>])[] = [
  [[1, 2, 'b', 'eu'], { kind: 'bucket.created', ...BUCKET, region: 'eu' }],
  [[2, 2, 'b'], { kind: 'bucket.deleted', ...BUCKET }],
  [
    [3, 2, 'a', 5, 'etag', DIGEST, ['content-type', 'text/plain'], ['__proto__', 'x'], [1, 2, 0, 64, 5, 77], false],
    {
      ...WRITTEN,
      key: 'a',
      size: 5,
      headers: { 'content-type': 'text/plain' },
      user_metadata: JSON.parse('{"__proto__":"x"}'),
      payload: { kind: 'volume', payload_id: 2, volume: 0, offset: 64, length: 5, crc32: 77 },
      replaced: false,
    },
  ],
  [
    [3, 2, 'b', 0, 'etag', DIGEST, [], ['a', '1', 'a', '2'], null, true],
    { ...WRITTEN, key: 'b', size: 0, user_metadata: ['a', '1', 'a', '2'], payload: null },
  ],
  [
    [3, 2, 'c', 9, 'etag', DIGEST, [], [], [2, 2, 'file-name', 9], true],
    { ...WRITTEN, key: 'c', size: 9, payload: { kind: 'file', payload_id: 2, file: 'file-name', length: 9 } },
  ],
  [
    [3, 2, 'd', 9, 'etag', DIGEST, [], [], [0, 2], true, null, null, [4, DIGEST]],
    { ...WRITTEN, key: 'd', size: 9, payload: { kind: 'shared', payload_id: 2 }, ...SUMMED },
  ],
  [[4, 2, 'a'], { kind: 'object.deleted', bucket_id: 2, key: 'a' }],
  [[5, 0, 256, 16, DIGEST], { kind: 'journal.recovered', segment_number: 0, offset: 256, length: 16, sha256: HEX }],
  [[6, '0.1.0', '001122'], { kind: 'server.started', version: '0.1.0', start: '001122' }],
  [[7], { kind: 'server.stopped' }],
  [[99, 'later', DIGEST], { kind: 99, fields: ['later', HEX] }],
  [[1, 2, 'b', 'eu', true], { kind: 'bucket.created', ...BUCKET, region: 'eu', object_lock: true }],
  [
    [3, 2, 'k', 5, 'etag', DIGEST, [], [], [1, 9, 0, 64, 36, 77, true], true, [false, 0], [[1, YEAR_9999], true]],
    {
      ...WRITTEN,
      key: 'k',
      size: 5,
      payload: { kind: 'volume', payload_id: 9, volume: 0, offset: 64, length: 36, crc32: 77, sealed: true },
      version: { null: false, replaces_null: 0 },
      lock: { retention: { mode: 'COMPLIANCE', until: '9999-12-31T23:59:59.999Z' }, legal_hold: true },
    },
  ],
  [[8, 2, 'b', true], { kind: 'bucket.versioning-set', ...BUCKET, versioning: 'enabled' }],
  [[8, 2, 'b', false], { kind: 'bucket.versioning-set', ...BUCKET, versioning: 'suspended' }],
  [
    [9, 2, 'b', [0, true, 3]],
    { kind: 'bucket.retention-set', ...BUCKET, retention: { mode: 'GOVERNANCE', unit: 'years', value: 3 } },
  ],
  [[9, 2, 'b', null], { kind: 'bucket.retention-set', ...BUCKET, retention: null }],
  [
    [10, 2, 'b', [[null, ['https://a'], ['GET'], ['*'], ['etag'], 60]]],
    {
      kind: 'bucket.cors-set',
      ...BUCKET,
      rules: [
        {
          id: null,
          origins: ['https://a'],
          methods: ['GET'],
          headers: ['*'],
          exposed_headers: ['etag'],
          max_age_seconds: 60,
        },
      ],
    },
  ],
  [[11, 2, 'b', null, 7], { kind: 'bucket.quota-set', ...BUCKET, quota_bytes: null, quota_objects: 7 }],
  [[12, 2, 'k', [true, 40]], { kind: 'marker.written', ...KEY, version: { null: true, replaces_null: 40 } }],
  [[13, 2, 'k', 40, 39], { kind: 'version.deleted', ...KEY, version: 40, promotes: 39 }],
  [
    [14, 2, 'k', 40, [null, false]],
    { kind: 'version.locked', ...KEY, version: 40, lock: { retention: null, legal_hold: false } },
  ],
  [
    [15, 2, 'k', ['content-type', 'a/b'], ['m', 'n'], null],
    { kind: 'upload.created', ...KEY, headers: { 'content-type': 'a/b' }, user_metadata: { m: 'n' }, lock: null },
  ],
  [
    [16, 2, 'k', 50, 10_000, 5, 'e', DIGEST, [2, 51, 'name', 5, true], false],
    {
      kind: 'upload.part-written',
      ...KEY,
      upload: 50,
      part: 10_000,
      size: 5,
      md5: 'e',
      sha256: HEX,
      payload: { kind: 'file', payload_id: 51, file: 'name', length: 5, sealed: true },
      replaced: false,
    },
  ],
  [
    [17, 2, 'k', 50, partBits([1, 2, 3, 5, 7, 8, 10_000]), partBits([])],
    { kind: 'upload.completed', ...KEY, upload: 50, listed: '1-3,5,7-8,10000', dropped: '' },
  ],
  [[18, 2, 'k', 50, partBits([15, 16])], { kind: 'upload.aborted', ...KEY, upload: 50, dropped: '15-16' }],
  [[19, 9, 1, 64], { kind: 'payload.moved', payload_id: 9, volume: 1, offset: 64 }],
  [[20, 9, DIGEST], { kind: 'payload.digested', payload_id: 9, sha256: HEX }],
  [[21], { kind: 'clock.observed' }],
  [[22, 1], { kind: 'volume.removed', volume: 1 }],
  [[23, 'a', 't', 'd'], { kind: 'account.created', account: 'a', title: 't', description: 'd' }],
  [[24, 'a', false], { kind: 'account.status-set', account: 'a', enabled: false }],
  [[25, 'a'], { kind: 'account.deleted', account: 'a' }],
  [
    [26, 'a', 'c', 'AK', DIGEST, 1_767_323_045_000_001],
    {
      kind: 'credential.issued',
      account: 'a',
      credential: 'c',
      access_key: 'AK',
      sealed_secret: HEX,
      expires: '2026-01-02T03:04:05.000001Z',
    },
  ],
  [[27, 'AK', true], { kind: 'credential.status-set', access_key: 'AK', enabled: true }],
  [[28, 'p', 't', [[true, ['s3:*'], ['bucket:b']]]], { kind: 'policy.created', ...POLICY }],
  [[29, 'p', 'a'], { kind: 'policy.attached', policy: 'p', account: 'a' }],
  [[30, 'p', 'a'], { kind: 'policy.detached', policy: 'p', account: 'a' }],
  [
    [31, 't', 'n', 2, DIGEST, null],
    { kind: 'token.issued', token: 't', title: 'n', role: 'auditor', sha256: HEX, expires: null },
  ],
  [[32, 't'], { kind: 'token.revoked', token: 't' }],
  [[33, 'AK'], { kind: 'credential.removed', access_key: 'AK' }],
  [[34, 2, DIGEST], { kind: 'access.adopted', entries: 2, sha256: HEX }],
  [[35, DIGEST], { kind: 'access.authenticated', mac: HEX }],
  [[50, 'p', 't', [[true, ['s3:*'], ['bucket:b']]]], { kind: 'policy.replaced', ...POLICY }],
  [[51, 'p'], { kind: 'policy.deleted', policy: 'p' }],
]

test('every kind of change is shown with names', async (t) => {
  for (const [stored, shown] of SHOWN) {
    t.same(namedChange(decodeBody(packBody([stored]))?.[0]), shown, `${String(shown['kind'])} ${stored.length}`)
  }
  t.match(JSON.stringify(namedChange([3, 2, 'a', 5, '', DIGEST, [], ['__proto__', 'x']])), '"__proto__":"x"')
  const shown = new Set<unknown>(SHOWN.map(([[kind]]) => kind))
  const missing = Object.values(CHANGES).filter(({ code }) => !shown.has(code))
  t.same(missing, [], 'none is left out of this table')
  const page = readFileSync('spec/formats/journal.md', 'utf8')
  const rows = [...page.matchAll(/^\| (\d+) \| ([a-z]+\.[a-z-]+) \|/gm)].map(([, kind, name]) => [Number(kind), name])
  t.same([...changeNames], rows, 'every kind of change on the page, and no other')
})

test('what the store writes has a name for every field', async (t) => {
  fc.assert(
    fc.property(change, (one) => {
      const shown = namedChange(decodeBody(packBody([encodeChange(one)]))?.[0])
      const text = JSON.stringify(shown)
      if ((shown as { kind?: unknown }).kind !== one.name || 'fields' in (shown as object)) throw new Error(text)
    }),
    { numRuns: 500 },
  )
  t.pass()
})

test('what has another form than the page says is shown as it is, and never ends the command', async (t) => {
  t.same(namedChange([8, 2, 'b', 'x', 4]), {
    kind: 'bucket.versioning-set',
    bucket_id: 2,
    name: 'b',
    versioning: 'x',
    fields: [4],
  })
  t.same(namedChange([14, 2, 'k', 1, [[7, 'later'], 3, 4]]), {
    kind: 'version.locked',
    bucket_id: 2,
    key: 'k',
    version: 1,
    lock: { retention: { mode: 7, until: 'later' }, legal_hold: 3, fields: [4] },
  })
  t.same(namedChange([18, 2, 'k']), { kind: 'upload.aborted', bucket_id: 2, key: 'k' }, 'fields that are not there')
  const kinds = fc.integer({ min: 0, max: 40 })
  fc.assert(
    fc.property(kinds, fc.array(fc.anything({ withBigInt: false, withNullPrototype: true })), (kind, values) => {
      let body: Uint8Array
      try {
        body = packBody([[kind, ...values]])
      } catch {
        return
      }
      JSON.stringify(namedChange(decodeBody(body)?.[0]))
    }),
  )
})

test('part sets are shown as ranges of exactly their numbers', async (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 300 })), (numbers) => {
      const set = new PartSet()
      for (const number of numbers) set.add(number)
      const { dropped } = namedChange([18, 2, 'k', 1, set.bytes]) as { dropped: string }
      const told = dropped.split(',').flatMap((range) => {
        const [first, last] = range.split('-').map(Number)
        return range === ''
          ? []
          : Array.from({ length: (last ?? first ?? 0) - (first ?? 0) + 1 }, (_, at) => (first ?? 0) + at)
      })
      t.same(
        told,
        numbers.toSorted((left, right) => left - right),
      )
    }),
    { numRuns: 50 },
  )
})

/** A window in front of which a writer goes on while the reader waits. */
class WrittenMeanwhile extends SegmentWindow {
  waits = 0
  readonly #write: () => void

  constructor(path: string, write: () => void) {
    super(path)
    this.#write = write
  }

  override settle(): void {
    this.waits += 1
    this.#write()
    super.settle(0)
  }
}

test('a place that looks torn is read again after the writer had time', async (t) => {
  const journal = sampleJournal()
  const { name, batches, bytes } = journal.open
  const [before, last] = [batches.at(-2)?.offset ?? 0, batches.at(-1)?.offset ?? 0]
  const path = join(t.testdir(), name)
  const sealed = sampleJournal()
  const zeros = sealed.open.bytes.length - 512
  sealed.open.bytes = sealed.open.bytes.subarray(0, zeros)
  sealed.sealOnly()

  const without = (start: number, end: number): Buffer => Buffer.from(bytes).fill(0, start, end)
  const states: Record<string, { seen: Buffer; becomes: Buffer; records: number; torn: boolean }> = {
    'the end arrives': { seen: without(last + 80, last + 200), becomes: bytes, records: 5, torn: false },
    'the beginning arrives': { seen: without(last, last + 64), becomes: bytes, records: 5, torn: false },
    'the batch arrives, and one behind it': {
      seen: without(before + 80, bytes.length),
      becomes: bytes,
      records: 5,
      torn: false,
    },
    'the batch arrives late, the one behind it was seen': {
      seen: without(before + 80, before + 120),
      becomes: bytes,
      records: 5,
      torn: false,
    },
    'the batch arrives, and the segment is sealed and cut': {
      seen: without(last + 80, last + 200),
      becomes: sealed.open.bytes,
      records: 6,
      torn: false,
    },
    'the header of the file arrives': { seen: without(0, 256), becomes: bytes, records: 5, torn: false },
    'nothing arrives': {
      seen: without(last + 80, last + 200),
      becomes: without(last + 80, last + 200),
      records: 3,
      torn: true,
    },
  }
  for (const [state, { seen, becomes, records, torn }] of Object.entries(states)) {
    writeFileSync(path, seen)
    const window = new WrittenMeanwhile(path, () => writeFileSync(path, becomes))
    const job = { path, name, isLast: true, watched: [], settleMilliseconds: 0 }
    const result = verifySegment(job, () => undefined, window)
    t.same(result.problems, [], `${state}: no problem`)
    t.equal(result.records, records, `${state}: every record that arrived`)
    t.equal(result.tornTail !== undefined, torn, `${state}: torn`)
    t.equal(window.waits, 1, `${state}: waited once`)
  }
})

test('a file that is cut while zeros are read', async (t) => {
  const journal = new JournalBuilder()
  journal.entries({})
  journal.sealOnly()
  const length = journal.open.length
  journal.writeAhead(9_000_000)
  const path = join(t.testdir(), journal.open.name)
  writeFileSync(path, journal.open.bytes)
  const window = new SegmentWindow(path)
  const file = openSync(path, 'r+')
  ftruncateSync(file, length)
  closeSync(file)
  const job = { path, name: journal.open.name, isLast: true, watched: [], settleMilliseconds: 0 }
  const result = verifySegment(job, () => undefined, window)
  t.match(result, { problems: [], records: 3, bytes: length, tornTail: undefined })
})

test('a journal that is being written is never called damaged', async (t) => {
  const live = new LiveJournal(t.testdir())
  const writing = live.run()
  let head = 0
  for (let checks = 1; checks <= 4 || live.segments < 5; checks += 1) {
    const report = await verifyJournal(live.directory, { threads: 2 })
    t.same(report.problems, [], `check ${checks}, ${live.segments} segments`)
    t.ok((report.headSequence ?? -1) >= head, 'the journal only grows')
    head = report.headSequence ?? 0
  }
  live.stop()
  await writing
  const report = await verifyJournal(live.directory)
  t.match(report, { intact: true, headSequence: live.lastSequence, openSegmentTornTail: undefined })
})
