/**
 * Verification, inspection and repair, with damage planted on the disk.
 * Proves: DO-CAP-23, DO-ACC-01, RES-STO-01, RES-STO-02, API-STO-01, API-STO-02, API-STO-03, API-STO-05, API-INT-01,
 * API-INT-02.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import tap, { test } from 'tap'
import { bucketIdOf } from '../../../engine/brands.ts'
import { API } from '../../../planes/management/routing/define-route.ts'
import type { SnapshotFacts } from '../../../projections/snapshots/snapshot-facts.ts'
import { systemAudit } from '../../../workers/system-audit.ts'
import { flipByte } from '../../support/journal-files.ts'
import { startManaged } from '../../support/management-server.ts'
import { abort, complete, createUpload, payloadFileNames, sendPart } from '../../support/multipart.ts'

let snapshots: SnapshotFacts = {
  state: 'off',
  newest: undefined,
  count: 0,
  changes: 0,
  bytes: 0,
  made: 0,
  writtenBytes: 0,
  failures: 0,
}
const server = await startManaged({ inlineBytesMaximum: 1000, snapshots: () => snapshots })
tap.teardown(() => server.stop())
const { api, paths, slots } = server
const LARGE = 'b'.repeat(5000)
await api.get('POST', '/buckets', { name: 'stored' })

/** Stores an object in a payload file of its own, and gives the path of the file. */
async function putFile(key: string): Promise<string> {
  const before = payloadFileNames(paths)
  await api.send('PUT', `${API}/buckets/stored/object/${key}`, { raw: LARGE })
  const [name = ''] = payloadFileNames(paths).filter((one) => !before.includes(one))
  return paths.file(name)
}

interface Findings {
  readonly consistent: boolean
  readonly examined: number
  readonly orphans: readonly unknown[]
  readonly missing: readonly unknown[]
  readonly removed?: readonly string[]
}

test('status and usage', async (t) => {
  const file = await putFile('sound')
  await api.send('PUT', `${API}/buckets/stored/object/small`, { raw: 'x' })
  const usage = await api.get('GET', '/storage/usage')
  t.match(usage, { buckets: 1, objects: 2, versions: 2, delete_markers: 0, logical_bytes: LARGE.length + 1 })
  t.match(usage, {
    by_bucket: [{ name: 'stored', objects: 2, logical_bytes: LARGE.length + 1, noncurrent_versions: 0 }],
  })
  const { physical_bytes: physical, unused_volume_bytes: unused } = await api.get<Record<string, number>>(
    'GET',
    '/storage/usage',
  )
  const volumes = readdirSync(paths.volumes).filter((name) => name.endsWith('.volume'))
  const volumeBytes = volumes.reduce((sum, name) => sum + statSync(join(paths.volumes, name)).size, 0)
  t.equal(physical, volumeBytes + statSync(file).size, 'what the disk holds')
  t.equal(unused, volumeBytes - 1)
  t.match(await api.get('GET', '/storage/status'), { temporary_upload_bytes: 0 })
  t.ok(existsSync(file))
})

test('the status counts what uploads on their way hold', async (t) => {
  const upload = await createUpload(server, '/stored/on-its-way')
  await sendPart(server, '/stored/on-its-way', upload, 1, LARGE)
  t.match(await api.get('GET', '/storage/status'), { temporary_upload_bytes: LARGE.length })
  await abort(server, '/stored/on-its-way', upload)
  t.match(await api.get('GET', '/storage/status'), { temporary_upload_bytes: 0 })
})

const snapshotStatus = () => api.get<{ snapshots: Record<string, unknown> }>('GET', '/storage/status')

const recordsAfter = () => server.store.journal.position.sequence - 2

test('status says what there is of snapshots', async (t) => {
  const none = { state: 'off', newest_sequence: null, newest_at: null, newest_bytes: null, count: 0 }
  t.match((await snapshotStatus()).snapshots, none)
  snapshots = {
    state: 'making',
    newest: { sequence: 2, bytes: 9000, createdMilliseconds: Date.UTC(2026, 0, 2) },
    count: 2,
    changes: 5,
    bytes: 20_000,
    made: 3,
    writtenBytes: 70_000,
    failures: 1,
  }
  const least = recordsAfter()
  const { records_after: after, ...rest } = (await snapshotStatus()).snapshots
  t.same(rest, {
    state: 'making',
    newest_sequence: 2,
    newest_at: '2026-01-02T00:00:00.000Z',
    newest_bytes: 9000,
    count: 2,
    changes: 5,
    bytes: 20_000,
    made: 3,
    written_bytes: 70_000,
    failures: 1,
  })
  // Records of the requests themselves come a moment later.
  t.ok(Number(after) >= least && Number(after) <= recordsAfter(), `what a start would replay: ${String(after)}`)
})

test('a damaged byte is found, and the object named', async (t) => {
  t.match(await api.get('POST', '/verify/objects/stored/sound'), { status: 'verified', size: LARGE.length })
  flipByte(await putFile('turned'), 2000)
  const found = await api.get('POST', '/verify/objects/stored/turned')
  t.match(found, { status: 'damaged', expected_sha256: /^[0-9a-f]{64}$/, computed_sha256: null })
  const bucket = await api.get('POST', '/verify/buckets/stored')
  t.match(bucket, { examined: 3, verified: 2, damaged: 1, pending: 0, next_after: null })
  t.match(bucket, { damaged_objects: [{ key: 'turned', version_id: 'null' }] })
  t.equal((await api.call('POST', '/verify/objects/stored/none')).code, 'OBJECT_NOT_FOUND')
  t.equal((await api.call('GET', '/buckets/stored/object-content/turned')).code, 'OBJECT_DAMAGED')
  const counted = (['verification', 'read'] as const).map((finder) => slots.region(0)[slots.damageSlot(finder)])
  t.same(counted, [2, 1], 'the metrics count what met it')
  await api.call('DELETE', '/buckets/stored/object/turned')
})

test('an orphan is found, and removed only when that is asked for', async (t) => {
  const name = `${'0'.repeat(26)}ab`
  const orphan = paths.file(name)
  mkdirSync(dirname(orphan), { recursive: true })
  writeFileSync(orphan, 'of nobody')
  const named = { consistent: false, orphans: [{ kind: 'payload-file', name, bytes: 9 }], missing: [] }
  t.match(await api.get<Findings>('GET', '/storage/inspect'), named)
  t.match(await api.get<Findings>('POST', '/storage/repair', {}), { ...named, dry_run: true, removed: [] })
  t.ok(existsSync(orphan), 'a dry run keeps it')
  const repaired = await api.get<Findings>('POST', '/storage/repair', { dry_run: false })
  t.match(repaired, { dry_run: false, removed: [name] })
  t.notOk(existsSync(orphan))
  const outcome = (await server.journal()).at(-1)
  t.match(Object.fromEntries(outcome?.details ?? []), {
    repair: 'remove',
    orphans: 1,
    removed: 1,
    removed_names: JSON.stringify([name]),
  })
  t.match(await api.get('GET', '/storage/inspect'), { consistent: true, orphans: [] })
  t.match(await api.get('POST', '/verify/objects/stored/sound'), { status: 'verified' }, 'the others are kept')
})

test('a file that is missing or too short is named, and never made up for', async (t) => {
  const file = await putFile('gone')
  const name = file.slice(file.lastIndexOf('/') + 1)
  const bytes = readFileSync(file)
  for (const [reason, change] of [
    ['missing', () => undefined],
    ['wrong length', () => writeFileSync(file, bytes.subarray(0, -1))],
  ] as const) {
    rmSync(file, { force: true })
    change()
    const missing = [{ kind: 'payload-file', name, reason, objects: [{ bucket: 'stored', key: 'gone' }] }]
    t.match(await api.get('GET', '/storage/inspect'), { consistent: false, missing }, reason)
    t.match(await api.get('POST', '/storage/repair', { dry_run: false }), { missing, removed: [] }, reason)
    t.match(await api.get('POST', '/verify/objects/stored/gone'), { status: 'damaged' }, reason)
  }
})

test('what misses its payload is named: versions, copies, parts, and uploads in progress', async (t) => {
  await api.get('POST', '/buckets', { name: 'named' })
  await api.get('PUT', '/buckets/named/versioning', { status: 'Enabled' })
  const versions: unknown[] = []
  const put = async (key: string, from?: string) => {
    const headers = from === undefined ? [] : ([['x-amz-copy-source', from]] as const)
    const answer = await server.raw('PUT', `/named/${key}`, from === undefined ? { body: LARGE } : { headers })
    t.equal(answer.status, 200)
    versions.push({ bucket: 'named', key, version_id: answer.headers['x-amz-version-id'] })
  }
  const files = new Set(payloadFileNames(paths))
  const newFiles = () => {
    const names = payloadFileNames(paths).filter((name) => !files.has(name))
    for (const name of names) files.add(name)
    return names
  }
  await put('old')
  const [shared = ''] = newFiles()
  for (let copy = 0; copy < 11; copy += 1) await put('z-copy', '/named/old')
  await server.raw('DELETE', '/named/z-copy')
  const upload = await createUpload(server, '/named/whole')
  const part = await sendPart(server, '/named/whole', upload, 1, LARGE)
  const [partFile = ''] = newFiles()
  const done = await complete(server, '/named/whole', upload, [part])
  t.equal(done.status, 200)
  const whole = { bucket: 'named', key: 'whole', version_id: done.headers['x-amz-version-id'] }
  const open = await createUpload(server, '/named/open')
  await sendPart(server, '/named/open', open, 1, LARGE)
  const [openFile = ''] = newFiles()
  for (const name of [shared, partFile, openFile]) rmSync(paths.file(name))
  const { missing } = await api.get<{ missing: { name: string; objects: unknown[] }[] }>('GET', '/storage/inspect')
  const objectsOf = (name: string) => missing.find((each) => each.name === name)?.objects ?? []
  const [old, ...copies] = versions
  t.same(objectsOf(shared), [old, ...copies.toReversed().slice(0, 9)], 'ten of the twelve, current objects first')
  t.same(objectsOf(partFile), [whole])
  t.same(objectsOf(openFile), [{ bucket: 'named', key: 'open', version_id: null }])
  const repair = await api.get<{ missing: unknown }>('POST', '/storage/repair', {})
  t.same(repair.missing, missing, 'a repair names them too')
})

const byPath = (left: { path: string }, right: { path: string }) => (left.path < right.path ? -1 : 1)

test('files that are not ours are named and left alone', async (t) => {
  const stray = {
    'payloads/a note': 'a',
    'payloads/files/zz': 'bb',
    'payloads/files/ab/x': 'ccc',
    'payloads/volumes/y': '',
  }
  const file = await putFile('misplaced')
  const misplaced = `payloads/files/${file.endsWith('00') ? '01' : '00'}/${basename(file)}`
  const all = { ...stray, [misplaced]: 'of another directory' }
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(paths.root, path)), { recursive: true })
    writeFileSync(join(paths.root, path), text)
  }
  const found = await api.get<{ foreign: { path: string; reason: string; bytes: number }[] }>('GET', '/storage/inspect')
  const expected = Object.entries(all).map(([path, text]) => {
    return { path, reason: path === misplaced ? 'misplaced' : 'foreign', bytes: text.length }
  })
  t.same(found.foreign.toSorted(byPath), expected.toSorted(byPath))
  t.match(found, { consistent: false })
  await api.get('POST', '/storage/repair', { dry_run: false })
  for (const path of Object.keys(all)) {
    t.ok(existsSync(join(paths.root, path)), path)
    rmSync(join(paths.root, path))
  }
})

test('pages of one entry find what one large page finds, files before rows', async (t) => {
  const orphan = paths.file(`${'1'.repeat(26)}ab`)
  mkdirSync(dirname(orphan), { recursive: true })
  writeFileSync(orphan, 'of nobody')
  const whole = await api.get<Findings>('GET', '/storage/inspect')
  t.match(whole, { truncated: false, next_after: null, consistent: false })
  const first = await api.get('GET', '/storage/inspect?maximum_entries=1')
  t.match(first, { examined: 1, truncated: true, next_after: /^payloads:/, consistent: null })
  const pages: Findings[] = []
  let after: string | null = ''
  while (after !== null) {
    const query: string = after === '' ? '' : `&after=${encodeURIComponent(after)}`
    const page: Findings & { next_after: string | null } = await api.get(
      'GET',
      `/storage/inspect?maximum_entries=1${query}`,
    )
    pages.push(page)
    after = page.next_after
  }
  t.equal(
    pages.reduce((sum, { examined }) => sum + examined, 0),
    whole.examined,
  )
  t.same(
    pages.flatMap(({ orphans }) => orphans),
    whole.orphans,
  )
  t.same(
    pages.flatMap(({ missing }) => missing),
    whole.missing,
  )
  t.equal((await api.call('GET', '/storage/inspect?after=rows:x')).code, 'INVALID_REQUEST')
  rmSync(orphan)
})

test('a scrub is begun by request, once, and its state is in the status', async (t) => {
  await putFile('scrubbed')
  t.match(await api.get('GET', '/storage/status'), { scrub: null })
  const begun = await api.get<{ started_at: string }>('POST', '/storage/scrub')
  t.match(begun, { state: 'running', completed_at: null, payloads: 0, segments: 0, bytes: 0, damaged: 0, damage: [] })
  t.same(await api.get('POST', '/storage/scrub'), begun, 'the same pass')
  const bucket = server.session.catalog.snapshot().bucket('stored')
  const object = bucket && server.session.catalog.snapshot().object(bucket.id, 'scrubbed')
  const progress = server.session.catalog.snapshot().scrub()?.progress
  if (bucket === undefined || object?.payload === undefined || progress === undefined) throw new Error('nothing there')
  await server.session.engine.execute({
    kind: 'record-scrub',
    audit: systemAudit('scrub', 'storage.scrub', 'storage'),
    progress: { ...progress, stage: 'over', payloads: 5, segments: 1, bytes: 7000, damaged: 2 },
    damage: [
      {
        kind: 'payload',
        number: object.payload,
        reason: 'payload file x: checksum does not match',
        objects: [
          { bucketId: bucket.id, key: 'scrubbed', version: { sequence: object.sequence, isNull: true } },
          { bucketId: bucketIdOf(999_999), key: 'part', version: undefined },
        ],
      },
      { kind: 'segment', number: 0, reason: 'its header or its seal is damaged', objects: [] },
    ],
  })
  const { scrub } = await api.get<{ scrub: object }>('GET', '/storage/status')
  t.match(scrub, { state: 'complete', started_at: begun.started_at, completed_at: String, payloads: 5, damaged: 2 })
  t.match(scrub, {
    damage: [
      {
        kind: 'payload',
        number: object.payload,
        found_at: String,
        objects: [
          { bucket: 'stored', key: 'scrubbed', version_id: 'null' },
          { bucket: null, key: 'part', version_id: null },
        ],
      },
      { kind: 'segment', number: 0, objects: [] },
    ],
  })
})

test('no answer was another one than the document says', async (t) => {
  t.same(server.undocumented, [])
})
