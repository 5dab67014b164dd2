/** Proves: VER-ANY-06. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { test } from 'tap'
import { bucketIdOf } from '../../engine/brands.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { BufferedTables } from '../../projections/apply/buffered-tables.ts'
import { keysOf } from '../../cli/access/access-keys.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { rebuildProjections } from '../../projections/replay/rebuild.ts'
import { openTables, TABLES } from '../../projections/tables/table-list.ts'
import { getApplied, SCHEMA_VERSION } from '../../projections/tables/applied.ts'
import { auditOf, createBucket, write } from '../support/commands.ts'
import { FaultDisk, inputOutputError } from '../support/disks/fault-disk.ts'
import { JournalBuilder } from '../support/journals/journal-builder.ts'
import { entryBody } from '../support/journals/journal-bytes.ts'
import { flipByte, segmentPath } from '../support/journal-files.ts'
import { rebuiltTables } from '../support/rebuilt-tables.ts'
import { reclaimUpload, recordDigest, removeVolume } from '../support/upload-commands.ts'
import { setQuota } from '../support/version-commands.ts'
import { MASTER_KEY, BOOT_ID, dumpStore, openTestStore, OTHER_BOOT_ID, roomyDisk } from '../support/test-store.ts'

test('J14 what the rules only looked at leaves no row behind', async (t) => {
  const store = await openTestStore(t.testdir())
  const buckets = await store.client.execute(createBucket('full'))
  await store.client.execute(setQuota('full', { objects: 0 }))
  await t.rejects(store.client.execute(write('full', 'key', Buffer.from('bytes'))), { code: 'quota-exceeded' })
  await t.rejects(store.client.execute(write('full', 'key', Buffer.alloc(0))), { code: 'quota-exceeded' })
  await store.client.execute(removeVolume(5))
  await store.client.execute(reclaimUpload(buckets.sequence, 'key', 5))
  await store.client.execute(recordDigest(5, Buffer.alloc(32)))
  await store.close(true)
  t.same(await dumpStore(store.paths), await rebuiltTables(store.paths))
  t.match(await checkProjections(roomyDisk, store.paths), { differenceCount: 0, differences: [] })
})

test('J14 a seal at the edge of a block of the audit index is indexed alike', async (t) => {
  const store = await openTestStore(t.testdir(), { segmentBytes: 1 << 20 })
  const { journal, client } = store
  const record = (bytes: number) =>
    client.record({ ...auditOf('s3:GET', 'x'), metadata: ['pad', 'x'.repeat(bytes)] }, 'success')
  // Records up to sequence 1017 fill two thirds of the segment; six long ones then leave no room for a batch.
  while (journal.position.sequence < 1017) {
    for (let left = Math.min(100, 1017 - journal.position.sequence); left > 0; left -= 1) record(480)
    await store.loop.drained()
  }
  // More than three of them are no single batch.
  for (let index = 0; index < 6; index += 1) {
    record(30_000)
    if (index % 3 === 2) await store.loop.drained()
  }
  t.match(journal, { place: { segmentNumber: 0 }, position: { sequence: 1023 } })
  await client.execute(createBucket('behind-the-seal'))
  t.match(journal.place, { segmentNumber: 1, segmentFirstSequence: 1025 }, 'the seal has sequence 1024')
  await store.close(true)
  const [live, rebuilt] = [await dumpStore(store.paths), await rebuiltTables(store.paths)]
  t.same(live[TABLES.auditIndex], rebuilt[TABLES.auditIndex])
  t.same(live, rebuilt)
})

/** A store that was closed in order, with an object and its bucket. */
async function closedStore(root: string): Promise<StorePaths> {
  const store = await openTestStore(root)
  await store.client.execute(createBucket('kept'))
  await store.client.execute(write('kept', 'object', Buffer.from('bytes')))
  await store.close(true)
  return store.paths
}

/** Without what the stop left about their file, as of a program that knows no such thing. */
function change(paths: StorePaths, work: (environment: ProjectionEnvironment) => void): Promise<void> {
  rmSync(paths.projectionsSums)
  const environment = ProjectionEnvironment.open(paths.projections, { readOnly: false })
  environment.write(() => work(environment))
  return environment.close()
}

const POSITION = Buffer.from('position')

/** Makes the projections look like those of another program. */
function ofVersion(paths: StorePaths, version: number) {
  return change(paths, (environment) => {
    const value = environment.table(TABLES.applied).get(POSITION) as Buffer
    value.writeUInt32BE(version, 4)
    environment.table(TABLES.applied).put(POSITION, value)
  })
}

test('J14 projections of a newer program are neither used nor thrown away, until they are made again', async (t) => {
  const paths = await closedStore(t.testdir())
  await ofVersion(paths, SCHEMA_VERSION + 1)
  const before = await dumpStore(paths)
  const versions = new RegExp(
    `version ${SCHEMA_VERSION + 1}, .* knows version ${SCHEMA_VERSION}\\).*projections rebuild`,
  )
  const newer = { name: 'ProjectionsNewerError', message: versions }
  for (const round of [1, 2]) await t.rejects(openTestStore(paths.root), newer, `start ${round}`)
  await t.rejects(checkProjections(roomyDisk, paths), newer)
  t.same(await dumpStore(paths), before, 'they are as they were')
  await rebuildProjections(roomyDisk, paths, undefined, keysOf(roomyDisk, paths, MASTER_KEY))
  const store = await openTestStore(paths.root)
  t.equal(store.report.discardedProjections, undefined)
  t.ok(store.catalog.snapshot().bucket('kept'))
  await store.close(true)
})

test('J14 projections that cannot be used are made again', async (t) => {
  const root = t.testdir()
  const cases: Readonly<Record<string, readonly [RegExp, (paths: StorePaths) => unknown, bootId?: string]>> = {
    'a replay that was cut off': [
      /an earlier replay was cut off/,
      (paths) => change(paths, (environment) => environment.table(TABLES.applied).remove(POSITION)),
    ],
    'an earlier layout': [/layout is of an earlier version/, (paths) => ofVersion(paths, SCHEMA_VERSION - 1)],
    'no mark': [/there is no high-water mark/, (paths) => rmSync(paths.head)],
  }
  for (const [title, [discarded, damage]] of Object.entries(cases)) {
    const paths = await closedStore(join(root, title.replaceAll(' ', '-')))
    await damage(paths)
    const store = await openTestStore(paths.root)
    t.match(store.report.discardedProjections, discarded, title)
    t.ok(
      store.catalog.snapshot().object(bucketIdOf(store.catalog.snapshot().bucket('kept')?.id ?? 0), 'object'),
      `${title}: everything is there`,
    )
    await store.close(true)
    t.same(await dumpStore(paths), await rebuiltTables(paths))
  }
  const trusted = await closedStore(join(root, 'trusted'))
  const after = await openTestStore(trusted.root, { bootId: OTHER_BOOT_ID })
  t.match(after.report, { discardedProjections: undefined, replayedRecords: 0 }, 'a clean stop survives another boot')
  await after.kill()
  const cut = await openTestStore(trusted.root, { bootId: BOOT_ID })
  t.match(cut.report.discardedProjections, /host stopped without a clean stop/, 'anything else does not')
  await cut.kill()
  const killed = await openTestStore(trusted.root, { bootId: BOOT_ID })
  t.match(killed.report, { discardedProjections: undefined, replayedRecords: 0 }, 'but the end of the process alone')
  await killed.close(true)
})

test('J14 a crash at any transaction of a replay leaves no position that could be trusted', async (t) => {
  const rows = 2500
  let failed = true
  for (let k = 1; failed; k += 1) {
    const directory = join(t.testdir(), String(k))
    mkdirSync(directory)
    const environment = ProjectionEnvironment.open(directory, { readOnly: false })
    environment.write(() => environment.table(TABLES.applied).put(POSITION, Buffer.alloc(96)))
    let transactions = 0
    failed = false
    const crashing = {
      write: <T>(work: () => T) => {
        transactions += 1
        failed = transactions >= k
        if (failed) throw new Error('crash')
        return environment.write(work)
      },
    }
    const buffered = new BufferedTables(crashing as ProjectionEnvironment, openTables(environment))
    for (let row = 0; row < rows; row += 1) buffered.tables.objects.put(Buffer.from(`row ${row}`), Buffer.from('value'))
    buffered.tables.applied.put(POSITION, Buffer.alloc(96, 1))
    try {
      buffered.flush()
    } catch (error) {
      t.match(error, { message: 'crash' })
    }
    environment.refresh()
    const position = environment.table(TABLES.applied).get(POSITION)
    const expected = failed ? (k === 1 ? Buffer.alloc(96) : undefined) : Buffer.alloc(96, 1)
    t.same(position, expected, `a crash at transaction ${k}`)
    if (!failed) t.equal(environment.table('objects').count(), rows)
    await environment.close()
  }
})

test('J14 a rebuild gives the same rows, and one that fails leaves what was there', async (t) => {
  const paths = await closedStore(t.testdir())
  const before = await dumpStore(paths)
  t.equal(await rebuildProjections(roomyDisk, paths), getPosition(before) + 1, 'every record was read')
  t.same(await dumpStore(paths), before)
  flipByte(segmentPath(paths, 0), 600)
  await t.rejects(rebuildProjections(roomyDisk, paths), { name: 'JournalDamagedError' })
  t.same(await dumpStore(paths), before)
  t.same(
    readdirSync(paths.root).filter((name) => name.startsWith('projections')),
    ['projections'],
  )
})

test('J14 a rebuild replaces the rows that notes of damage and of an opening are about', async (t) => {
  const paths = await closedStore(t.testdir())
  writeFileSync(paths.projectionsDamaged, 'table objects, key 61')
  writeFileSync(paths.projectionsOpening, '')
  await rebuildProjections(roomyDisk, paths, undefined, keysOf(roomyDisk, paths, MASTER_KEY))
  t.notOk(existsSync(paths.projectionsDamaged))
  t.notOk(existsSync(paths.projectionsOpening))
  const store = await openTestStore(paths.root)
  t.equal(store.report.discardedProjections, undefined)
  await store.close(true)
})

function getPosition(dump: Record<string, string[]>): number {
  const [, value = ''] = dump[TABLES.applied]?.[0]?.split(' ') ?? []
  const found = getApplied({ get: () => Buffer.from(value, 'hex') } as unknown as Parameters<typeof getApplied>[0])
  return found?.position.sequence ?? -1
}

const OPEN_STORE = `
  import { openTestStore } from './build/spec/support/test-store.js'
  const store = await openTestStore(process.argv[1])
  const bucket = store.catalog.snapshot().bucket('kept')
  console.log(JSON.stringify([store.report.discardedProjections, store.catalog.snapshot().object(bucket.id, 'object').size]))
  await store.close(true)
`

test('J14 what a rebuild or a check made aside, and could not remove, is gone after the next start', async (t) => {
  const root = t.testdir()
  const paths = await closedStore(root)
  const disk = new FaultDisk()
  for (const make of [rebuildProjections, checkProjections]) {
    let trees = 0
    disk.fault = ({ name }) => {
      trees += name === 'remove-tree' ? 1 : 0
      return trees > 1 ? { kind: 'error', error: inputOutputError() } : undefined
    }
    await t.rejects(async () => void (await make(disk, paths)), { code: 'EIO' })
    t.match(readdirSync(root).join(), /projections-(rebuild|check)/)
    disk.fault = () => undefined
    await (await openTestStore(root)).close(true)
    t.notMatch(readdirSync(root).join(), /projections-/)
  }
})

test('J14 whatever stands in the files of LMDB, the store opens, at the second start at the latest', async (t) => {
  const root = t.testdir()
  const garbage: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
    'random bytes': (bytes) => bytes.map((_, index) => (index * 7919) % 251) as Buffer,
    'random bytes behind the head': (bytes) =>
      bytes.map((byte, index) => (index < 16_384 ? byte : index % 251)) as Buffer,
    'zeros behind the head': (bytes) => bytes.fill(0, 16_384),
    'half of it': (bytes) => bytes.subarray(0, bytes.length / 2),
    zeros: (bytes) => bytes.fill(0),
    nothing: () => Buffer.alloc(0),
    'a few bytes': () => Buffer.from('garbage'),
  }
  for (const [title, make] of Object.entries(garbage)) {
    const paths = await closedStore(join(root, title.replaceAll(' ', '-')))
    const file = join(paths.projections, 'data.mdb')
    writeFileSync(file, make(readFileSync(file)))
    // LMDB may end the process on such files, so it is another one.
    const open = () => spawnSync('node', ['--input-type=module', '-e', OPEN_STORE, paths.root], { encoding: 'utf8' })
    const first = open()
    const run = first.signal === null ? first : open()
    t.match(run, { status: 0, signal: null }, `${title} ${run.stderr}`)
    if (run.status !== 0) continue
    const [discarded, size] = JSON.parse(run.stdout || '[]') as [string | null, number]
    t.ok(discarded !== null, `${title}: ${discarded}`)
    t.equal(size, 5, 'what the journal says is there')
    t.ok(existsSync(paths.projections))
    t.same(await dumpStore(paths), await rebuiltTables(paths))
  }
})

test('a change that this program does not know ends a replay, with the record, the change and the field', async (t) => {
  const unknown = { kind: 3, body: entryBody({ changes: [[99, 1]] }) }
  const wrong = { kind: 3, body: entryBody({ changes: [[4, 2, 7, 1]] }) }
  for (const [record, message] of [
    [unknown, 'record 2: change: a known kind expected, 99 found; a newer version of the program wrote it'],
    [wrong, 'record 2: object.deleted: key: key expected, 7 found; a newer version of the program wrote it'],
  ] as const) {
    const paths = new StorePaths(join(t.testdir(), String(record.body.length)))
    const journal = new JournalBuilder()
    journal.append([{ kind: 3, body: entryBody({ changes: [[1, 1, 'photos', 'eu', false]] }) }, record])
    journal.write(paths.journal)
    await t.rejects(rebuiltTables(paths), { name: 'NewerFormatError', message })
  }
})
