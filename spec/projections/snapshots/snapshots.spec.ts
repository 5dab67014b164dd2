import { existsSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { sequenceOf } from '../../../engine/brands.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { segmentFirsts } from '../../../engine/journal/segment.ts'
import { checkProjections } from '../../../projections/replay/check.ts'
import { descriptionOf } from '../../../projections/snapshots/restore-snapshot.ts'
import { encodeEnd, type SnapshotDescription, usableNames } from '../../../projections/snapshots/snapshot-file.ts'
import { SCHEMA_VERSION } from '../../../projections/tables/applied.ts'
import { compressJournal } from '../../support/journals/cold-segments.ts'
import { createBucket } from '../../support/commands.ts'
import { flipByte } from '../../support/journal-files.ts'
import { rebuiltTables } from '../../support/rebuilt-tables.ts'
import { fillSegments, lastFileOf, snapshotOf } from '../../support/snapshots.ts'
import { BOOT_ID, dumpStore, openTestStore, OTHER_BOOT_ID, roomyDisk } from '../../support/test-store.ts'

/** A store that ended with the host, with so many snapshots and entries after the last one. */
async function cutStore(root: string, snapshots = 1): Promise<StorePaths> {
  const store = await openTestStore(root)
  for (let made = 0; made < snapshots; made += 1) {
    await fillSegments(store, 'filled')
    await snapshotOf(store.paths)
  }
  await store.client.execute(createBucket('after-the-snapshot'))
  await store.kill()
  return store.paths
}

function names(paths: StorePaths): string[] {
  return usableNames(roomyDisk, paths).map(({ name }) => name)
}

test('a snapshot and the journal after it lead to the same rows as the whole journal', async (t) => {
  const paths = await cutStore(t.testdir())
  const [name] = names(paths)
  const store = await openTestStore(paths.root, { bootId: OTHER_BOOT_ID })
  t.match(store.report, { discardedProjections: /host stopped/, snapshot: name, refusedSnapshots: [] })
  t.ok(store.report.replayedRecords > 0, 'the journal after it was replayed')
  t.ok(store.report.replayedRecords < store.journal.position.sequence / 4, 'and nothing before it')
  t.ok(store.catalog.snapshot().bucket('after-the-snapshot'))
  await store.close(true)
  t.same(await dumpStore(paths), await rebuiltTables(paths))
  t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 })
})

test('without projections a start uses the snapshot, and without both the journal', async (t) => {
  const paths = await cutStore(t.testdir())
  for (const [directories, snapshot] of [
    [[paths.projections], names(paths)[0]],
    [[paths.projections, paths.snapshots], undefined],
  ] as const) {
    for (const directory of directories) rmSync(directory, { recursive: true })
    const store = await openTestStore(paths.root)
    t.match(store.report, { discardedProjections: undefined, snapshot, refusedSnapshots: [] })
    await store.close(true)
    t.same(await dumpStore(paths), await rebuiltTables(paths))
  }
})

test('the newest of several snapshots becomes the projections, and the last one is copied and stays', async (t) => {
  const paths = await cutStore(t.testdir(), 2)
  const [newest, older] = names(paths)
  const changes = lastFileOf(paths, older)
  t.match(changes, /changes$/, 'with the older one a start has the rows of the newest')
  for (const [snapshot, bootId] of [
    [newest, OTHER_BOOT_ID],
    [changes, `${OTHER_BOOT_ID}-2`],
    [changes, `${OTHER_BOOT_ID}-3`],
  ] as const) {
    const store = await openTestStore(paths.root, { bootId })
    t.match(store.report, { snapshot, refusedSnapshots: [] })
    t.same(names(paths), [older])
    await store.kill()
    t.same(await dumpStore(paths), await rebuiltTables(paths))
  }
})

test('a snapshot that is refused for what is in it stays, whether it would be moved or copied', async (t) => {
  const paths = await cutStore(t.testdir(), 2)
  const before = names(paths)
  for (const name of before) flipByte(join(paths.snapshots, name), 100_000)
  const store = await openTestStore(paths.root, { bootId: OTHER_BOOT_ID })
  t.match(store.report, { snapshot: undefined, refusedSnapshots: before.map((name) => ({ name })) })
  t.same(names(paths), before)
  await store.close(true)
  t.same(await dumpStore(paths), await rebuiltTables(paths))
})

test('the segment that a snapshot ends with may have been compressed since', async (t) => {
  const paths = await cutStore(t.testdir(), 2)
  const [newest, older] = names(paths)
  t.ok((await compressJournal(paths)) > 0)
  const store = await openTestStore(paths.root, { bootId: OTHER_BOOT_ID })
  t.match(store.report, { snapshot: newest, refusedSnapshots: [] })
  t.ok(store.catalog.snapshot().bucket('after-the-snapshot'))
  await fillSegments(store, 'filled')
  t.match(await snapshotOf(paths), { refused: [] }, 'and the next one is made from the older one')
  await store.close(true)
  t.equal(names(paths).length, 2)
  t.ok(names(paths).includes(older ?? ''))
  t.same(await dumpStore(paths), await rebuiltTables(paths))
})

test('a stop that was clean, and kill -9 alone, need no snapshot', async (t) => {
  const paths = await cutStore(t.testdir())
  const killed = await openTestStore(paths.root, { bootId: BOOT_ID })
  t.match(killed.report, { snapshot: undefined, replayedRecords: 0 })
  await killed.close(true)
  const clean = await openTestStore(paths.root, { bootId: OTHER_BOOT_ID })
  t.match(clean.report, { snapshot: undefined, replayedRecords: 0 })
  await clean.close(true)
})

test('two snapshots are kept, the next one begins where the last one ends', async (t) => {
  const store = await openTestStore(t.testdir())
  const { paths } = store
  t.equal(await snapshotOf(paths), undefined, 'no segment is sealed')
  const made = []
  for (let round = 0; round < 3; round += 1) {
    await fillSegments(store, 'filled')
    made.push(await snapshotOf(paths, { followerIsWhole: round === 2 }))
  }
  t.equal(await snapshotOf(paths), undefined, 'nothing new is sealed')
  const sequences = made.map((one) => one?.sequence ?? 0)
  t.same(
    names(paths).map((name) => Number(name.slice(-25, -9))),
    [sequences[2], sequences[1]],
  )
  t.equal(made[0]?.records, (sequences[0] ?? 0) + 1, 'from the beginning')
  t.equal(made[1]?.records, (sequences[1] ?? 0) - (sequences[0] ?? 0), 'from the snapshot')
  t.equal(made[2]?.records, (sequences[2] ?? 0) - (sequences[1] ?? 0), 'from the follower')
  t.notOk(existsSync(paths.snapshotMaking))
  await fillSegments(store, 'filled')
  await snapshotOf(paths, { kept: 1 })
  t.equal(names(paths).length, 1)
  await store.kill()
  const after = await openTestStore(paths.root, { bootId: OTHER_BOOT_ID })
  t.equal(after.report.snapshot, names(paths)[0])
  await after.close(true)
  t.same(await dumpStore(paths), await rebuiltTables(paths))
})

test('a snapshot with any byte flipped is refused, and the one before it is used, or the journal', async (t) => {
  const paths = await cutStore(t.testdir(), 2)
  const [newest = '', older = ''] = names(paths)
  const path = join(paths.snapshots, newest)
  const whole = readFileSync(path)
  const { dataBytes } = descriptionOf(nodeDisk, path)
  const places = [0, 8192 + 17, dataBytes - 1, dataBytes, dataBytes + 20, whole.length - 48, whole.length - 10]
  for (const place of [...places, whole.length - 1]) {
    flipByte(path, place)
    const store = await openTestStore(paths.root, { bootId: OTHER_BOOT_ID })
    const refusedSnapshots = [{ name: newest, reason: /digest|length|end/ }]
    t.match(store.report, { snapshot: lastFileOf(paths, older), refusedSnapshots })
    await store.kill()
    const unclean = await openTestStore(paths.root, { bootId: BOOT_ID })
    await unclean.kill()
    writeFileSync(path, whole)
  }
  for (const length of [0, 10, 100, whole.length - 1]) {
    truncateSync(path, length)
    flipByte(join(paths.snapshots, older), 9000)
    const store = await openTestStore(paths.root, { bootId: OTHER_BOOT_ID })
    t.match(store.report, { snapshot: undefined, refusedSnapshots: [{ name: newest }, { name: older }] })
    t.ok(store.report.replayedRecords > Number(newest.slice(2, -9)), 'the whole journal was replayed')
    await store.kill()
    await (await openTestStore(paths.root, { bootId: BOOT_ID })).kill()
    writeFileSync(path, whole)
    flipByte(join(paths.snapshots, older), 9000)
  }
  const store = await openTestStore(paths.root, { bootId: OTHER_BOOT_ID })
  await store.close(true)
  t.same(await dumpStore(paths), await rebuiltTables(paths))
})

/** Writes another description over that of a snapshot, with the right digest. */
function describe(path: string, change: (found: SnapshotDescription) => SnapshotDescription): void {
  const found = descriptionOf(nodeDisk, path)
  const data = readFileSync(path).subarray(0, found.dataBytes)
  writeFileSync(path, Buffer.concat([data, encodeEnd(change(found))]))
}

test('a snapshot that does not belong to this journal is refused', async (t) => {
  const paths = await cutStore(t.testdir())
  const [name = ''] = names(paths)
  const path = join(paths.snapshots, name)
  const whole = readFileSync(path)
  const cases: Readonly<Record<string, readonly [RegExp, (found: SnapshotDescription) => SnapshotDescription]>> = {
    deployment: [/another deployment/, (found) => ({ ...found, deploymentId: '00'.repeat(16) })],
    hash: [/another hash/, (found) => ({ ...found, position: { ...found.position, head: new Uint8Array(32) } })],
    batch: [/another place/, (found) => ({ ...found, position: { ...found.position, batch: 1 } })],
    offset: [/another place/, (found) => ({ ...found, position: { ...found.position, batchOffset: 512 } })],
    number: [/another place/, (found) => ({ ...found, position: { ...found.position, segmentNumber: 7 } })],
    sequence: [
      /no segment of the journal begins/,
      (found) => ({ ...found, position: { ...found.position, sequence: sequenceOf(found.position.sequence - 1) } }),
    ],
  }
  for (const [title, [reason, change]] of Object.entries(cases)) {
    describe(path, change)
    const store = await openTestStore(paths.root, { bootId: OTHER_BOOT_ID })
    t.match(store.report, { snapshot: undefined, refusedSnapshots: [{ name, reason }] }, title)
    await store.kill()
    await (await openTestStore(paths.root, { bootId: BOOT_ID })).kill()
    writeFileSync(path, whole)
  }
})

test('a snapshot whose rows are of another position is refused', async (t) => {
  const paths = await cutStore(t.testdir(), 2)
  const [newest = '', older = ''] = names(paths).map((name) => join(paths.snapshots, name))
  const { dataBytes, blocks } = descriptionOf(nodeDisk, older)
  const data = readFileSync(older).subarray(0, dataBytes)
  writeFileSync(newest, Buffer.concat([data, encodeEnd({ ...descriptionOf(nodeDisk, newest), dataBytes, blocks })]))
  const store = await openTestStore(paths.root, { bootId: OTHER_BOOT_ID })
  t.match(store.report, { refusedSnapshots: [{ reason: /another position/ }] })
  t.ok(store.report.snapshot)
  await store.close(true)
  t.same(await dumpStore(paths), await rebuiltTables(paths))
})

test('a snapshot sealed with another key is refused', async (t) => {
  const store = await openTestStore(t.testdir())
  await fillSegments(store, 'filled')
  const { paths } = store
  await store.kill()
  const made = await snapshotOf(paths, {
    keys: { accessChanges: Buffer.alloc(32), accessRows: Buffer.alloc(32), earlier: [] },
  })
  t.ok(made)
  const after = await openTestStore(paths.root, { bootId: OTHER_BOOT_ID })
  t.match(after.report, { snapshot: undefined, refusedSnapshots: [{ reason: /not those that this store wrote/ }] })
  await after.close(true)
  t.same(await dumpStore(paths), await rebuiltTables(paths))
})

test('a snapshot ahead of the journal is refused, at a start and by the next snapshot', async (t) => {
  const root = t.testdir()
  const old = await openTestStore(join(root, 'old'))
  await fillSegments(old, 'filled')
  await old.close(true)
  const { paths } = old
  const kept = new Map(readdirSync(paths.journal).map((name) => [name, readFileSync(join(paths.journal, name))]))
  const going = await openTestStore(paths.root)
  await fillSegments(going, 'filled', 2)
  await snapshotOf(paths)
  await going.close(true)
  const [ahead = ''] = names(paths)
  // The journal of the backup beside a newer snapshot.
  rmSync(paths.journal, { recursive: true })
  nodeDisk.makeDirectory(paths.journal)
  for (const [name, bytes] of kept) writeFileSync(join(paths.journal, name), bytes)
  rmSync(paths.projections, { recursive: true })
  const store = await openTestStore(paths.root)
  t.match(store.report, { snapshot: undefined, refusedSnapshots: [{ name: ahead, reason: /ahead of the journal/ }] })
  t.match(await snapshotOf(paths), { refused: [{ name: ahead, reason: /ahead of the journal/ }] })
  t.equal(names(paths).length, 1)
  t.not(names(paths)[0], ahead)
  await fillSegments(store, 'filled', 2)
  await store.close(true)
  t.same(await dumpStore(paths), await rebuiltTables(paths))
})

test('a snapshot of another version of the tables is ignored by its name', async (t) => {
  const paths = await cutStore(t.testdir())
  const [name = ''] = names(paths)
  const other = name.replace(`${SCHEMA_VERSION}-`, `${SCHEMA_VERSION + 1}-`)
  renameSync(join(paths.snapshots, name), join(paths.snapshots, other))
  const store = await openTestStore(paths.root, { bootId: OTHER_BOOT_ID })
  t.match(store.report, { snapshot: undefined, refusedSnapshots: [] })
  await store.close(true)
  t.same(await dumpStore(paths), await rebuiltTables(paths))
  await snapshotOf(paths)
  t.same(readdirSync(paths.snapshots), [name], 'and goes when there is one of this version')
})

test('a follower that meets damage makes no snapshot', async (t) => {
  const store = await openTestStore(t.testdir())
  const { paths } = store
  await fillSegments(store, 'filled', 2)
  const second = segmentFirsts(roomyDisk, paths)[1] ?? 0
  flipByte(paths.segment(sequenceOf(second)), 5000)
  await t.rejects(snapshotOf(paths), { name: 'JournalDamagedError' })
  t.same(names(paths), [])
  await store.kill()
})
