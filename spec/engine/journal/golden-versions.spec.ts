/**
 * Golden journal 2, its state, and what both golden journals are written with today.
 * Proves: DO-ACC-03.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execFileSync } from 'node:child_process'
import { test } from 'tap'
import { microsecondsOf } from '../../../engine/brands.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { CHANGES, encodeChange } from '../../../engine/events/changes.ts'
import { decodeEntry, encodeEntry } from '../../../engine/events/entry-codec.ts'
import { BatchBuilder } from '../../../engine/journal/batch-builder.ts'
import { decodeBatchHeader, type JournalRecord, readRecords } from '../../../engine/journal/batch-reader.ts'
import { decodeGenesis, decodeSeal, encodeGenesis, encodeSeal } from '../../../engine/journal/bodies.ts'
import { RECORD_KIND, SEGMENT_HEADER } from '../../../engine/journal/format.ts'
import { firstOf } from '../../../engine/journal/positions.ts'
import { decodeSegmentHeader, encodeSegmentHeader } from '../../../engine/journal/segment.ts'
import { verifyJournal } from '../../../engine/verify/journal-verifier.ts'
import { AccessReader } from '../../../projections/access/reader.ts'
import { WebhookReader } from '../../../projections/webhooks/reader.ts'
import type { CatalogReader } from '../../../projections/catalog/catalog-reader.ts'
import { ProjectionEnvironment } from '../../../projections/lmdb-environment.ts'
import { checkProjections } from '../../../projections/replay/check.ts'
import {
  copyGolden,
  GOLDEN_DEPLOYMENT,
  GOLDEN_JOURNALS,
  GOLDEN_MASTER_KEY,
  openGolden,
  countedThen,
} from '../../support/journals/golden-journals.ts'
import { eventLogOf, readAllEvents, toldEvent } from '../../support/model/event-differences.ts'
import { journalEntries } from '../../support/journal-entries.ts'
import { dataLength, segmentNames } from '../../support/journal-files.ts'
import { askStranger, verifyAtRest } from '../../support/journals/journal-verdicts.ts'
import { openTestStore, roomyDisk } from '../../support/test-store.ts'

/** The first golden journal, cut at a record and restored. */
const RESTORED = 'spec/golden/restored-v1'
/** The third one, whose master key was changed, and an account created after that. */
const CHANGED_KEY = 'spec/golden/changed-key-v1'
const CHANGED_TO = Buffer.alloc(32, 0x48)
const JOURNAL = GOLDEN_JOURNALS[1]
const expected = JSON.parse(readFileSync(join(JOURNAL, 'expected.json'), 'utf8')) as {
  readonly head: { readonly sequence: number; readonly hash: string }
  readonly state: unknown
  readonly access: unknown
}
const EVERYTHING = { prefix: Buffer.alloc(0), delimiter: undefined, after: undefined, entriesMaximum: 10_000 }

/** A value as JSON keeps it: bytes in hexadecimal, nothing undefined, no times of creation, of which no model knows. */
function plain(value: unknown): unknown {
  const text = JSON.stringify(value, (name, one: unknown) => {
    if (name === 'createdMicroseconds') return undefined
    if (one instanceof Uint8Array) return Buffer.from(one).toString('hex')
    // A buffer has become what its own toJSON gives before it comes here.
    const isBuffer = typeof one === 'object' && one !== null && 'type' in one && one.type === 'Buffer' && 'data' in one
    return isBuffer ? Buffer.from(one.data as number[]).toString('hex') : one
  })
  return JSON.parse(text) as unknown
}

/** Buckets with their versions newest first, uploads with their parts, payloads with their references. */
function goldenOfCatalog(catalog: CatalogReader): unknown {
  const snapshot = catalog.snapshot()
  return plain({
    buckets: snapshot.buckets().map((settings) => ({
      ...settings,
      cors: snapshot.cors(settings.id),
      usage: countedThen(snapshot.bucketUsage(settings.id)),
      versions: snapshot.listVersions(settings.id, EVERYTHING).entries.map(({ key, sequence, isNull, isMarker }) => {
        const version = snapshot.version(settings.id, key, isNull ? 'null' : sequence)
        const { size, etag, headers, payload, lock } = version ?? {}
        return {
          key,
          sequence,
          isNull,
          isMarker,
          size,
          etag: isMarker ? undefined : etag,
          headers,
          payload: payload ?? 0,
          lock,
        }
      }),
    })),
    uploads: snapshot
      .uploadsInProgress(undefined, 1000)
      .toSorted((left, right) => left.upload - right.upload)
      .map(({ upload, bucketId, key }) => {
        const { headers, lock } = snapshot.upload(bucketId, key, upload) ?? {}
        const parts = snapshot
          .parts(upload, 0, 10_000)
          .map(({ part, size, md5, payload }) => ({ part, size, md5, payload: payload ?? 0 }))
        return { upload, bucketId, key, headers, lock, parts }
      }),
    payloads: snapshot.storedPayloads(0, 10_000).map(({ payload: id, references, location }) => {
      const { kind } = location
      if (kind !== 'parts') return { id, kind, references }
      const { digest, completion, parts } = location
      const ids = Array.from({ length: parts.count }, (_, index) => parts.payload(index) ?? 0)
      return { id, kind, isDigested: digest !== undefined, completion, parts: ids, references }
    }),
  })
}

/** Who may do what. */
function accessOf(reader: AccessReader): unknown {
  const accounts = reader.accounts()
  const keys = accounts.flatMap(({ credentials }) => credentials.map(({ accessKey }) => accessKey))
  const credentials = keys.map((key) => reader.credential(key))
  return plain({ accounts, credentials, policies: reader.policies(), tokens: reader.tokens() })
}

test('golden journal 2 opens and gives exactly the state it was made with', async (t) => {
  const paths = copyGolden(t.testdir(), JOURNAL)
  t.match(await verifyJournal(paths.journal, { threads: 0, settleMilliseconds: 0 }), {
    intact: true,
    records: expected.head.sequence + 1,
    headHash: expected.head.hash,
    deploymentId: GOLDEN_DEPLOYMENT,
    mark: { sequence: expected.head.sequence, cleanStop: true },
    notes: [
      'Access changes: 26 not checked, no master key.',
      '2 changes that the system makes by itself carry another principal.',
    ],
  })
  const store = await openGolden(paths)
  t.match(store.report, { created: false, replayedRecords: expected.head.sequence + 1, cut: undefined })
  t.same(goldenOfCatalog(store.catalog), expected.state)
  const environment = ProjectionEnvironment.open(paths.projections, { readOnly: true })
  t.same(accessOf(new AccessReader(environment)), expected.access)
  await environment.close()
  await store.close(true)
  t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 })
})

test('golden journal 4: a policy that was replaced has its new statements, and one that was deleted is gone', async (t) => {
  const paths = copyGolden(t.testdir(), GOLDEN_JOURNALS[3])
  const options = { threads: 0, settleMilliseconds: 0, masterKey: GOLDEN_MASTER_KEY }
  t.match(await verifyJournal(paths.journal, options), { intact: true, notes: [] })
  const store = await openGolden(paths)
  const environment = ProjectionEnvironment.open(paths.projections, { readOnly: true })
  const access = new AccessReader(environment)
  const read = { effect: 'allow', actions: ['s3:GetObject'], resources: ['bucket:b/*'] }
  const deny = { effect: 'deny', actions: ['s3:*'], resources: ['bucket:*'] }
  t.match(access.policies(), [{ policy: 'p1', title: 'title of p1', statements: [read, deny] }])
  t.equal(access.policies().length, 1)
  t.match(access.accounts(), [{ account: 'a1', policies: ['p1'] }])
  await environment.close()
  await store.close(true)
  t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 })
})

test('golden journal 6: webhooks, their deliveries, a replay and tests', async (t) => {
  const paths = copyGolden(t.testdir(), GOLDEN_JOURNALS[5])
  const options = { threads: 0, settleMilliseconds: 0, masterKey: GOLDEN_MASTER_KEY }
  t.match(await verifyJournal(paths.journal, options), { intact: true, notes: [] })
  const store = await openGolden(paths)
  const environment = ProjectionEnvironment.open(paths.projections, { readOnly: true })
  const reader = new WebhookReader(environment)
  t.same(
    reader.webhooks().map(({ webhook, enabled, bucket }) => [webhook, enabled, bucket]),
    [
      ['w1', true, 'photos'],
      ['w2', true, undefined],
    ],
  )
  t.match(reader.webhook('w1')?.previousSecret, { sealedSecret: Buffer.from('secret of w1') })
  t.match(reader.progress('w1'), {
    line: {
      position: { sequence: 9, index: 0 },
      pending: [
        { event: { sequence: 8, index: 1 }, attempts: 0 },
        { event: { sequence: 9, index: 0 }, attempts: 1, nextMicroseconds: 1_767_323_050_000_000 },
      ],
    },
    replay: undefined,
    logged: 5,
  })
  await environment.close()
  await store.close(true)
  t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 })
})

test('golden journal 7: shares and embeds, counted downloads, what was revoked and what was deleted', async (t) => {
  const paths = copyGolden(t.testdir(), GOLDEN_JOURNALS[6])
  const options = { threads: 0, settleMilliseconds: 0, masterKey: GOLDEN_MASTER_KEY }
  t.match(await verifyJournal(paths.journal, options), { intact: true, notes: [] })
  const store = await openGolden(paths)
  const now = store.catalog.snapshot()
  const [one, two] = [now.share('s1'), now.share('s2')]
  t.match(one, {
    key: 'cat.jpg',
    fileName: 'Katze.jpg',
    maximumDownloads: 3,
    downloads: 2,
    revokedMicroseconds: undefined,
  })
  t.match(one, { password: { cost: 32_768, salt: Buffer.alloc(16, 1) }, expiresMicroseconds: 1_798_859_045_000_000 })
  t.equal(one?.version?.isNull, false)
  t.match(two, { version: undefined, password: undefined, downloads: 0, revokedMicroseconds: Number })
  t.equal(now.share('s3'), undefined)
  t.match(now.embed('e1'), { allowedOrigins: ['*'], cacheSeconds: 0, expiresMicroseconds: 1_798_859_045_000_000 })
  t.match(now.embed('e2'), { allowedOrigins: ['https://a.example'], revokedMicroseconds: Number })
  t.equal(now.embed('e3'), undefined)
  await store.close(true)
  t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 })
})

test('golden journal 8: both verifiers take it, and its storage events are those of what was done', async (t) => {
  const paths = copyGolden(t.testdir(), GOLDEN_JOURNALS[7])
  t.match(await verifyAtRest(paths.journal, { masterKey: GOLDEN_MASTER_KEY }), { intact: true, notes: [] })
  t.match(askStranger(paths.journal), [/^intact 66 records/])
  const store = await openGolden(paths)
  const environment = ProjectionEnvironment.open(paths.projections, { readOnly: true })
  const events = await readAllEvents(eventLogOf(store, environment))
  t.same(
    plain(events.map((event) => ({ ...toldEvent(event), by: event.metadata['principal_kind'] }))),
    JSON.parse(readFileSync(join(GOLDEN_JOURNALS[7], 'expected.json'), 'utf8')),
  )
  const webhooks = new WebhookReader(environment)
  t.match(webhooks.webhook('w1')?.previousSecret, { sealedSecret: Buffer.from('secret of w1') })
  t.match(webhooks.progress('w1'), { line: { pending: [] }, replay: { pending: [{ event: { sequence: 19 } }] } })
  await environment.close()
  await store.close(true)
  t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 })
})

test('golden journal 9: a scrub that is over, and the damage that it found', async (t) => {
  const paths = copyGolden(t.testdir(), GOLDEN_JOURNALS[8])
  t.match(await verifyAtRest(paths.journal, { masterKey: GOLDEN_MASTER_KEY }), { intact: true })
  t.match(askStranger(paths.journal), [/^intact \d+ records/])
  const store = await openGolden(paths)
  const scrub = store.catalog.snapshot().scrub()
  t.match(scrub?.progress, { stage: 'over', place: 40, payloads: 2, segments: 2, bytes: 400, damaged: 2 })
  t.equal(scrub?.completedMicroseconds, 1_769_904_006_000_000)
  t.match(scrub?.damage, [
    { damage: { kind: 'segment', number: 0, objects: [] }, foundMicroseconds: 1_769_904_005_000_000 },
    {
      damage: {
        kind: 'payload',
        number: 63,
        reason: 'volume 0, offset 96: checksum does not match',
        objects: [
          { key: 'cat.jpg', version: { sequence: 63, isNull: true } },
          { key: 'part', version: undefined },
        ],
      },
    },
  ])
  await store.close(true)
  t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 })
})

test('golden journals have every kind of change, and every form of its fields', async (t) => {
  const all = [...GOLDEN_JOURNALS, RESTORED, CHANGED_KEY].flatMap((golden) =>
    journalEntries(golden).flatMap(({ changes }) => changes),
  )
  const names = new Set(all.map(({ name }) => name))
  t.same(names, new Set(Object.values(CHANGES).map(({ name }) => name)))
  const forms = new Set(all.flatMap((change) => formsOf(encodeChange(change))))
  for (const form of [
    '1: 3 fields',
    '1: 4 fields',
    '3: 9 fields',
    '3: 10 fields',
    '3: 11 fields',
    'payload [0] of 2',
    'payload [1] of 6',
    'payload [1] of 7',
    'payload [2] of 4',
    'payload [2] of 5',
  ]) {
    t.ok(forms.has(form), form)
  }
})

/** Number of fields, and the kind and length of the payload. */
function formsOf(stored: readonly unknown[]): string[] {
  const [kind] = stored
  // The payload stands at the same place in a written object and in a written part.
  const payload = kind === 3 || kind === 16 ? stored[8] : undefined
  const forms = [`${String(kind)}: ${stored.length - 1} fields`]
  if (Array.isArray(payload)) forms.push(`payload [${String(payload[0])}] of ${payload.length}`)
  return forms
}

/** The body of a record, decoded and encoded again. */
function bodyAgain({ kind, body }: JournalRecord): Buffer {
  if (kind === RECORD_KIND.genesis) return encodeGenesis(decodeGenesis(body))
  const seal = kind === RECORD_KIND.seal && decodeSeal(body)
  if (seal) return encodeSeal(seal)
  const entry = decodeEntry(body)
  return Buffer.from(encodeEntry(entry, entry.result, entry.intent, entry.changes))
}

test('what golden journals hold is written today with the same bytes: it is read as it was meant', async (t) => {
  for (const golden of GOLDEN_JOURNALS) {
    const paths = new StorePaths(golden)
    for (const name of segmentNames(paths)) {
      const path = join(paths.journal, name)
      const bytes = readFileSync(path).subarray(0, dataLength(path))
      const header = decodeSegmentHeader(bytes.subarray(0, SEGMENT_HEADER.bytes))
      if (header === undefined) throw new Error(`${path} has no header`)
      const chain = firstOf(header)
      const builder = new BatchBuilder(header.chainHead, microsecondsOf(0))
      const written = [encodeSegmentHeader(header)]
      for (let at = SEGMENT_HEADER.bytes; at < bytes.length; ) {
        const batch = decodeBatchHeader(bytes.subarray(at))
        if (batch === undefined) throw new Error(`${path}: no batch at ${at}`)
        builder.begin(batch.firstSequence)
        const fault = readRecords(bytes.subarray(at, at + batch.bytes), batch, chain, (record) =>
          builder.addAgain(record.kind, record, bodyAgain(record)),
        )
        t.equal(fault, undefined)
        written.push(Buffer.from(builder.finish(batch.batchNumber, batch.segmentNumber, batch.seals)))
        at += batch.bytes
      }
      t.ok(Buffer.concat(written).equals(bytes), `${path} is the same`)
    }
  }
})

test('golden journal of a restore opens, and both verifiers find it intact', async (t) => {
  const paths = copyGolden(t.testdir(), RESTORED)
  const report = await verifyJournal(paths.journal, { threads: 0, settleMilliseconds: 0, masterKey: GOLDEN_MASTER_KEY })
  t.match(report, { intact: true, records: 124, deploymentId: GOLDEN_DEPLOYMENT })
  t.match(
    execFileSync('python3', ['spec/formats/verify_journal.py', paths.journal], { encoding: 'utf8' }),
    /^intact 124/,
  )
  const store = await openGolden(paths)
  await store.close(true)
  const restored = journalEntries(paths.root).filter(({ operation }) => operation === 'journal.restore')
  const head = Buffer.from('36425a5a309de875a862edc92ac8432a016c2ae92fa1e6508933e89468feb9f9', 'hex')
  t.match(restored, [{ changes: [{ name: 'journal.restored', last: 120, head }] }])
})

test('golden journal of a changed master key opens with the new one, and both verifiers find it intact', async (t) => {
  const paths = copyGolden(t.testdir(), CHANGED_KEY)
  const options = { threads: 0, settleMilliseconds: 0, masterKey: CHANGED_TO }
  t.match(await verifyJournal(paths.journal, options), { intact: true, notes: [] })
  t.match(askStranger(paths.journal), [/^intact/])
  await t.rejects(openGolden(paths), { name: 'MasterKeyMismatchError', message: /an earlier one of this store/ })
  const store = await openTestStore(paths.root, { masterKey: CHANGED_TO, segmentBytes: 8 * 1024 })
  await store.close(true)
  t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 })
})
