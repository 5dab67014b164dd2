/** Projections that the next version prepares while the server of the one before runs and writes. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { keysOf } from '../../cli/access/access-keys.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { lockStore } from '../../engine/disk/store-lock.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import { damagedNoteOf } from '../../projections/damaged-note.ts'
import { openingNoteOf } from '../../projections/try-open.ts'
import { preparedRowsOf } from '../../projections/next-projections.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { prepareProjections } from '../../projections/prepare-projections.ts'
import { TABLES } from '../../projections/tables/table-list.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { run } from '../cli/command-runner.ts'
import { auditOf, createBucket, write } from '../support/commands.ts'
import { POSITION_ROWS } from '../support/damage/position-row.ts'
import * as golden from '../support/golden/golden-store.ts'
import { flipByte, segmentPath } from '../support/journal-files.ts'
import { rebuiltTables } from '../support/rebuilt-tables.ts'
import { BOOT_ID, dumpStore, MASTER_KEY, openTestStore, OTHER_BOOT_ID, roomyDisk } from '../support/test-store.ts'

/** Writes objects, by a server of the layout before as far as the journal and a start can tell. */
async function wroteBefore(root: string, objects: number, name: string): Promise<StorePaths> {
  const paths = new StorePaths(root)
  const aside = `${paths.projectionsPrepared}-aside`
  if (existsSync(paths.projectionsPrepared)) renameSync(paths.projectionsPrepared, aside)
  if (existsSync(paths.projections)) rmSync(paths.projections, { recursive: true })
  const store = await openTestStore(root)
  if (store.catalog.snapshot().bucket('kept') === undefined) await store.client.execute(createBucket('kept'))
  for (let left = objects; left > 0; left -= 100) {
    const keys = Array.from({ length: Math.min(100, left) }, (_, index) => `${name}-${left - index}`)
    await Promise.all(keys.map((key) => store.client.execute(write('kept', key, Buffer.from('bytes')))))
    store.client.record({ ...auditOf('s3:GET', 'x'), metadata: ['pad', 'x'.repeat(20_000)] }, 'success')
  }
  await store.close(true)
  POSITION_ROWS['of an earlier layout']?.(paths.projections)
  rmSync(paths.projectionsSums)
  if (existsSync(aside)) renameSync(aside, paths.projectionsPrepared)
  return paths
}

function prepare(paths: StorePaths, bootId = BOOT_ID, disk: Disk = roomyDisk) {
  const keys = keysOf(nodeDisk, paths, MASTER_KEY)
  return prepareProjections(disk, paths, { bootId, keys, reservedBytes: 0, rowsMaximum: 1500 })
}

const sealedEnd = (paths: StorePaths) => (segmentFirsts(nodeDisk, paths).at(-1) ?? 0) - 1

test('a start takes what was prepared, and reads the rest, though the server before wrote on', async (t) => {
  const paths = await wroteBefore(t.testdir(), 1000, 'a')
  const server = await lockStore(nodeDisk, paths.root)
  const first = await prepare(paths)
  t.equal(first?.through, sealedEnd(paths))
  t.ok((first?.records ?? 0) > 1000)
  t.match(await prepare(paths), { records: 0, through: first?.through }, 'nothing was sealed since')
  await server.release()
  await wroteBefore(paths.root, 1000, 'b')
  const second = await prepare(paths)
  t.equal(second?.through, sealedEnd(paths))
  t.equal(second?.records, (second?.through ?? 0) - (first?.through ?? 0), 'it goes on where it was')
  await wroteBefore(paths.root, 10, 'c')
  const store = await openTestStore(paths.root, { bootId: OTHER_BOOT_ID })
  t.match(store.report.discardedProjections, /earlier version/)
  t.equal(store.report.replayedRecords, (store.report.verified?.through ?? 0) - (second?.through ?? 0))
  t.notOk(existsSync(paths.projectionsPrepared))
  await store.close(true)
  t.same(await dumpStore(paths), await rebuiltTables(paths))
})

test('a process that is killed while it prepares goes on, but not after the end of the kernel', async (t) => {
  const paths = await wroteBefore(t.testdir(), 6000, 'a')
  const all = sealedEnd(paths) + 1
  const killed = () => {
    const { signal, stderr } = spawnSync('node', ['build/spec/support/make-prepared.js', paths.root, '2'])
    t.equal(signal, 'SIGKILL', stderr.toString())
  }
  killed()
  const { records = 0 } = (await prepare(paths)) ?? {}
  t.ok(records > 0 && records < all, `${records} of ${all} records`)
  rmSync(paths.projectionsPrepared, { recursive: true })
  killed()
  t.equal((await prepare(paths, OTHER_BOOT_ID))?.records, all)
  rmSync(paths.projectionsPrepared, { recursive: true })
  killed()
  const store = await openTestStore(paths.root)
  t.ok(store.report.replayedRecords < (store.report.verified?.through ?? 0), 'a start goes on with it as well')
  await store.close(true)
  t.same(await dumpStore(paths), await rebuiltTables(paths))
})

test('who else prepares, starts, or has nothing to prepare', async (t) => {
  const paths = await wroteBefore(t.testdir(), 500, 'a')
  nodeDisk.makeDirectory(paths.projectionsPrepared)
  const other = await lockStore(nodeDisk, paths.projectionsPrepared)
  await t.rejects(prepare(paths), { name: 'StoreLockedError', message: /projections-prepared is in use/ })
  const store = await openTestStore(paths.root)
  t.equal(
    store.report.replayedRecords,
    store.report.verified?.through === undefined ? 0 : store.report.verified.through + 1,
  )
  await store.close(true)
  t.ok(existsSync(paths.projectionsPrepared), 'a start leaves it to the process that is at work there')
  await other.release()
  t.equal(await prepare(paths), undefined)
  await (await openTestStore(paths.root)).close(true)
  t.notOk(existsSync(paths.projectionsPrepared))
})

test('a full disk keeps nothing of it; damage is named, and a later try goes on', async (t) => {
  const paths = await wroteBefore(t.testdir(), 1000, 'a')
  const full: Disk = { ...roomyDisk, space: () => ({ capacityBytes: 2 ** 40, availableBytes: 0 }) }
  const keys = keysOf(nodeDisk, paths, MASTER_KEY)
  const asking = { bootId: BOOT_ID, keys, reservedBytes: 1000 }
  await t.rejects(prepareProjections(full, paths, asking), { name: 'DiskFullError' })
  t.notOk(existsSync(preparedRowsOf(paths)))
  flipByte(segmentPath(paths, 1), 5000)
  await t.rejects(prepare(paths), { name: 'JournalDamagedError', message: /segment, offset/ })
  flipByte(segmentPath(paths, 1), 5000)
  t.equal((await prepare(paths))?.through, sealedEnd(paths))
})

test('a disk that is full under the thread that writes keeps nothing of it either', async (t) => {
  const paths = await wroteBefore(t.testdir(), 6000, 'a')
  // Neither the lot nor the file of the rows fits.
  for (const kibibytes of [256, 700]) {
    const script = `trap '' XFSZ; ulimit -f ${kibibytes}; node build/spec/support/make-prepared.js ${paths.root} 1000000`
    const { status, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' })
    t.not(status, 0)
    t.match(stderr, /DiskFullError/, `files of at most ${kibibytes} KiB`)
    t.notOk(existsSync(preparedRowsOf(paths)))
  }
})

test('notes about new projections of an earlier start do not keep a start from prepared ones', async (t) => {
  const paths = await wroteBefore(t.testdir(), 1000, 'a')
  const first = await prepare(paths)
  for (const noteOf of [openingNoteOf, damagedNoteOf]) writeFileSync(noteOf(paths.projectionsNext), '')
  const store = await openTestStore(paths.root)
  t.equal(store.report.replayedRecords, (store.report.verified?.through ?? 0) - (first?.through ?? 0))
  await store.close(true)
  for (const noteOf of [openingNoteOf, damagedNoteOf]) t.notOk(existsSync(noteOf(paths.projectionsNext)))
})

test('what a process prepares after a start has taken other rows stays', async (t) => {
  const paths = await wroteBefore(t.testdir(), 500, 'a')
  await prepare(paths)
  const sockets = new StorePaths(paths.projectionsPrepared).lock
  const begun = join(preparedRowsOf(paths), 'begun')
  let isTaken = false
  // Another process begins as soon as the lock is free.
  const begin = (path: string) => {
    if (!isTaken || path !== paths.projectionsPrepared || existsSync(begun) || readdirSync(sockets).length > 0) return
    mkdirSync(preparedRowsOf(paths))
    writeFileSync(begun, '')
  }
  const disk: Disk = {
    ...roomyDisk,
    rename: (from, to) => {
      isTaken ||= from === preparedRowsOf(paths)
      roomyDisk.rename(from, to)
    },
    list: (path) => {
      begin(path)
      return roomyDisk.list(path)
    },
    removeTree: (path) => {
      begin(path)
      roomyDisk.removeTree(path)
    },
  }
  const store = await openTestStore(paths.root, {}, disk)
  await store.close(true)
  t.ok(isTaken)
  t.ok(existsSync(begun))
})

test('rows of access that were edited after they were prepared are not taken', async (t) => {
  const paths = await wroteBefore(t.testdir(), 1000, 'a')
  await prepare(paths)
  const environment = ProjectionEnvironment.open(preparedRowsOf(paths), { readOnly: false })
  environment.write(() => environment.table(TABLES.policies).put(Buffer.from('forged'), Buffer.from('policy')))
  await environment.close()
  const store = await openTestStore(paths.root)
  t.equal(store.report.replayedRecords, (store.report.verified?.through ?? 0) + 1, 'all is made again')
  await store.close(true)
  t.same(await dumpStore(paths), await rebuiltTables(paths))
})

for (const { path } of golden.GOLDEN_STORES) {
  test(`${path} is prepared, and answers as it did`, async (t) => {
    const paths = new StorePaths(golden.copyOfGolden(path, t.testdir()))
    const keys = keysOf(nodeDisk, paths, golden.GOLDEN_KEY)
    rmSync(paths.projections, { recursive: true, force: true })
    rmSync(paths.snapshots, { recursive: true, force: true })
    const prepared = await prepareProjections(roomyDisk, paths, { bootId: OTHER_BOOT_ID, keys, reservedBytes: 0 })
    t.equal(prepared?.through, sealedEnd(paths) < 0 ? undefined : sealedEnd(paths))
    const server = await golden.startGolden(paths.root)
    const answers = await golden.goldenAnswers(server)
    const expected = JSON.parse(readFileSync(join(path, 'expected.json'), 'utf8')) as Record<string, unknown>
    for (const [request, answer] of Object.entries(expected)) t.hasStrict(answers[request], answer, request)
    await server.stop()
    t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 })
  })
}

test('the command', async (t) => {
  const paths = await wroteBefore(t.testdir(), 500, 'a')
  const environment = {
    OBJECT_STORE_CREDENTIAL_MASTER_KEY: MASTER_KEY.toString('hex'),
    OBJECT_STORE_DATA_DIR: paths.root,
    OBJECT_STORE_STORAGE_RESERVED_MIB: '1',
  }
  const command = ['projections', 'prepare']
  t.match(await run(command, { environment }), { exitCode: 0, stdout: /records replayed in .*ready up to record \d+/ })
  t.match(await run([...command, '--json'], { environment }), { exitCode: 0, stdout: /"prepared":true,"records":0/ })
  const other = await lockStore(nodeDisk, paths.projectionsPrepared)
  t.equal((await run(command, { environment })).exitCode, 22)
  await other.release()
  await (await openTestStore(paths.root)).close(true)
  t.match(await run(command, { environment }), { exitCode: 0, stdout: /nothing to prepare/ })
  const elsewhere = { ...environment, OBJECT_STORE_DATA_DIR: join(t.testdirName, 'none') }
  t.equal((await run(command, { environment: elsewhere })).exitCode, 4)
  const { OBJECT_STORE_CREDENTIAL_MASTER_KEY: _, ...keyless } = environment
  t.equal((await run(command, { environment: keyless })).exitCode, 23)
})
