/**
 * Proof bundles with a history: which records it holds, when it is there, and what of it cannot be forged.
 * Proves: RES-BUN-11, RES-BUN-12, RES-BUN-13, RES-BUN-14, RES-BUN-15, RES-BUN-16.
 */
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import tap, { type Test, test } from 'tap'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { payloadIdOf } from '../../../engine/brands.ts'
import { ProofSigner } from '../../../engine/keys/proof-signer.ts'
import { proofSigningSeed } from '../../../engine/keys/store-keys.ts'
import type { ProofBundle, ProofHistory } from '../../../engine/proof/bundle-types.ts'
import { LOCK_CHANGES_MAXIMUM } from '../../../projections/tables/lock-changes.ts'
import { checkProjections } from '../../../projections/replay/check.ts'
import { treesIn } from '../../../projections/checkpoints/tree-files.ts'
import { systemAudit } from '../../../workers/system-audit.ts'
import { signingOf } from '../../support/checkpoint-signing.ts'
import { flipByteInPlace, segmentPath } from '../../support/journal-files.ts'
import { startManaged } from '../../support/management-server.ts'
import { uploadWhole } from '../../support/multipart.ts'
import { outcomeOf, STRANGER } from '../../support/proofs/proof-verdicts.ts'
import { MASTER_KEY } from '../../support/test-clients.ts'
import { BYPASS, createLockBucket, DAY, later, setLegalHold, setRetention } from '../../support/wire-locks.ts'
import { timeStampRequest } from '../../../engine/checkpoints/time-stamp.ts'
import { timeStampAuthority } from '../../support/time-stamp-authority.ts'
import { createBucket, put, remove, setVersioning } from '../../support/wire-versions.ts'

let isOn = true
const server = await startManaged({
  checkpointFacts: () => ({
    isOn,
    treeSize: undefined,
    mendedHashes: 0,
    signed: 0,
    waitsFor: [],
    refusal: undefined,
    refusalCode: undefined,
  }),
})
tap.teardown(() => server.stop())
const { api, store, paths } = server
let now = Date.now()
const signing = signingOf({ ...store, paths }, { intervalSeconds: 1, clock: () => now })
tap.teardown(() => signing.close())
await createBucket(server, 'plain')
await createBucket(server, 'versions')
await setVersioning(server, 'versions', 'enabled')
await createLockBucket(server, 'locked')

const SIGNER = new ProofSigner(proofSigningSeed(MASTER_KEY))
type Present = Extract<ProofHistory, { status: 'present' }>

/** The next checkpoint, which covers all that was done. */
async function checkpoint(): Promise<void> {
  now = Math.max(now, Date.now()) + 10_000
  await signing.settle()
}

async function bundleOf(target: string, versionId?: string): Promise<ProofBundle> {
  const [bucket, key] = target.split('/')
  const query = versionId === undefined ? '' : `?version_id=${versionId}`
  return api.get<ProofBundle>('GET', `/buckets/${bucket}/object-proof/${key}${query}`)
}

const fileOf = (bytes: string) => ({
  expectedPublicKey: SIGNER.deployment.public_key,
  digestFile: async () => ({ sha256: hash('sha256', bytes), size: Buffer.byteLength(bytes) }),
})

/** The history of a bundle that both verifiers accept. */
async function historyOf(t: Test, bundle: ProofBundle, bytes: string): Promise<Present> {
  const document = Buffer.from(JSON.stringify(bundle))
  const outcome = await outcomeOf(document, fileOf(bytes))
  t.match(outcome, { verdict: 'verified', checks: { checkpoint: 'passed', inclusion: 'passed' } })
  const directory = t.testdir({ file: bytes, 'bundle.json': document })
  const words = [
    STRANGER,
    '--public-key',
    SIGNER.deployment.public_key,
    `${directory}/file`,
    `${directory}/bundle.json`,
  ]
  t.equal(spawnSync('python3', ['-B', ...words]).status, 0, 'the verifier in Python agrees')
  if (bundle.history.status !== 'present') throw new Error(bundle.history.detail)
  return bundle.history
}

test('a version has a history as soon as one checkpoint covers all its records', async (t) => {
  await put(server, 'plain/object', 'bytes')
  t.match((await bundleOf('plain/object')).history, {
    status: 'unavailable',
    reason: 'not_yet_checkpointed',
    detail: /^No checkpoint covers all records of this version yet;/,
  })
  await checkpoint()
  const history = await historyOf(t, await bundleOf('plain/object'), 'bytes')
  const last = signing.reader.last()
  t.same(history.checkpoint, {
    sequence: last?.sequence,
    from_sequence: 0,
    to_sequence: (last?.size ?? 0) - 1,
    leaf_count: last?.size,
    root: Buffer.from(last?.bundleRoot ?? []).toString('hex'),
    previous_checkpoint_hash: '0'.repeat(64),
  })
  t.match(
    history.records,
    pair('s3:PUT').map((record) => ({ ...record, principal: 'system:root' })),
  )
  const [attempt, outcome] = history.records
  t.equal(outcome?.sequence, (attempt?.sequence ?? 0) + 1)
  t.equal(outcome?.previous_hash, attempt?.record_hash)
  await checkpoint()
  await put(server, 'plain/another', 'x')
  await checkpoint()
  const again = await historyOf(t, await bundleOf('plain/object'), 'bytes')
  t.same(
    again.records.map(({ sequence }) => sequence),
    history.records.map(({ sequence }) => sequence),
  )
  t.not(
    again.checkpoint.previous_checkpoint_hash,
    '0'.repeat(64),
    'the newest checkpoint, whose entry names the one before',
  )
})

test('the newest time stamp of the checkpoint is the anchor, over the root that the bundle states', async (t) => {
  const authority = timeStampAuthority(join(server.paths.root, 'authority'))
  const before = await historyOf(t, await bundleOf('plain/object'), 'bytes')
  t.equal(before.anchor, undefined)
  const stamp = authority.answer(timeStampRequest(Buffer.from(before.checkpoint.root, 'hex'), undefined))
  const { asserted_at } = await api.get<{ asserted_at: string }>('POST', '/transparency/receipts', {
    receipt: stamp.toString('base64'),
  })
  const bundle = await bundleOf('plain/object')
  const { anchor, checkpoint: stated } = await historyOf(t, bundle, 'bytes')
  t.same(anchor, { kind: 'rfc3161', receipt: stamp.toString('base64'), asserted_at })
  t.ok(authority.verify(Buffer.from(anchor?.receipt ?? '', 'base64'), Buffer.from(stated.root, 'hex')))
  const forged = {
    ...bundle,
    history: { ...bundle.history, anchor: { ...anchor, asserted_at: '2020-01-01T00:00:00Z' } },
  }
  const outcome = await outcomeOf(Buffer.from(JSON.stringify(forged)), fileOf('bytes'))
  t.match(outcome, { verdict: 'failed', checks: { signature: 'failed' } })
})

const pair = (operation: string) => [
  { operation, result: 'attempted' },
  { operation, result: 'success' },
]

test('what changed the lock is in it, with what was bypassed; reads and refusals are not', async (t) => {
  const version = await put(server, 'locked/object', 'held')
  const retained = { mode: 'GOVERNANCE', until: later(30 * DAY) }
  const answered = async (answer: Promise<{ status: number }>, status: number) => t.equal((await answer).status, status)
  await answered(setRetention(server, 'locked/object', retained), 200)
  await answered(setLegalHold(server, 'locked/object', 'ON'), 200)
  await checkpoint()
  await answered(setLegalHold(server, 'locked/object', 'OFF'), 200)
  await answered(setRetention(server, 'locked/object', { mode: 'GOVERNANCE', until: later(DAY) }), 403)
  await answered(server.raw('GET', '/locked/object'), 200)
  const shorter = { mode: 'GOVERNANCE', until: later(2 * DAY) }
  await answered(setRetention(server, 'locked/object', shorter, { headers: [BYPASS] }), 200)
  await put(server, 'locked/object', 'a later version')
  t.match((await bundleOf('locked/object', version)).history, { status: 'unavailable' }, 'not all of it is covered')
  await checkpoint()
  const { records } = await historyOf(t, await bundleOf('locked/object', version), 'held')
  const change = { operation: 's3:PUT' }
  t.match(records.slice(0, 8), Array.from({ length: 4 }, () => pair('s3:PUT')).flat())
  t.equal(records.length, 12)
  t.match(records.slice(8), [
    { ...change, result: 'attempted' },
    { operation: 's3:object-lock.bypass', result: 'attempted' },
    { ...change, result: 'success' },
    { operation: 's3:object-lock.bypass', result: 'success' },
  ])
  t.equal((await historyOf(t, await bundleOf('locked/object'), 'a later version')).records.length, 2)
})

test('completed uploads, copies, overwritten versions, and versions under a marker', async (t) => {
  const first = await put(server, 'versions/object', 'first')
  await put(server, 'versions/object', 'second')
  await remove(server, 'versions/object')
  await checkpoint()
  t.equal((await historyOf(t, await bundleOf('versions/object', first), 'first')).records.length, 2)
  await uploadWhole(server, '/versions/parts', ['whole'])
  const [payload] = server.services.catalog.snapshot().digestsPending(1)
  await store.client.execute({
    kind: 'record-digest',
    audit: systemAudit('digest', 'payload.digest', `payload:${payload}`),
    payload: payloadIdOf(payload ?? 0),
    digest: hash('sha256', 'whole', 'buffer'),
  })
  await server.raw('PUT', '/versions/copy', { headers: [['x-amz-copy-source', '/versions/object?versionId=' + first]] })
  await checkpoint()
  t.equal((await historyOf(t, await bundleOf('versions/copy'), 'first')).records.length, 2)
  t.match((await historyOf(t, await bundleOf('versions/parts'), 'whole')).records, pair('s3:POST'))
})

test('one that was changed more often than a bundle tells has no history, and says so', async (t) => {
  await put(server, 'locked/often', 'x')
  const change = (at: number) => setLegalHold(server, 'locked/often', at % 2 === 0 ? 'ON' : 'OFF')
  for (let at = 0; at < LOCK_CHANGES_MAXIMUM; at += 1) await change(at)
  await checkpoint()
  const { records } = await historyOf(t, await bundleOf('locked/often'), 'x')
  t.equal(records.length, 2 + 2 * LOCK_CHANGES_MAXIMUM)
  for (let at = 0; at < 3; at += 1) await change(at)
  await checkpoint()
  t.match((await bundleOf('locked/often')).history, { status: 'unavailable', detail: /more than 100 times/ })
})

test('with checkpoints off a bundle is what it was before there were any', async (t) => {
  isOn = false
  t.same((await bundleOf('plain/object')).history, {
    status: 'unavailable',
    reason: 'not_yet_checkpointed',
    detail: 'This deployment makes no checkpoints of its audit chain; the bundle proves the bytes and not the history.',
  })
  isOn = true
})

test('trees that are being made again, and trees that are not those that were signed', async (t) => {
  const trees = treesIn(paths.projections)
  renameSync(trees, `${trees}-away`)
  t.match((await bundleOf('plain/object')).history, {
    status: 'unavailable',
    reason: 'not_yet_checkpointed',
    detail: /being made again/,
  })
  renameSync(`${trees}-away`, trees)
  await historyOf(t, await bundleOf('plain/object'), 'bytes')
  const file = join(trees, 'record-hashes')
  const before = readFileSync(file)
  const changed = Buffer.from(before)
  changed[40]! ^= 1
  writeFileSync(file, changed)
  t.match((await bundleOf('plain/object')).history, {
    status: 'unavailable',
    detail: /were damaged and are being derived/,
  })
  t.equal(server.slots.region(0)[server.slots.damageSlot('trees')], 1)
  writeFileSync(file, before)
  await historyOf(t, await bundleOf('plain/object'), 'bytes')
})

test('a damaged record takes the history from a bundle, and not the proof of the bytes', async (t) => {
  await checkpoint()
  await server.journal()
  const path = segmentPath(paths, 0)
  const at = readFileSync(path).indexOf('plain/object')
  flipByteInPlace(path, at)
  const { history } = await bundleOf('plain/object')
  t.match(history, {
    status: 'unavailable',
    detail: /record \d+, or one near it, cannot be read \(0{16}\.segment, offset \d+\)/,
  })
  flipByteInPlace(path, at)
  await historyOf(t, await bundleOf('plain/object'), 'bytes')
})

test('the rows follow from the journal, and go with their version', async (t) => {
  const version = await put(server, 'locked/gone', 'x')
  await setLegalHold(server, 'locked/gone', 'ON')
  await setLegalHold(server, 'locked/gone', 'OFF')
  await remove(server, 'locked/gone', version)
  t.match(await checkProjections(nodeDisk, paths), { differences: [] })
  rmSync(paths.projectionsCheck, { recursive: true, force: true })
  t.same(server.undocumented, [])
  t.same(server.failures, [])
})
