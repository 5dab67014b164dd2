/** Rows that were damaged when a snapshot was made, so that its digests are right: no start and no later snapshot takes them on. */
import { hash } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { DATA_FILE, ProjectionEnvironment } from '../../../projections/lmdb-environment.ts'
import { descriptionOf } from '../../../projections/snapshots/restore-snapshot.ts'
import { BLOCK_BYTES, encodeEnd, usableNames } from '../../../projections/snapshots/snapshot-file.ts'
import { openTables } from '../../../projections/tables/table-list.ts'
import { rebuiltTables } from '../../support/rebuilt-tables.ts'
import { fillSegments, lastFileOf, snapshotOf } from '../../support/snapshots.ts'
import { dumpStore, openTestStore, roomyDisk, type TestStore } from '../../support/test-store.ts'

const DAMAGED = /a row of (them|it) is damaged/
/** A start without a reason reads no table of more rows to its end. */
const MORE_ROWS = 20_001
/** Behind the rows of the store. */
const SPOILT = Buffer.from('row-12345')

/** Adds rows to the table of objects, one of them with a flipped bit. */
async function spoilRows(directory: string): Promise<void> {
  const environment = ProjectionEnvironment.open(directory, { readOnly: false })
  const { objects } = openTables(environment)
  environment.write(() => {
    for (let row = 0; row < MORE_ROWS; row += 1) objects.put(Buffer.from(`row-${row}`), Buffer.of(1))
  })
  await environment.sync()
  await environment.close()
  const path = join(directory, DATA_FILE)
  const bytes = readFileSync(path)
  for (let at = bytes.indexOf(SPOILT); at >= 0; at = bytes.indexOf(SPOILT, at + 1)) bytes[at + SPOILT.length] = 3
  writeFileSync(path, bytes)
}

/** Makes a snapshot one of damaged rows, with right digests. */
async function spoil(path: string, directory: string): Promise<void> {
  const found = descriptionOf(roomyDisk, path)
  roomyDisk.makeDirectory(directory)
  writeFileSync(join(directory, DATA_FILE), readFileSync(path).subarray(0, found.dataBytes))
  await spoilRows(directory)
  const data = readFileSync(join(directory, DATA_FILE))
  const blocks: string[] = []
  for (let at = 0; at < data.length; at += BLOCK_BYTES)
    blocks.push(hash('sha256', data.subarray(at, at + BLOCK_BYTES), 'hex'))
  writeFileSync(path, Buffer.concat([data, encodeEnd({ ...found, dataBytes: data.length, blocks })]))
  rmSync(directory, { recursive: true })
}

function names(paths: StorePaths): string[] {
  return usableNames(roomyDisk, paths).map(({ name }) => name)
}

async function storeWithSnapshots(root: string, count: number): Promise<TestStore> {
  const store = await openTestStore(root)
  for (let made = 0; made < count; made += 1) {
    await fillSegments(store, 'filled')
    await snapshotOf(store.paths)
  }
  return store
}

for (const spoilt of [1, 2]) {
  test(`after a damaged row a start reads every row of snapshots: ${spoilt} of 2 are damaged`, async (t) => {
    const store = await storeWithSnapshots(join(t.testdir(), 'data'), 2)
    const { paths } = store
    await store.kill()
    const before = names(paths)
    const refused = before.slice(0, spoilt)
    for (const name of refused) await spoil(join(paths.snapshots, name), join(t.testdirName, 'aside'))
    writeFileSync(paths.projectionsDamaged, 'table objects, key 61')
    const again = await openTestStore(paths.root)
    t.match(again.report, {
      discardedProjections: /found damaged: table objects, key 61/,
      snapshot: lastFileOf(paths, before[spoilt]),
      refusedSnapshots: refused.map((name) => ({ name, reason: DAMAGED })),
    })
    t.same(names(paths), before.slice(spoilt), 'what was refused is removed')
    t.notOk(roomyDisk.exists(paths.projectionsDamaged))
    await again.close(true)
    t.same(await dumpStore(paths), await rebuiltTables(paths))
  })
}

test('damage in the follower, or in the snapshot that it begins with, is in no later snapshot', async (t) => {
  const store = await storeWithSnapshots(join(t.testdir(), 'data'), 1)
  const { paths } = store
  await spoilRows(paths.projectionsFollower)
  await fillSegments(store, 'filled')
  t.match(await snapshotOf(paths, { followerIsWhole: true }), { refused: [{ reason: DAMAGED }] })
  const aside = join(t.testdirName, 'aside')
  const [newest = '', older = ''] = names(paths)
  await spoil(join(paths.snapshots, newest), aside)
  await fillSegments(store, 'filled')
  t.match(await snapshotOf(paths), { refused: [{ name: newest, reason: DAMAGED }] })
  t.equal(names(paths).length, 2)
  t.equal(names(paths)[1], older)
  for (const name of names(paths)) await spoil(join(paths.snapshots, name), aside)
  await fillSegments(store, 'filled')
  const made = await snapshotOf(paths)
  t.equal(made?.refused.length, 2)
  t.equal(made?.records, (made?.sequence ?? 0) + 1, 'from the journal alone')
  await store.kill()
  writeFileSync(paths.projectionsDamaged, 'table objects, key 61')
  const again = await openTestStore(paths.root)
  t.match(again.report, { snapshot: /snapshot$/, refusedSnapshots: [] })
  await again.close(true)
  t.same(await dumpStore(paths), await rebuiltTables(paths))
})
