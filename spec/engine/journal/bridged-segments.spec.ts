/** One damaged bit in a sealed segment that is no longer needed: the start goes on, names it, and a backup heals it. */
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import tap, { type Test, test } from 'tap'
import { logOpening } from '../../../cli/server/log/engine-log.ts'
import type { Logger } from '../../../cli/server/log/logger.ts'
import { keepStart } from '../../../cli/server/chain-of-start.ts'
import { healStore } from '../../../cli/backup/heal/heal.ts'
import type { Disk } from '../../../engine/disk/disk.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { requireKnownFormat } from '../../../engine/journal/known-format.ts'
import { ChainVerdicts } from '../../../engine/journal/chain-verdicts.ts'
import { verifyJournal } from '../../../engine/verify/journal-verifier.ts'
import { rebuildProjections } from '../../../projections/replay/rebuild.ts'
import { backUp } from '../../support/backups.ts'
import { createBucket, write } from '../../support/commands.ts'
import { FaultDisk, inputOutputError } from '../../support/disks/fault-disk.ts'
import { failingAt } from '../../support/failing-disk.ts'
import { compressJournal } from '../../support/journals/cold-segments.ts'
import { flipByte, segmentPath } from '../../support/journal-files.ts'
import { fillSegments, snapshotOf } from '../../support/snapshots.ts'
import { MASTER_KEY, openTestStore, readObject, roomyDisk, type TestStore } from '../../support/test-store.ts'

const LOCKED = Buffer.from('kept until the end of time')

interface Base {
  readonly data: string
  readonly backup: string
}

/** A stopped store of six segments, the first two of them cold, with a snapshot that ends with the fifth, and its backup. */
async function base(root: string): Promise<Base> {
  const [data, backup] = [join(root, 'data'), join(root, 'backup')]
  const store = await openTestStore(data)
  await store.client.execute(createBucket('kept'))
  await store.client.execute(write('kept', 'first', LOCKED))
  await fillSegments(store, 'kept', 5)
  await snapshotOf(store.paths)
  await store.client.execute(write('kept', 'last', Buffer.from('after the snapshot')))
  await store.close(true)
  await compressJournal(store.paths, 4)
  await backUp(data, backup)
  return { data, backup }
}

const fileBytes = (path: string) => readFileSync(path).length
const seal = (path: string) => fileBytes(path) - 30

/** Where a byte is flipped: segment, offset, and whether a start reads it. */
const PLACES: readonly (readonly [what: string, segment: number, at: (path: string) => number, named: boolean])[] = [
  ['the first block of a cold segment', 0, () => 20, true],
  ['the genesis in a cold segment', 0, () => 180, true],
  ['the index of a cold segment', 1, (path) => fileBytes(path) - 60, true],
  ['the end of a cold segment', 1, (path) => fileBytes(path) - 3, true],
  ['a record of a cold segment, in the block that a start reads for its seal', 1, () => 300, true],
  ['the magic of a plain segment', 2, () => 1, true],
  ['the header of a plain segment', 3, () => 90, true],
  ['a record of a plain segment', 2, () => 100_000, false],
  ['the seal of a plain segment', 2, seal, true],
  ['the batch of the seal', 3, (path) => fileBytes(path) - 120, true],
  ['the seal of the segment that the snapshot ends with', 4, seal, true],
]

async function served(t: Test, store: TestStore): Promise<void> {
  t.same(await readObject(store, 'kept', 'first'), LOCKED)
  t.same(await readObject(store, 'kept', 'last'), Buffer.from('after the snapshot'))
  await store.client.execute(write('kept', 'new', Buffer.from('written after the start')))
  t.same(await readObject(store, 'kept', 'new'), Buffer.from('written after the start'))
}

async function isIntact(paths: StorePaths): Promise<boolean> {
  return (await verifyJournal(paths.journal, { threads: 0, settleMilliseconds: 0 })).intact
}

function heal({ data, backup }: Base, disk: Disk = nodeDisk) {
  const options = { object: undefined, masterKey: MASTER_KEY, by: 'host:spec', progress: () => undefined }
  return healStore(disk, new StorePaths(data), backup, options)
}

function linesOf({ report, deploymentId }: TestStore): string[] {
  const lines: string[] = []
  const at = (level: string) => (fields: unknown, message?: string) =>
    void lines.push(`${level}: ${JSON.stringify(fields)} ${message ?? ''}`)
  const log = { info: at('info'), warn: at('warn'), error: at('error') } as unknown as Logger
  logOpening(log, { report, deploymentId } as Parameters<typeof logOpening>[1])
  return lines.filter((line) => line.startsWith('error'))
}

const directory = tap.testdir()
const made = await base(join(directory, 'base'))

function copied(name: string): Base & { readonly paths: StorePaths } {
  const root = join(directory, name)
  rmSync(root, { recursive: true, force: true })
  cpSync(join(made.data, '..'), root, { recursive: true })
  return { data: join(root, 'data'), backup: join(root, 'backup'), paths: new StorePaths(join(root, 'data')) }
}

for (const [what, segment, at, named] of PLACES) {
  for (const state of ['sound projections', 'a snapshot']) {
    void test(`${what}, with ${state}`, async (each) => {
      const copy = copied('one')
      const path = segmentPath(copy.paths, segment)
      flipByte(path, at(path))
      each.notOk(await isIntact(copy.paths), 'journal verify calls it damaged')
      if (state === 'a snapshot') rmSync(copy.paths.projections, { recursive: true })
      const store = await openTestStore(copy.data)
      each.same(
        store.report.gaps.map(({ first }) => copy.paths.segment(first)),
        named ? [path] : [],
      )
      each.equal(store.report.snapshot !== undefined, state === 'a snapshot')
      const [line = '', ...more] = linesOf(store)
      each.same(more, [])
      if (named) each.match(line, new RegExp(`${basename(path)}.*"digest":"[0-9a-f]{64}".*storage heal --from BACKUP`))
      await served(each, store)
      await store.close(true)
      each.notOk(await isIntact(copy.paths), 'and goes on calling it damaged')
      const report = await heal(copy)
      each.match(report, { healed: [new RegExp(`^segment ${basename(path)}: `)], left: [] })
      each.ok(await isIntact(copy.paths))
      const healed = await openTestStore(copy.data)
      each.same(healed.report.gaps, [])
      await served(each, healed)
      await healed.close(true)
    })
  }
}

void test('without projections and without a snapshot it is refused by name, with what to do next', async (each) => {
  for (const [what, segment, at] of PLACES) {
    const copy = copied('neither')
    for (const lost of [copy.paths.projections, copy.paths.snapshots]) rmSync(lost, { recursive: true })
    const path = segmentPath(copy.paths, segment)
    flipByte(path, at(path))
    const refused = { name: 'JournalDamagedError', message: /object-store storage heal --from BACKUP/ }
    await each.rejects(openTestStore(copy.data), refused, what)
    await each.rejects(openTestStore(copy.data), { message: new RegExp(basename(path)) }, what)
    await each.rejects(rebuildProjections(nodeDisk, copy.paths), { name: 'JournalDamagedError' }, what)
  }
})

void test('the kept verdict says so until the whole chain was verified again', async (each) => {
  const { data, paths } = copied('verdict')
  flipByte(segmentPath(paths, 2), 1)
  const store = await openTestStore(data)
  keepStart(paths, {} as Logger, store as unknown as Parameters<typeof keepStart>[2])
  const verdicts = new ChainVerdicts(nodeDisk, paths, store.deploymentId)
  const problem = { segment: basename(segmentPath(paths, 2)), verdict: 'the journal is damaged', detail: /header/ }
  each.match(verdicts.read().whole, { problem, program: 'server start' })
  await store.close(true)
})

void test('damage where the truth is needed is refused', async (each) => {
  const REFUSED: readonly (readonly [string, readonly (readonly [number, (path: string) => number])[], boolean])[] = [
    ['the header of the open segment', [[-1, () => 90]], false],
    ['a record of the open segment', [[-1, () => 300]], false],
    [
      'two segments in a row',
      [
        [2, () => 90],
        [3, () => 90],
      ],
      false,
    ],
    [
      'a header, and the seal of the segment after it',
      [
        [2, () => 90],
        [3, seal],
      ],
      false,
    ],
    [
      'the seals of two segments in a row',
      [
        [2, seal],
        [3, seal],
      ],
      false,
    ],
    [
      'a segment, and a record of the one that proves it',
      [
        [2, () => 90],
        [3, () => 100_000],
      ],
      false,
    ],
    ['a sealed segment after the snapshot', [[5, seal]], true],
  ]
  for (const [what, flips, isRestored] of REFUSED) {
    const { data, paths } = copied('needed')
    if (isRestored) {
      const store = await openTestStore(data)
      await fillSegments(store, 'kept', 2)
      await store.close(true)
      rmSync(paths.projections, { recursive: true })
    }
    for (const [segment, at] of flips) flipByte(segmentPath(paths, segment), at(segmentPath(paths, segment)))
    await each.rejects(openTestStore(data), { name: 'JournalDamagedError', message: /storage heal --from/ }, what)
  }
})

/** A disk that cannot read the header of a segment, until the segment is replaced. */
function withoutHead(path: string): Disk {
  const failing = new FaultDisk()
  const { ino: lost } = statSync(path)
  failing.fault = ({ name, path: of, position = 0 }) =>
    name === 'read' && of === path && position < 256 && statSync(path).ino === lost
      ? { kind: 'error', error: inputOutputError() }
      : undefined
  const openToRead: Disk['openToRead'] = (name) => failing.openToRead(name)
  return { ...roomyDisk, openToRead, openToReadAsync: (name) => failing.openToReadAsync(name) }
}

void test('a header that the disk cannot read is left to its reader', async (each) => {
  const copy = copied('unreadable')
  const path = segmentPath(copy.paths, 0)
  const disk = withoutHead(path)
  const store = await openTestStore(copy.data, {}, disk)
  each.match(store.report.gaps, [{ first: 0, fault: /the disk cannot read/ }])
  await served(each, store)
  await store.close(true)
  each.match(await heal(copy, disk), { healed: [new RegExp(`^segment ${basename(path)}: `)] })
  const healed = await openTestStore(copy.data, {}, disk)
  each.same(healed.report.gaps, [])
  await served(each, healed)
  await healed.close(true)
  const last = withoutHead(segmentPath(copy.paths, -1))
  const refused = { name: 'JournalDamagedError', message: /object-store storage heal --from BACKUP/ }
  await each.rejects(openTestStore(copy.data, {}, last), refused)
  each.doesNotThrow(() => requireKnownFormat(last, copy.paths.journal), 'so a repair says what it can do')
  each.match(await heal(copy, last), { healed: [], left: [/the header of the next segment is damaged/] })
})

void test('a segment that is sound and another one, or that is missing, is not bridged', async (each) => {
  const { data, paths } = copied('other')
  const own = readFileSync(segmentPath(paths, 2))
  rmSync(segmentPath(paths, 2))
  await each.rejects(openTestStore(data), { message: /a segment is missing before it/ })
  const other = await openTestStore(join(data, '..', 'second'))
  await fillSegments(other, 'kept', 4)
  await other.close(true)
  const path = segmentPath(other.paths, 2)
  writeFileSync(join(paths.journal, basename(segmentPath(new StorePaths(made.data), 2))), readFileSync(path))
  await each.rejects(openTestStore(data), { name: 'JournalDamagedError' })
  writeFileSync(join(paths.journal, basename(segmentPath(new StorePaths(made.data), 2))), own, { mode: 0o600 })
  await (await openTestStore(data)).close(true)
})

void test('a damaged genesis needs the key file and the right key', async (each) => {
  const { data, paths } = copied('genesis')
  flipByte(segmentPath(paths, 0), 180)
  const next = Buffer.alloc(32, 0x33)
  const changing = { masterKey: next, previousMasterKey: MASTER_KEY }
  await each.rejects(openTestStore(data, { masterKey: Buffer.alloc(32, 1) }), { name: 'JournalDamagedError' })
  await each.rejects(
    openTestStore(data, changing),
    { message: /storage heal/ },
    'a change of the key needs the genesis',
  )
  flipByte(segmentPath(paths, 0), 180)
  const changed = await openTestStore(data, changing)
  await served(each, changed)
  await changed.close(true)
  flipByte(segmentPath(paths, 0), 180)
  await each.rejects(openTestStore(data), { name: 'JournalDamagedError' })
  const again = await openTestStore(data, { masterKey: next })
  each.equal(again.report.gaps.length, 1)
  await served(each, again)
  await again.close(true)
  rmSync(paths.keys)
  await each.rejects(openTestStore(data, { masterKey: next }), { message: /genesis/ })
})

void test('two segments in a row are healed, and what the backup has damaged too is left and named', async (each) => {
  const both = copied('both')
  for (const segment of [2, 3]) flipByte(segmentPath(both.paths, segment), 90)
  each.match(await heal(both), { healed: [/^segment /, /^segment /], left: [] })
  each.ok(await isIntact(both.paths))
  const twice = copied('twice')
  flipByte(segmentPath(twice.paths, 2), 90)
  const name = basename(segmentPath(twice.paths, 2))
  const inBackup = join(twice.backup, 'journal', name)
  flipByte(inBackup, 100_000)
  each.match(await heal(twice), { healed: [], left: [new RegExp(`^segment ${name}: .*in the backup: its bytes`)] })
  const store = await openTestStore(twice.data)
  each.equal(store.report.gaps.length, 1)
  await store.close(true)
})

void test('a disk that is full, or a process that ends, at any moment of the repair', async (each) => {
  const copy = copied('full')
  const path = segmentPath(copy.paths, 2)
  const sound = readFileSync(path)
  flipByte(path, 90)
  const damaged = readFileSync(path)
  for (let operation = 0; ; operation += 1) {
    rmSync(path)
    writeFileSync(path, damaged)
    const { disk, reached } = failingAt(operation)
    const failed = await heal(copy, disk).then(
      () => undefined,
      (error: Error) => error.name,
    )
    if (!reached()) break
    each.equal(failed, 'DiskFullError', `operation ${operation}`)
    const found = readFileSync(path)
    each.ok(found.equals(damaged) || found.equals(sound), `operation ${operation}`)
    const store = await openTestStore(copy.data)
    each.equal(store.report.gaps.length, found.equals(sound) ? 0 : 1)
    await store.close(true)
    each.same(
      readdirSync(copy.paths.journal).filter((name) => name.startsWith('compressing')),
      [],
    )
  }
  each.ok(await isIntact(copy.paths))
})
