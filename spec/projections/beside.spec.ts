import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { test } from 'tap'
import { DescriptorsExhaustedError } from '../../engine/disk/disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { finishLot, writeLot } from '../../projections/apply/kept-lot.ts'
import { HeldRows } from '../../projections/apply/held-rows.ts'
import { DATA_FILE, ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { dropReplaced, noteMade, putBack } from '../../projections/next-projections.ts'
import { SCHEMA_VERSION } from '../../projections/tables/applied.ts'
import { openTables, TABLES } from '../../projections/tables/table-list.ts'
import { auditOf, createBucket, write } from '../support/commands.ts'
import { POSITION_ROWS } from '../support/damage/position-row.ts'
import { FaultDisk, inputOutputError, noSpaceError } from '../support/disks/fault-disk.ts'
import { flipByte, segmentPath } from '../support/journal-files.ts'
import { rebuiltTables } from '../support/rebuilt-tables.ts'
import { BOOT_ID, dumpStore, openTestStore, OTHER_BOOT_ID, readObject, roomyDisk } from '../support/test-store.ts'

/** A closed store with several segments and objects of 5 bytes. */
async function closedStore(root: string, objects: number): Promise<StorePaths> {
  const store = await openTestStore(root)
  await store.client.execute(createBucket('kept'))
  for (let left = objects; left > 0; left -= 100) {
    const keys = Array.from({ length: Math.min(100, left) }, (_, index) => `key-${left - index}`)
    await Promise.all(keys.map((key) => store.client.execute(write('kept', key, Buffer.from('bytes')))))
    store.client.record({ ...auditOf('s3:GET', 'x'), metadata: ['pad', 'x'.repeat(20_000)] }, 'success')
  }
  await store.close(true)
  return store.paths
}

/** As a program of the layout before has left them. */
function ofEarlierLayout(paths: StorePaths): void {
  POSITION_ROWS['of an earlier layout']?.(paths.projections)
  rmSync(paths.projectionsSums)
}

/** What the program before needs of a store: rows, mark and segments. */
function filesOf({ projections, journal, head }: StorePaths): Record<string, Buffer> {
  const segments = readdirSync(journal).filter((name) => name.endsWith('.segment'))
  const paths = [join(projections, DATA_FILE), head, ...segments.map((name) => join(journal, name))]
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path)]))
}

test('a start that cannot make the rows of its layout leaves the rows of the layout before', async (t) => {
  const paths = await closedStore(t.testdir(), 1200)
  ofEarlierLayout(paths)
  flipByte(segmentPath(paths, 1), 5000)
  const before = filesOf(paths)
  for (const round of [1, 2]) {
    await t.rejects(openTestStore(paths.root), { name: 'JournalDamagedError' }, `start ${round}`)
    t.same(filesOf(paths), before, 'the program before finds what it left')
  }
  flipByte(segmentPath(paths, 1), 5000)
  const store = await openTestStore(paths.root)
  t.match(store.report.discardedProjections, /layout is of an earlier version/)
  t.same(await readObject(store, 'kept', 'key-700'), Buffer.from('bytes'))
  t.same(readFileSync(join(paths.projectionsReplaced, DATA_FILE)), before[join(paths.projections, DATA_FILE)])
  await store.close(true)
  await dropReplaced(nodeDisk, paths)
  t.notOk(existsSync(paths.projectionsReplaced))
  t.same(await dumpStore(paths), await rebuiltTables(paths))
})

function rowsIn(directory: string): Buffer {
  return readFileSync(join(directory, DATA_FILE))
}

test('rows that no program can use are removed where others do not fit beside them, and never before', async (t) => {
  const paths = await closedStore(t.testdir(), 1)
  flipByte(segmentPath(paths, 0), 600)
  const before = rowsIn(paths.projections)
  await t.rejects(openTestStore(paths.root, { bootId: OTHER_BOOT_ID }, withoutMark(paths)), {
    name: 'JournalDamagedError',
  })
  t.same(rowsIn(paths.projections), before)
  const full = { ...roomyDisk, space: () => ({ capacityBytes: 2 ** 40, availableBytes: 2 * before.length - 1 }) }
  await t.rejects(openTestStore(paths.root, {}, full), { name: 'JournalDamagedError' })
  t.notOk(existsSync(paths.projections))
})

/** The disk of a store that lost its mark. */
function withoutMark(paths: StorePaths): typeof roomyDisk {
  rmSync(paths.head)
  return roomyDisk
}

const BUILD = 'build/spec/support/make-beside.js'

test('a process that is killed while it makes rows beside loses the last lot at most', async (t) => {
  const paths = await closedStore(t.testdir(), 6000)
  ofEarlierLayout(paths)
  const before = filesOf(paths)
  const positions = [1, 2].map((chunks) => {
    const run = spawnSync('node', [BUILD, paths.root, String(chunks)], { encoding: 'utf8' })
    t.equal(run.signal, 'SIGKILL', run.stderr)
    t.same(filesOf(paths), before, 'the rows in place are as they were')
    return Number(run.stdout)
  })
  const store = await openTestStore(paths.root)
  const { replayedRecords, verified } = store.report
  positions.push((verified?.through ?? 0) - replayedRecords)
  t.ok(
    positions.every((position, index) => index === 0 || position > (positions[index - 1] as number)),
    String(positions),
  )
  await store.close(true)
  t.same(await dumpStore(paths), await rebuiltTables(paths))
})

test('rows made beside count after the end of the process, and after the end of the kernel only when they are synced', async (t) => {
  const directory = t.testdir()
  const paths = await closedStore(join(directory, 'store'), 10)
  const made = async (note: Parameters<typeof noteMade>[2] | undefined, bootId: string) => {
    const root = join(directory, 'made')
    rmSync(root, { recursive: true, force: true })
    nodeDisk.makeDirectory(root)
    spawnSync('cp', ['-r', `${paths.root}/.`, root])
    const copy = new StorePaths(root)
    nodeDisk.rename(copy.projections, copy.projectionsNext)
    if (note !== undefined) noteMade(nodeDisk, copy.projectionsNext, note)
    const store = await openTestStore(root, { bootId })
    await store.close(true)
    return store.report.replayedRecords
  }
  const all = await made(undefined, BOOT_ID)
  t.ok(all > 10)
  t.equal(await made({ bootId: BOOT_ID, isDurable: false }, BOOT_ID), 0)
  t.equal(await made({ bootId: BOOT_ID, isDurable: false }, OTHER_BOOT_ID), all)
  t.equal(await made({ bootId: BOOT_ID, isDurable: true }, OTHER_BOOT_ID), 0)
})

test('a start with the wrong master key leaves rows that are being made as they are', async (t) => {
  const paths = await closedStore(t.testdir(), 10)
  nodeDisk.rename(paths.projections, paths.projectionsNext)
  rmSync(join(paths.projectionsNext, 'sums'))
  noteMade(nodeDisk, paths.projectionsNext, { bootId: BOOT_ID, isDurable: false })
  await t.rejects(openTestStore(paths.root, { masterKey: Buffer.alloc(32, 1) }), { name: 'MasterKeyMismatchError' })
  flipByte(segmentPath(paths, 0), 600)
  const keys = readFileSync(paths.keys)
  rmSync(paths.keys)
  await t.rejects(openTestStore(paths.root), { name: 'JournalDamagedError' }, 'a genesis that proves no key')
  flipByte(segmentPath(paths, 0), 600)
  writeFileSync(paths.keys, keys)
  const store = await openTestStore(paths.root)
  t.equal(store.report.replayedRecords, 0, 'they are gone on with')
  await store.close(true)
})

test('rows of access that were edited while they were made beside are not gone on with', async (t) => {
  const paths = await closedStore(t.testdir(), 10)
  nodeDisk.rename(paths.projections, paths.projectionsNext)
  rmSync(join(paths.projectionsNext, 'sums'))
  noteMade(nodeDisk, paths.projectionsNext, { bootId: BOOT_ID, isDurable: false })
  const environment = ProjectionEnvironment.open(paths.projectionsNext, { readOnly: false })
  environment.write(() => environment.table(TABLES.policies).put(Buffer.from('forged'), Buffer.from('policy')))
  await environment.close()
  const store = await openTestStore(paths.root)
  t.ok(store.report.replayedRecords > 10, 'all is made again')
  await store.close(true)
  t.same(await dumpStore(paths), await rebuiltTables(paths))
})

test('a start that fails behind the switch puts the rows of the layout before back', async (t) => {
  const paths = await closedStore(t.testdir(), 300)
  ofEarlierLayout(paths)
  const { [join(paths.projections, DATA_FILE)]: before } = filesOf(paths)
  const disk = new FaultDisk()
  disk.fault = ({ name }) =>
    name === 'write' && existsSync(paths.projectionsReplaced) ? { kind: 'error', error: inputOutputError() } : undefined
  await t.rejects(openTestStore(paths.root, {}, disk))
  t.same(readFileSync(join(paths.projections, DATA_FILE)), before)
  t.notOk(existsSync(paths.projectionsReplaced))
  const store = await openTestStore(paths.root)
  t.match(store.report, { discardedProjections: /earlier version/, replayedRecords: 0 }, 'the new ones were kept')
  await store.close(true)
  putBack(nodeDisk, paths)
  t.same(
    readFileSync(join(paths.projections, DATA_FILE)),
    before,
    'a server that ends before it is ready does the same',
  )
  const again = await openTestStore(paths.root)
  t.match(again.report, { discardedProjections: /earlier version/, replayedRecords: 0 }, 'nothing is made twice')
  await again.close(true)
  t.same(await dumpStore(paths), await rebuiltTables(paths))
})

test('a switch that was cut off between its two names is finished by the next start', async (t) => {
  const paths = await closedStore(t.testdir(), 10)
  ofEarlierLayout(paths)
  nodeDisk.rename(paths.projections, paths.projectionsReplaced)
  const store = await openTestStore(paths.root)
  t.match(store.report.discardedProjections, /earlier version/)
  await store.close(true)
})

test('projections that a newer program has prepared stay, and others go', async (t) => {
  const paths = await closedStore(t.testdir(), 1)
  for (const [layout, stays] of [
    [SCHEMA_VERSION + 1, true],
    [SCHEMA_VERSION, false],
  ] as const) {
    mkdirSync(paths.projectionsNext)
    nodeDisk.create(join(paths.projectionsNext, 'made')).writeAt(Buffer.from(JSON.stringify({ layout })), 0)
    await (await openTestStore(paths.root)).close(true)
    t.equal(existsSync(paths.projectionsNext), stays)
    rmSync(paths.projectionsNext, { recursive: true, force: true })
  }
})

test('half-made rows stay when the host is short of what it takes to finish a kept lot', async (t) => {
  const paths = await closedStore(t.testdir(), 10)
  nodeDisk.rename(paths.projections, paths.projectionsNext)
  rmSync(join(paths.projectionsNext, 'sums'))
  noteMade(nodeDisk, paths.projectionsNext, { bootId: BOOT_ID, isDurable: false })
  const environment = ProjectionEnvironment.open(paths.projectionsNext, { readOnly: false })
  environment.write(() => environment.table(TABLES.applied).put(Buffer.from('lot'), Buffer.from('x')))
  await environment.close()
  const json = Buffer.from(JSON.stringify({ name: 'x', tables: [] }))
  const lot = Buffer.concat([Buffer.alloc(4), json])
  lot.writeUInt32BE(json.length)
  writeFileSync(join(paths.projectionsNext, 'lot'), lot)
  for (const error of [
    noSpaceError(),
    new DescriptorsExhaustedError('EMFILE'),
    Object.assign(new Error('Cannot allocate memory'), { code: constants.errno.ENOMEM }),
  ]) {
    const disk = new FaultDisk()
    disk.fault = ({ path }) => (path.endsWith('/lot') ? { kind: 'error', error } : undefined)
    await t.rejects(openTestStore(paths.root, {}, disk), { message: error.message })
    t.ok(existsSync(paths.projectionsNext))
  }
  const store = await openTestStore(paths.root)
  t.equal(store.report.replayedRecords, 0, 'nothing is made again')
  await store.close(true)
  t.same(await dumpStore(paths), await rebuiltTables(paths))
})

test('a switch of an earlier process is not taken back: its rows were written to since', async (t) => {
  const paths = await closedStore(t.testdir(), 10)
  ofEarlierLayout(paths)
  await (await openTestStore(paths.root)).close(true)
  t.ok(existsSync(paths.projectionsReplaced), 'the process ended before it had removed them')
  const before = rowsIn(paths.projections)
  const disk = new FaultDisk()
  disk.fault = ({ name, path }) =>
    name === 'write' && path === paths.head ? { kind: 'error', error: inputOutputError() } : undefined
  await t.rejects(openTestStore(paths.root, {}, disk))
  t.same(rowsIn(paths.projections), before)
  const store = await openTestStore(paths.root)
  t.match(store.report, { discardedProjections: undefined, replayedRecords: 0 })
  await store.close(true)
  t.notOk(existsSync(paths.projectionsReplaced))
})

const POSITION = Buffer.from('position')

test('a lot that ends at any transaction is finished from its file', async (t) => {
  const rows = new HeldRows()
  for (let row = 0; row < 2500; row += 1) rows.put(Buffer.from(`row ${row}`), Buffer.from(`value ${row}`))
  const position = new HeldRows()
  position.put(POSITION, Buffer.alloc(96, 1))
  const lot = {
    tables: [
      { name: 'applied', held: position.shared },
      { name: 'objects', held: rows.shared },
    ] as const,
    seal: Buffer.alloc(32, 9),
  }
  let failed = true
  for (let k = 1; failed; k += 1) {
    const directory = join(t.testdir(), String(k))
    mkdirSync(directory)
    const environment = ProjectionEnvironment.open(directory, { readOnly: false })
    environment.write(() => environment.table(TABLES.applied).put(POSITION, Buffer.alloc(96)))
    let transactions = 0
    failed = false
    const crashing = Object.assign(Object.create(environment) as ProjectionEnvironment, {
      directory,
      table: (name: string) => environment.table(name),
      write: <T>(work: () => T) => {
        transactions += 1
        failed = transactions >= k
        if (failed) throw new Error('crash')
        return environment.write(work)
      },
    })
    try {
      writeLot(nodeDisk, crashing, lot)
    } catch (error) {
      t.match(error, { message: 'crash' })
    }
    finishLot(nodeDisk, environment)
    const tables = openTables(environment)
    const isDone = k > 1
    t.same(tables.applied.get(POSITION), Buffer.alloc(96, isDone ? 1 : 0), `a crash at transaction ${k}`)
    t.equal(tables.applied.count(), 1)
    t.equal(tables.objects.count(), isDone ? 2500 : 0)
    t.same(environment.table('access-seal').get(Buffer.from('seal')), isDone ? lot.seal : undefined)
    t.same(
      readdirSync(directory).filter((name) => name.startsWith('lot')),
      [],
    )
    await environment.close()
  }
})
