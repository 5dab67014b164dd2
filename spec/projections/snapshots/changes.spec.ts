/** Snapshots that hold only what changed since the last one, and starts from a whole one and the changes after it. */
import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { sequenceOf } from '../../../engine/brands.ts'
import type { Disk } from '../../../engine/disk/disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { openingNoteOf } from '../../../projections/try-open.ts'
import { chainFiles, chains, filesOf } from '../../../projections/snapshots/snapshot-chain.ts'
import { descriptionOf } from '../../../projections/snapshots/restore-snapshot.ts'
import { encodeEnd, type SnapshotDescription } from '../../../projections/snapshots/snapshot-file.ts'
import { SnapshotWalk } from '../../../projections/snapshots/snapshot-walk.ts'
import { createBucket, deleteBucket, deleteObject, write } from '../../support/commands.ts'
import { FaultDisk, noSpaceError } from '../../support/disks/fault-disk.ts'
import { flipByte } from '../../support/journal-files.ts'
import { rebuiltTables } from '../../support/rebuilt-tables.ts'
import { everyNth } from '../../support/share-of-cases.ts'
import { fillSegments, snapshotOf } from '../../support/snapshots.ts'
import { dumpStore, openTestStore, OTHER_BOOT_ID, roomyDisk, type TestStore } from '../../support/test-store.ts'

/** So that no whole snapshot follows but those that are kept. */
const CHANGES_ALONE = { changesShare: 1e9 }

/** Two whole snapshots and so many files of changes, among them removed rows and rows that changed again. */
async function storeWithChanges(root: string, count: number): Promise<TestStore> {
  const store = await openTestStore(root)
  const { client, paths } = store
  for (let round = 0; round < 2 + count; round += 1) {
    await fillSegments(store, 'filled')
    await client.execute(deleteObject('filled', `key-${round}`))
    await client.execute(write('filled', `added-${round}`, Buffer.from(`round ${round}`)))
    await client.execute(createBucket(`bucket-${round}`))
    if (round > 1) await client.execute(deleteBucket(`bucket-${round - 1}`))
    await snapshotOf(paths, CHANGES_ALONE)
  }
  await client.execute(createBucket('after-the-snapshot'))
  return store
}

async function cutStore(t: Test, count: number): Promise<StorePaths> {
  const store = await storeWithChanges(join(t.testdir(), 'data'), count)
  await store.kill()
  return store.paths
}

let boots = 0

/** What a start after a power cut says, after its rows were compared with the journal's. */
async function startOf(t: Test, paths: StorePaths, disk: Disk = roomyDisk) {
  boots += 1
  const store = await openTestStore(paths.root, { bootId: `${OTHER_BOOT_ID}-${boots}` }, disk)
  await store.kill()
  t.same(await dumpStore(paths), await rebuiltTables(paths))
  return store.report
}

function names(paths: StorePaths): string[] {
  const [newest] = chains(roomyDisk, paths)
  return newest === undefined ? [] : filesOf(newest).map(({ name }) => name)
}

test('after the snapshots that are kept, a snapshot is the rows that changed', async (t) => {
  const store = await storeWithChanges(join(t.testdir(), 'data'), 3)
  const { paths } = store
  const [newest, older] = chains(roomyDisk, paths)
  t.equal(newest?.changes.length, 3)
  t.equal(older?.changes.length, 4, 'the older one goes as far')
  t.equal(older?.sequence, newest?.sequence)
  await fillSegments(store, 'filled')
  const made = await snapshotOf(paths, { ...CHANGES_ALONE, followerIsWhole: true })
  t.match(made, { isWhole: false, refused: [] })
  const whole = roomyDisk.sizeOf(newest?.whole.path ?? '')
  t.ok((made?.bytes ?? whole) < whole / 10, `${made?.bytes} bytes where a whole one has ${whole}`)
  t.notOk(existsSync(paths.snapshotMaking))
  await store.kill()
  const report = await startOf(t, paths)
  t.match(report, { snapshot: /\.changes$/, refusedSnapshots: [] })
  t.ok(report.replayedRecords < (made?.sequence ?? 0) / 4, 'and the journal after the changes was replayed, not more')
})

test('a start after each of several power cuts has the rows of the journal', async (t) => {
  const paths = await cutStore(t, 4)
  for (let cut = 0; cut < 3; cut += 1) {
    const last = names(paths).at(-1)
    t.match(await startOf(t, paths), { snapshot: last, refusedSnapshots: [] })
    t.equal(chains(roomyDisk, paths).length, 1, 'the newest was moved, the last is copied')
  }
  rmSync(paths.projections, { recursive: true })
  const clean = await openTestStore(paths.root)
  t.match(clean.report, { snapshot: /\.changes$/, refusedSnapshots: [] })
  await clean.close(true)
  t.same(await dumpStore(paths), await rebuiltTables(paths))
})

test('the next snapshot goes on from changes that a start or another process left', async (t) => {
  const store = await storeWithChanges(join(t.testdir(), 'data'), 2)
  const { paths } = store
  const { sequence: last } = chains(roomyDisk, paths)[0] ?? {}
  rmSync(paths.projectionsFollower, { recursive: true })
  await fillSegments(store, 'filled')
  const made = await snapshotOf(paths, CHANGES_ALONE)
  t.match(made, { isWhole: false, records: (made?.sequence ?? 0) - (last ?? 0), refused: [] })
  await store.kill()
  const newest = names(paths).at(-1)
  t.match(await startOf(t, paths), { snapshot: newest, refusedSnapshots: [] })
})

test('changes that have reached their share of the whole snapshot lead to another, and what it supersedes goes', async (t) => {
  const store = await storeWithChanges(join(t.testdir(), 'data'), 2)
  const { paths } = store
  const [newest, older] = chains(roomyDisk, paths)
  await fillSegments(store, 'filled')
  t.match(await snapshotOf(paths, { changesShare: 1e-9 }), { isWhole: true })
  const after = chains(roomyDisk, paths)
  t.same(
    after.map(({ whole }) => whole.sequence),
    [after[0]?.sequence, newest?.whole.sequence],
  )
  t.equal(after[1]?.sequence, after[0]?.sequence, 'the older one goes as far as the new one')
  t.notOk(roomyDisk.exists(older?.whole.path ?? ''))
  t.notOk(roomyDisk.exists(older?.changes[0]?.path ?? ''), 'changes before every whole one')
  t.equal(readdirSync(paths.snapshots).length, chainFiles(roomyDisk, paths).length, 'and nothing else is there')
  flipByte(after[0]?.whole.path ?? '', 5000)
  await store.kill()
  const last = after[1]?.changes.at(-1)?.name
  t.match(await startOf(t, paths), { snapshot: last, refusedSnapshots: [{ reason: /digest/ }] })
})

test('one kept snapshot has changes after it, and none before it', async (t) => {
  const store = await openTestStore(join(t.testdir(), 'data'))
  const { paths } = store
  for (const changesShare of [1e9, 1e9, 0]) {
    await fillSegments(store, 'filled')
    await snapshotOf(paths, { kept: 1, changesShare })
  }
  const [chain, ...others] = chains(roomyDisk, paths)
  t.match(chain, { changes: [] })
  t.same(others, [])
  t.equal(readdirSync(paths.snapshots).length, 1)
  await store.kill()
})

test('a flipped bit anywhere in changes is found: a start goes as far as they are sound, and the daily check removes them', async (t) => {
  const paths = await cutStore(t, 3)
  const [, first, second, third] = names(paths)
  const path = join(paths.snapshots, second ?? '')
  const whole = readFileSync(path)
  const kept = new Map(readdirSync(paths.snapshots).map((name) => [name, readFileSync(join(paths.snapshots, name))]))
  const { dataBytes } = descriptionOf(roomyDisk, path)
  const places = [0, 3, 100, dataBytes - 1, dataBytes, dataBytes + 20, whole.length - 48, whole.length - 1]
  for (const place of everyNth(places, 2)) {
    flipByte(path, place)
    const report = await startOf(t, paths)
    t.match(report, { snapshot: first, refusedSnapshots: [{ name: second, reason: /digest|length|end/ }] })
    t.equal(report.refusedSnapshots.length, 1, `byte ${place}: the one after it is sound`)
    for (const [name, bytes] of kept) writeFileSync(join(paths.snapshots, name), bytes)
  }
  for (const length of [0, 10, whole.length - 1]) {
    truncateSync(path, length)
    t.match(await startOf(t, paths), { snapshot: first, refusedSnapshots: [{ name: second }] })
    for (const [name, bytes] of kept) writeFileSync(join(paths.snapshots, name), bytes)
  }
  rmSync(path)
  t.match(await startOf(t, paths), { snapshot: first, refusedSnapshots: [] }, 'a file that is gone ends the changes')
  for (const [name, bytes] of kept) writeFileSync(join(paths.snapshots, name), bytes)
  flipByte(path, 77)
  const walk = new SnapshotWalk(roomyDisk, paths, 2 ** 16)
  const found = []
  for (let step = walk.next(); step !== 'over'; step = walk.next()) if (step !== 'more') found.push(step)
  t.match(found, [{ name: second, reason: /digest/ }])
  t.notOk(roomyDisk.exists(path))
  t.ok(roomyDisk.exists(join(paths.snapshots, third ?? '')))
})

test('damaged changes are replaced at once, by a whole snapshot, although nothing is sealed since', async (t) => {
  const store = await storeWithChanges(join(t.testdir(), 'data'), 3)
  const { paths } = store
  const [, , second = ''] = names(paths)
  const before = chains(roomyDisk, paths)[0]?.sequence
  flipByte(join(paths.snapshots, second), 50)
  const made = await snapshotOf(paths, { ...CHANGES_ALONE, refused: [second] })
  t.match(made, { isWhole: true })
  t.ok((made?.sequence ?? 0) >= (before ?? 0))
  t.notOk(roomyDisk.exists(join(paths.snapshots, second)), 'the damaged file is gone')
  t.equal(await snapshotOf(paths, { ...CHANGES_ALONE, refused: [second] }), undefined, 'once')
  const [newest, older] = chains(roomyDisk, paths)
  t.equal(older?.sequence, newest?.sequence)
  await store.kill()
  t.match(await startOf(t, paths), { snapshot: newest?.whole.name, refusedSnapshots: [] })
  t.match(await startOf(t, paths), { snapshot: older?.changes.at(-1)?.name, refusedSnapshots: [] })
})

/** Writes another description over that of a file, with the right digest. */
function describe(path: string, change: (found: SnapshotDescription) => SnapshotDescription): void {
  const found = descriptionOf(roomyDisk, path)
  const data = readFileSync(path).subarray(0, found.dataBytes)
  writeFileSync(path, Buffer.concat([data, encodeEnd(change(found))]))
}

test('changes of another journal, of another place or under another name are refused', async (t) => {
  const paths = await cutStore(t, 2)
  const [whole = '', first = '', second = ''] = names(paths)
  const path = join(paths.snapshots, first)
  const kept = new Map(readdirSync(paths.snapshots).map((name) => [name, readFileSync(join(paths.snapshots, name))]))
  const cases: readonly [RegExp, (found: SnapshotDescription) => SnapshotDescription][] = [
    [/another deployment/, (found) => ({ ...found, deploymentId: '00'.repeat(16) })],
    [/another hash/, (found) => ({ ...found, position: { ...found.position, head: new Uint8Array(32) } })],
    [/others than its name says/, (found) => ({ ...found, changes: undefined }) as unknown as SnapshotDescription],
    [
      /malformed/,
      (found) => ({ ...found, changes: { ...found.changes, from: 'x' } }) as unknown as SnapshotDescription,
    ],
  ]
  for (const [reason, change] of cases) {
    describe(path, change)
    t.match(await startOf(t, paths), { snapshot: whole, refusedSnapshots: [{ name: first, reason }] })
    for (const [name, bytes] of kept) writeFileSync(join(paths.snapshots, name), bytes)
  }
  renameSync(join(paths.snapshots, second), path)
  t.match(await startOf(t, paths), { snapshot: whole, refusedSnapshots: [{ name: first, reason: /its name says/ }] })
})

test('changes whose digests are right and whose rows are of another position are refused, and the snapshots alone are used', async (t) => {
  const paths = await cutStore(t, 1)
  const [whole = '', changes = ''] = names(paths)
  describe(join(paths.snapshots, changes), (found) => {
    return { ...found, changes: { from: sequenceOf(0), tables: [], ...found.changes, runs: [] } }
  })
  const [, older] = chains(roomyDisk, paths)
  const report = await startOf(t, paths)
  t.match(report, {
    snapshot: older?.whole.name,
    refusedSnapshots: [{ name: changes, reason: /another position/ }],
  })
  t.notOk(roomyDisk.exists(join(paths.snapshots, whole)), 'the newest was moved before its changes were applied')
})

test('a whole snapshot under the name of a later one gets no changes, whatever it says of itself', async (t) => {
  const paths = await cutStore(t, 2)
  const kept = new Map(readdirSync(paths.snapshots).map((name) => [name, readFileSync(join(paths.snapshots, name))]))
  const [newest, older] = chains(roomyDisk, paths)
  const { path = '', name = '' } = newest?.whole ?? {}
  const { position } = descriptionOf(roomyDisk, path)
  const refused = { name, reason: /another position than its name says/ }
  for (const change of [undefined, (found: SnapshotDescription) => ({ ...found, position })]) {
    renameSync(older?.whole.path ?? '', path)
    if (change !== undefined) describe(path, change)
    t.match(await startOf(t, paths), { snapshot: undefined, refusedSnapshots: [refused] })
    for (const [file, bytes] of kept) writeFileSync(join(paths.snapshots, file), bytes)
  }
  const store = await openTestStore(paths.root, { bootId: `${OTHER_BOOT_ID}-named` })
  for (const [file, bytes] of kept) writeFileSync(join(paths.snapshots, file), bytes)
  renameSync(older?.whole.path ?? '', path)
  await fillSegments(store, 'filled')
  t.match(await snapshotOf(paths, CHANGES_ALONE), { refused: [refused] }, 'the next snapshot is not made from it')
  await store.kill()
  t.match(await startOf(t, paths), { snapshot: /./ })
})

/** Puts other data into a file, with right digests. */
function replaceData(path: string, data: Buffer): void {
  const found = descriptionOf(roomyDisk, path)
  const end = encodeEnd({ ...found, dataBytes: data.length, blocks: [hash('sha256', data)] })
  writeFileSync(path, Buffer.concat([data, end]))
}

test('rows of changes that are malformed are refused, whatever their digests', async (t) => {
  const paths = await cutStore(t, 1)
  const [, changes = ''] = names(paths)
  const [, older] = chains(roomyDisk, paths)
  const path = join(paths.snapshots, changes)
  const { dataBytes } = descriptionOf(roomyDisk, path)
  replaceData(path, Buffer.alloc(dataBytes, 1))
  const refused = { name: changes, reason: /the rows are malformed/ }
  t.match(await startOf(t, paths), { snapshot: older?.whole.name, refusedSnapshots: [refused] })
})

test('a note says that changes are being applied while LMDB opens the snapshot, which may end the process', async (t) => {
  const paths = await cutStore(t, 1)
  const disk = new FaultDisk()
  t.match(await startOf(t, paths, disk), { snapshot: /changes$/ })
  const of = (name: string, part: string) =>
    disk.operations.findIndex((operation) => operation.name === name && operation.path.includes(part))
  const moved = of('rename', 'snapshots')
  t.ok(moved >= 0, 'the whole one becomes the projections')
  const noted = of('create', 'projections-next-opening')
  const read = disk.operations.findLastIndex(({ name, path }) => name === 'read' && path.endsWith('.changes'))
  t.ok(noted > moved && noted < read, `noted at ${noted}, changes read at ${read}`)
})

test('a start that is to stop while changes are applied ends, and the next one goes on from the older snapshot', async (t) => {
  const paths = await cutStore(t, 1)
  const [, older] = chains(roomyDisk, paths)
  const disk = new FaultDisk()
  let isApplying = false
  disk.after = ({ name, path }) => {
    isApplying ||= name === 'create' && path === openingNoteOf(paths.projectionsNext)
  }
  const stopped = openTestStore(paths.root, { bootId: `${OTHER_BOOT_ID}-stopped`, stopAsked: () => isApplying }, disk)
  await t.rejects(stopped, { name: 'StartStoppedError' })
  t.equal(disk.count('rename', /projections-restore$/), 0, 'before they were all applied')
  t.match(await startOf(t, paths), { snapshot: older?.changes.at(-1)?.name, refusedSnapshots: [] })
})

test('a full disk ends changes, and what is there stays', async (t) => {
  const store = await storeWithChanges(join(t.testdir(), 'data'), 1)
  const { paths } = store
  const before = readdirSync(paths.snapshots)
  await fillSegments(store, 'filled')
  for (const name of ['write', 'sync', 'rename'] as const) {
    const disk = new FaultDisk()
    disk.fault = (operation) =>
      operation.name === name && operation.path.endsWith('making')
        ? { kind: 'error', error: noSpaceError() }
        : undefined
    await t.rejects(snapshotOf(paths, CHANGES_ALONE, disk), { message: /ENOSPC/ })
    t.same(readdirSync(paths.snapshots), before, name)
  }
  t.match(await snapshotOf(paths, CHANGES_ALONE), { isWhole: false })
  await store.kill()
  t.match(await startOf(t, paths), { snapshot: /changes$/, refusedSnapshots: [] })
})
