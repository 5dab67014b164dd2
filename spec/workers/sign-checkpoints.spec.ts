/**
 * Checkpoints: when they are signed, what they say, and every way in which a log must not sign.
 * Proves: RES-CHN-08.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { microsecondsOf, sequenceOf } from '../../engine/brands.ts'
import type { CommandOf } from '../../engine/commands/commands.ts'
import {
  isSignedBy,
  readCheckpointNote,
  readVerifierKey,
  verifierKeyText,
} from '../../engine/checkpoints/checkpoint-note.ts'
import { LOG_HASHING } from '../../engine/checkpoints/tree-hashing.ts'
import { isConsistent, rootOfInclusion, treeRoot } from '../../engine/checkpoints/tree-shape.ts'
import type { CheckpointState } from '../../engine/checkpoints/state.ts'
import { verifyJournal } from '../../engine/verify/journal-verifier.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { noteOf } from '../../projections/checkpoints/checkpoint-log.ts'
import { TreeFiles, treesIn } from '../../projections/checkpoints/tree-files.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { signingOf, storeAndWorker } from '../support/checkpoint-signing.ts'
import { auditOf, createBucket } from '../support/commands.ts'
import { flipByteInPlace } from '../support/journal-files.ts'
import { rootOfRecords as treeOf } from '../support/honest-witness.ts'
import { signedHistory } from '../support/signed-history.ts'
import { MASTER_KEY, openTestStore, roomyDisk, type TestStore } from '../support/test-store.ts'

test('T2 a checkpoint covers every record before it, with the roots of both trees, under the key of the log', async (t) => {
  const { store, signing } = await storeAndWorker(t.testdir())
  await store.client.execute(createBucket('one'))
  const covered = store.journal.position.sequence + 1
  await signing.settle()
  const last = signing.reader.last() as CheckpointState
  t.match(last, { size: covered, sequence: covered, origin: `spec.log/${store.deploymentId}` })
  t.same(Buffer.from(last.previous), Buffer.alloc(32))
  const note = readCheckpointNote(noteOf(last))
  t.ok(isSignedBy(note, readVerifierKey(verifierKeyText(last.origin, signing.publicKey))))
  const trees = TreeFiles.openToRead(nodeDisk, treesIn(store.paths.projections)) as TreeFiles
  t.same(Buffer.from(last.root), treeRoot(trees.tree('log'), covered))
  t.same(Buffer.from(last.bundleRoot), treeRoot(trees.tree('bundle'), covered))
  trees.close()
  await signing.close()
  await store.close(true)
  const report = await verifyJournal(store.paths.journal, { threads: 0, settleMilliseconds: 0, masterKey: MASTER_KEY })
  t.match(report, { intact: true, notes: [] })
})

test('an interval of 0 makes no checkpoint and no tree', async (t) => {
  const { store, signing } = await storeAndWorker(t.testdir(), { intervalSeconds: 0 })
  t.equal(await signing.worker.step(), 'done')
  t.match(signing.worker.facts, { isOn: false, signed: 0 })
  t.equal(signing.worker.lateSeconds, undefined)
  t.notOk(existsSync(treesIn(store.paths.projections)))
  t.equal(signing.reader.last(), undefined)
  t.throws(() => signing.log.last(), { name: 'LogRefusal', reason: 'none' })
  t.throws(() => signing.log.inclusion(0, undefined), { name: 'LogRefusal', reason: 'none' })
  await signing.close()
  await store.close(true)
})

test('T6 proofs of inclusion and consistency lead to what was signed', async (t) => {
  const { store, signing, pass } = await storeAndWorker(t.testdir())
  await signing.settle()
  for (const name of ['one', 'two', 'three']) {
    for (let index = 0; index < 5; index += 1) store.client.record(auditOf('s3:GET', 'x'), 'success')
    await store.client.execute(createBucket(name))
    pass(60_000)
    await signing.settle()
  }
  const all = signing.reader.after(-1, 10)
  const last = all.at(-1) as CheckpointState
  const trees = TreeFiles.openToRead(nodeDisk, treesIn(store.paths.projections)) as TreeFiles
  for (const checkpoint of all) {
    const [head, ...lines] = signing.log.consistency(checkpoint.size, undefined).split('\n')
    t.equal(head, `old ${checkpoint.size}`)
    const path = lines.slice(0, lines.indexOf('')).map((line) => Buffer.from(line, 'base64'))
    t.ok(isConsistent(LOG_HASHING, checkpoint, last, path), `from ${checkpoint.size}`)
    t.equal(lines.slice(lines.indexOf('') + 1).join('\n'), noteOf(last))
  }
  const hashes = Array.from({ length: last.size }, (_, sequence) => trees.recordHash(sequence))
  for (let old = 1; old <= last.size; old += 1) {
    const before = { size: old, root: treeOf(hashes.slice(0, old)) }
    if (!isConsistent(LOG_HASHING, before, last, signing.log.consistencyOf(last, old))) t.fail(`from any size: ${old}`)
  }
  t.equal(signing.log.consistency(0, undefined), `old 0\n\n${noteOf(last)}`, 'every tree begins with the empty one')
  for (let sequence = 0; sequence < last.size; sequence += 1) {
    const [format, index, ...lines] = signing.log.inclusion(sequence, undefined).split('\n')
    if (format !== 'c2sp.org/tlog-proof@v1' || index !== `index ${sequence}`) t.fail(`proof of ${sequence}`)
    const path = lines.slice(0, lines.indexOf('')).map((line) => Buffer.from(line, 'base64'))
    const root = rootOfInclusion(LOG_HASHING, trees.recordHash(sequence), sequence, last.size, path)
    if (root?.equals(last.root) !== true) t.fail(`record ${sequence}`)
  }
  trees.close()
  t.throws(() => signing.log.inclusion(last.size, undefined), { name: 'LogRefusal', reason: 'not-covered' })
  t.throws(() => signing.log.inclusion(0, last.size - 1), { name: 'LogRefusal', reason: 'none' })
  t.throws(() => signing.log.consistency(last.size, all[0]?.size), { name: 'LogRefusal', reason: 'not-covered' })
  t.throws(() => signing.log.tile({ level: 0, index: 0, width: last.size + 1 }), { name: 'LogRefusal', reason: 'none' })
  t.equal(signing.log.tile({ level: 'entries', index: 0, width: 3 }).length, 3 * 34)
  await signing.close()
  await store.close(true)
})

test('after rm -rf of the projections the same notes and proofs come back, and nothing is answered before', async (t) => {
  const root = t.testdir()
  const { store, signing, pass } = await storeAndWorker(root)
  await signing.settle()
  await store.client.execute(createBucket('one'))
  pass(60_000)
  await signing.settle()
  const first = signing.reader.after(-1, 1)[0] as CheckpointState
  const before = [
    noteOf(signing.log.last()),
    signing.log.inclusion(1, undefined),
    signing.log.consistency(first.size, undefined),
  ]
  await signing.close()
  await store.close(true)
  rmSync(store.paths.projections, { recursive: true })
  const reopened = await openTestStore(root)
  // The clock of the store was in the past: nothing is due before that of the worker has passed as far.
  const again = signingOf(reopened, { clock: () => Date.UTC(2026, 0, 1) + 60_000 })
  t.throws(() => again.log.inclusion(1, undefined), { name: 'LogRefusal', reason: 'not-ready' })
  t.equal(noteOf(again.log.last()), before[0], 'the note is in the journal')
  await again.settle()
  t.same(
    [noteOf(again.log.last()), again.log.inclusion(1, undefined), again.log.consistency(first.size, undefined)],
    before,
  )
  await again.close()
  await reopened.close(true)
  t.match(await checkProjections(roomyDisk, store.paths), { differenceCount: 0 })
})

/** The command of a worker that would sign this. */
function signCommand(
  checkpoint: Partial<CheckpointState> & Pick<CheckpointState, 'size'>,
  after: number | undefined,
): CommandOf<'sign-checkpoint'> {
  const bytes = Buffer.alloc(32)
  return {
    kind: 'sign-checkpoint',
    audit: { ...auditOf('checkpoint.sign', 'log'), principal: 'system:checkpoints' },
    checkpoint: {
      root: bytes,
      bundleRoot: bytes,
      previous: bytes,
      origin: 'log/1',
      publicKey: bytes,
      signature: Buffer.alloc(64),
      ...checkpoint,
    },
    after: after === undefined ? undefined : sequenceOf(after),
  }
}

async function signedStore(root: string): Promise<{ readonly store: TestStore; readonly sequence: number }> {
  const store = await openTestStore(root)
  await store.client.execute(createBucket('one'))
  const { sequence } = await store.client.execute(signCommand({ size: 3 }, undefined))
  await store.client.execute(createBucket('two'))
  return { store, sequence }
}

test('T3 a log that forks, rolls back, skips or signs twice is refused by name, after a restart too', async (t) => {
  const { store, sequence } = await signedStore(t.testdir())
  const refusals = async (client: TestStore['client']) => {
    const other = Buffer.alloc(32, 1)
    t.same(await codeOf(client, signCommand({ size: 3, root: other }, sequence)), 'checkpoint-forks')
    t.same(await codeOf(client, signCommand({ size: 3, bundleRoot: other }, sequence)), 'checkpoint-forks')
    t.same(await codeOf(client, signCommand({ size: 3 }, sequence)), 'checkpoint-signed-twice')
    t.same(await codeOf(client, signCommand({ size: 2 }, sequence)), 'checkpoint-rolls-back')
    t.same(await codeOf(client, signCommand({ size: sequence }, sequence)), 'checkpoint-rolls-back')
    t.same(await codeOf(client, signCommand({ size: sequence + 1 }, undefined)), 'checkpoint-skips')
    t.same(await codeOf(client, signCommand({ size: sequence + 1 }, sequence - 1)), 'checkpoint-skips')
    t.same(await codeOf(client, signCommand({ size: 1_000_000 }, sequence)), 'checkpoint-skips')
  }
  await refusals(store.client)
  await store.close(true)
  const reopened = await openTestStore(store.paths.root)
  await refusals(reopened.client)
  await reopened.client.execute(signCommand({ size: sequence + 1 }, sequence))
  await reopened.close(true)
})

async function codeOf(client: TestStore['client'], command: CommandOf<'sign-checkpoint'>): Promise<string> {
  return client.execute(command).then(
    () => 'signed',
    (error: { code: string }) => error.code,
  )
}

test('T3 after a restore from a backup the old origin signs no more, and the worker signs under another', async (t) => {
  const { store, signing, pass } = await storeAndWorker(t.testdir())
  await signing.settle()
  const before = signing.reader.last() as CheckpointState
  const restored = {
    last: sequenceOf(3),
    head: Buffer.alloc(32),
    backedUp: microsecondsOf(0),
    restored: microsecondsOf(0),
  }
  await store.client.execute({
    kind: 'record-server-event',
    audit: { ...auditOf('journal.restore', 'journal'), principal: 'system:server' },
    changes: [{ name: 'journal.restored', ...restored }],
  })
  const command = signCommand({ size: before.sequence + 1, origin: before.origin }, before.sequence)
  t.equal(await codeOf(store.client, command), 'checkpoint-rolls-back')
  pass(60_000)
  await signing.settle()
  const after = signing.reader.last() as CheckpointState
  t.match(after.origin, new RegExp(`^${before.origin}/[0-9a-f]{16}$`))
  pass(60_000)
  await store.client.execute(createBucket('one'))
  await signing.settle()
  t.equal(signing.reader.last()?.origin, after.origin, 'and it stays so')
  await signing.close()
  await store.close(true)
})

test('T3 trees that were damaged are made again from the journal, and then signed; until then no proof leaves', async (t) => {
  const root = t.testdir({ before: {}, after: {} })
  for (const [record, title] of [
    [290, 'before'],
    [310, 'after'],
  ] as const) {
    const { store, signing, pass } = await storeAndWorker(join(root, title))
    for (let index = 0; index < 300; index += 1) store.client.record(auditOf('s3:GET', 'x'), 'success')
    await store.loop.drained()
    await signing.settle()
    const signed = signing.reader.last() as CheckpointState
    for (let index = 0; index < 30; index += 1) store.client.record(auditOf('s3:GET', 'x'), 'success')
    await store.loop.drained()
    await signing.settle()
    const file = join(treesIn(store.paths.projections), 'record-hashes')
    flipByteInPlace(file, 32 * record)
    if (record < signed.size) {
      t.throws(() => signing.log.inclusion(record, undefined), { name: 'LogRefusal', reason: 'damaged' })
      t.throws(() => signing.log.tile({ level: 0, index: 1, width: 10 }), { name: 'LogRefusal', reason: 'damaged' })
    }
    pass(60_000)
    await signing.settle()
    t.match(signing.worker.facts, { refusal: undefined, signed: 2 }, title)
    t.match(signing.reader.last(), { size: store.journal.position.sequence })
    await signing.close()
    await store.close(true)
    t.match(await checkProjections(roomyDisk, store.paths), { differenceCount: 0 })
    const { signed: all, faults } = signedHistory(store.paths.root)
    t.same([all.length, faults], [2, []], title)
  }
})

test('T3 a journal that is not what was signed stops the signing, not the store', async (t) => {
  const { store, sequence } = await signedStore(t.testdir())
  const signing = signingOf(store, { clock: () => Date.UTC(2130, 0, 1) })
  await t.rejects(signing.settle(), { name: 'CheckpointForkError' })
  t.match(signing.worker.facts, { refusal: /does not continue the checkpoint of 3 records/ })
  t.equal(signing.discarded.length, 1, 'the trees were made again once before it was said')
  await t.rejects(signing.settle(), { name: 'CheckpointForkError' })
  t.equal(signing.discarded.length, 1)
  t.equal(signing.reader.last()?.sequence, sequence)
  await store.client.execute(createBucket('goes-on'))
  await signing.close()
  await store.close(true)
})

test('T4 a record that changed on the disk stops the signing', async (t) => {
  const { store, signing, pass } = await storeAndWorker(t.testdir())
  await signing.settle()
  const { offset } = store.journal.place
  await store.client.execute(createBucket('one'))
  const path = store.paths.segment(sequenceOf(0))
  const bytes = readFileSync(path)
  bytes[offset + 200]! ^= 1
  writeFileSync(path, bytes)
  pass(60_000)
  await t.rejects(signing.settle(), { name: 'JournalDamagedError' })
  t.equal(signing.reader.after(-1, 10).length, 1)
  bytes[offset + 200]! ^= 1
  writeFileSync(path, bytes)
  await signing.settle()
  t.equal(signing.reader.after(-1, 10).length, 2, 'it goes on when the bytes are those that were written')
  await signing.close()
  await store.close(true)
})
