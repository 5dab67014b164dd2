import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { type VerificationReport, verifyJournal } from '../../../engine/verify/journal-verifier.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import type { ChangeNamed } from '../../../engine/events/changes.ts'
import { decodeEntry } from '../../../engine/events/entry-codec.ts'
import { RECORD_KIND } from '../../../engine/journal/format.ts'
import { recoverJournal } from '../../../engine/journal/recovery/recovery.ts'
import { readJournal } from '../../../engine/journal/read-journal.ts'
import { createBucket, digestOf, write } from '../../support/commands.ts'
import { EndingDisk } from '../../support/disks/ending-disk.ts'
import { FaultDisk, inputOutputError } from '../../support/disks/fault-disk.ts'
import { operationPoints } from '../../support/disks/operation-points.ts'
import { dataLength, editFile, segmentNames, segmentPath } from '../../support/journal-files.ts'
import { everyNth, strideOf } from '../../support/share-of-cases.ts'
import { BOOT_ID, openTestStore, OTHER_BOOT_ID, readObject, roomyDisk, someBytes } from '../../support/test-store.ts'

const SEGMENT_BYTES = 64 * 1024
/** Another boot: the host lost power, and the projections are not trusted. */
const AFTER_POWER_CUT = { segmentBytes: SEGMENT_BYTES, bootId: OTHER_BOOT_ID }

interface Killed {
  readonly paths: StorePaths
  /** Where the last batch begins and ends in the open segment. */
  readonly last: number
  readonly end: number
}

/** A store that was killed behind a batch that writes `kept/torn`. */
async function killedStore(root: string): Promise<Killed> {
  const store = await openTestStore(root, { segmentBytes: SEGMENT_BYTES })
  await store.client.execute(createBucket('kept'))
  await store.client.execute(write('kept', 'before', Buffer.from('acknowledged')))
  const { offset: last } = store.journal.place
  await store.client.execute(write('kept', 'torn', Buffer.from('never acknowledged')))
  const { offset: end } = store.journal.place
  await store.kill()
  return { paths: store.paths, last, end }
}

function verifyAtRest(paths: StorePaths): Promise<VerificationReport> {
  return verifyJournal(paths.journal, { threads: 0, settleMilliseconds: 0 })
}

function recoveredEntries(paths: StorePaths): ChangeNamed<'journal.recovered'>[] {
  const found: ChangeNamed<'journal.recovered'>[] = []
  readJournal(nodeDisk, paths, undefined, {
    record: ({ kind, body }) => {
      if (kind !== RECORD_KIND.change) return
      for (const change of decodeEntry(body).changes) if (change.name === 'journal.recovered') found.push(change)
    },
    batch: () => undefined,
  })
  return found
}

/** A copy of a store, or of one folder of it. */
function copyOf(base: StorePaths, root: string, folder = '.'): StorePaths {
  rmSync(root, { recursive: true, force: true })
  cpSync(join(base.root, folder), join(root, folder), { recursive: true })
  return new StorePaths(root)
}

/** What a power cut left of a batch from `last` to `end` that did not reach the disk as a whole. */
const LEFT_BEHIND: Readonly<Record<string, (bytes: Buffer, last: number, cut: number, end: number) => Buffer>> = {
  'the file ends there': (bytes, _last, cut) => bytes.subarray(0, cut),
  'zeros behind': (bytes, _last, cut, end) => bytes.fill(0, cut, end),
  'garbage behind': (bytes, _last, cut, end) => bytes.fill(0xa5, cut, end),
  'zeros before': (bytes, last, cut) => bytes.fill(0, last, cut + 8),
}

test('J5 J15 a torn tail is cut at whatever byte it tore, and the evidence is kept', async (t) => {
  const { paths: base, last, end } = await killedStore(join(t.testdir(), 'base'))
  const segment = segmentNames(base)[0] ?? ''
  const cuts = everyNth(
    Array.from({ length: (end - last) / 8 }, (_, index) => last + 8 * index),
    5,
  )
  let tornTails = 0
  for (const [state, leave] of Object.entries(LEFT_BEHIND)) {
    for (const [index, cut] of cuts.entries()) {
      // Opening the whole store takes its time: at some of the cuts. The others need no more than the journal.
      const isOpened = index % 9 === 0
      const paths = copyOf(base, join(t.testdirName, 'copy'), isOpened ? '.' : 'journal')
      const file = segmentPath(paths, -1)
      editFile(file, (bytes) => leave(bytes, last, cut, end))
      const remains = readFileSync(file).subarray(last, Math.max(last, dataLength(file)))
      const report = await verifyAtRest(paths)
      const torn = remains.length === 0 ? undefined : { segment, offset: last, bytes: remains.length }
      const title = `${state}, byte ${cut - last}`
      t.match(report, { intact: true, openSegmentTornTail: torn }, `${title}: the verifier`)
      if (torn !== undefined) tornTails += 1
      const tail = recoverJournal(roomyDisk, paths, { mark: undefined, applied: undefined, wasInUse: true })
      t.match(tail, { offset: last, cut: torn === undefined ? undefined : { length: remains.length } }, title)
      if (!isOpened) continue
      const store = await openTestStore(paths.root, AFTER_POWER_CUT)
      const digest = digestOf(remains)
      const expected =
        torn === undefined ? undefined : { segment: 0, offset: last, length: remains.length, digest, refused: false }
      t.same(store.report.cut, expected, `${title}: the cut`)
      t.same(await readObject(store, 'kept', 'before'), Buffer.from('acknowledged'), 'what was acknowledged is there')
      t.equal(await readObject(store, 'kept', 'torn'), undefined, 'the torn batch is gone as a whole')
      await store.close(true)
      assertEvidence(t, paths, expected === undefined ? [] : [remains])
      t.match(await verifyAtRest(paths), { intact: true, openSegmentTornTail: undefined })
    }
  }
  t.equal(tornTails, 4 * cuts.length - 3, 'all but those that left nothing')
})

/** Bytes that were cut off are in `aside`, under final names, and in an entry of the journal each. */
function assertEvidence(t: Test, paths: StorePaths, kept: readonly Buffer[]): void {
  const names = existsSync(paths.aside) ? readdirSync(paths.aside) : []
  t.notMatch(names.join(), 'pending')
  const aside = names.map((name) => readFileSync(join(paths.aside, name)))
  t.same(aside, kept, 'the bytes are aside')
  const digests = aside.map((bytes) => digestOf(bytes).toString('hex').slice(0, 16))
  t.same(
    names.map((name) => name.split('-').at(-1)),
    digests,
    'each named by its content',
  )
  const entries = recoveredEntries(paths).map(
    ({ length, digest }) => `${length} ${Buffer.from(digest).toString('hex')}`,
  )
  const expected = kept.map((bytes) => `${bytes.length} ${digestOf(bytes).toString('hex')}`)
  t.same([...new Set(entries)], expected, 'and the journal has an entry about them')
}

test('J15 evidence whose copy a crash cut short is named as the journal speaks of it', async (t) => {
  const { paths } = await killedStore(t.testdir())
  mkdirSync(paths.aside)
  const torn = Buffer.from('the first half')
  writeFileSync(join(paths.aside, 'segment-0-offset-4096-0123456789abcdef.pending'), torn)
  await (await openTestStore(paths.root, AFTER_POWER_CUT)).close(true)
  assertEvidence(t, paths, [torn])
})

test('J16 a crash at any operation of a recovery, twice, changes nothing in its outcome', async (t) => {
  const { paths: base, last, end } = await killedStore(join(t.testdir(), 'base'))
  editFile(segmentPath(base, -1), (bytes) => bytes.fill(0xa5, end - 24, end))
  const evidence = readFileSync(segmentPath(base, -1)).subarray(last, end)
  const dry = new EndingDisk()
  const whole = await openTestStore(copyOf(base, join(t.testdirName, 'dry')).root, AFTER_POWER_CUT, dry)
  const { counted } = dry
  await whole.kill()
  t.ok(counted.length > 25, `${counted.length} operations`)
  for (const operations of operationPoints(counted, 3)) {
    const paths = copyOf(base, join(t.testdirName, 'copy'))
    for (const attempt of ['first', 'second']) {
      const disk = new EndingDisk(operations)
      const opened = await openTestStore(paths.root, AFTER_POWER_CUT, disk).catch(() => undefined)
      if (attempt === 'first') t.ok(disk.hasEnded)
      t.equal(opened === undefined, disk.hasEnded, `${attempt} crash at operation ${operations}`)
      await opened?.kill()
    }
    const store = await openTestStore(paths.root, AFTER_POWER_CUT)
    t.same(await readObject(store, 'kept', 'before'), Buffer.from('acknowledged'), 'what was acknowledged is there')
    t.equal(await readObject(store, 'kept', 'torn'), undefined, 'what was not is not')
    await store.close(true)
    assertEvidence(t, paths, [evidence])
    t.match(await verifyAtRest(paths), { intact: true, openSegmentTornTail: undefined })
  }
})

/** A user who is not root may not open a file for writing that is read-only. */
function asOrdinaryUser(disk: FaultDisk): FaultDisk {
  disk.fault = ({ name, path }) => {
    const denied = name === 'open-to-write' && (statSync(path).mode & 0o200) === 0
    return denied
      ? { kind: 'error', error: Object.assign(new Error(`EACCES: ${path}`), { code: 'EACCES' }) }
      : undefined
  }
  return disk
}

test('J13 J16 a crash at any operation between a segment and the next loses nothing', async (t) => {
  const root = t.testdir()
  const segmentBytes = 16 * 1024
  let operations = 0
  for (let crashed = true; crashed; operations += strideOf(3)) {
    const paths = new StorePaths(join(root, String(operations)))
    const disk = new EndingDisk()
    const store = await openTestStore(paths.root, { segmentBytes }, disk)
    await store.client.execute(createBucket('kept'))
    const acknowledged: string[] = []
    const rolls = () => store.journal.place.offset + store.journal.batchBytesMaximum + 1024 > segmentBytes
    while (!rolls()) {
      const key = `key-${acknowledged.length}`
      await store.client.execute(write('kept', key, Buffer.from(key)))
      acknowledged.push(key)
    }
    const crash = new EndingDisk(operations)
    disk.fault = crash.fault
    const done = await store.client.execute(write('kept', 'last', Buffer.from('last'))).catch(() => undefined)
    crashed = crash.hasEnded
    await store.kill()
    const after = asOrdinaryUser(new FaultDisk())
    const options = { segmentBytes, bootId: operations % 2 === 0 ? OTHER_BOOT_ID : BOOT_ID }
    const again = await openTestStore(paths.root, options, after)
    if (done !== undefined) acknowledged.push('last')
    for (const key of acknowledged) {
      if (!(await readObject(again, 'kept', key))?.equals(Buffer.from(key))) t.fail(`${key} is lost`)
    }
    await again.client.execute(write('kept', 'more', Buffer.from('more')))
    await again.close(true)
    const { journal } = paths
    t.match(
      await verifyAtRest(paths),
      { intact: true, openSegmentTornTail: undefined, segments: 2 },
      `at ${operations}`,
    )
    t.notMatch(readdirSync(journal).join(), /spare|making|rewrite/, 'no half-made file is left')
    rmSync(paths.root, { recursive: true })
  }
  t.ok(operations > 8, `${operations} operations`)
})

test('J8 after an unclean stop the last segment is written anew before anything is served', async (t) => {
  for (const tail of ['open', 'sealed'] as const) {
    const paths = new StorePaths(join(t.testdir(), tail))
    const failing = new FaultDisk()
    const store = await openTestStore(paths.root, { segmentBytes: SEGMENT_BYTES }, failing)
    await store.client.execute(createBucket('kept'))
    if (tail === 'sealed') {
      failing.fault = ({ name }) => (name === 'seal' ? { kind: 'error', error: inputOutputError() } : undefined)
      const fill = () => store.client.execute(write('kept', 'key', someBytes(9)))
      await t.rejects(Promise.all(Array.from({ length: 400 }, fill)), { name: 'EngineUnavailableError' })
    }
    await store.kill()
    const disk = new FaultDisk()
    const again = await openTestStore(paths.root, { segmentBytes: SEGMENT_BYTES }, disk)
    const segment = join(paths.journal, '0000000000000000.segment')
    const rewrite = join(paths.journal, 'rewrite')
    const steps = disk.operations.filter(({ path }) => path === rewrite || path === paths.journal)
    t.same(
      steps
        .map(({ name, to }) => (to === segment ? 'rename' : name))
        .filter((name) => name !== 'write')
        .slice(0, 7),
      ['make-directory', 'remove', 'create', 'sync', 'read', 'close', 'rename'],
      `${tail}: written, synced, read again, renamed`,
    )
    const renamed = disk.operations.findIndex(({ to }) => to === segment)
    t.equal(disk.operations[renamed + 1]?.name, 'sync-directory', `${tail}: and its name is durable (J9)`)
    const written = disk.operations.findIndex(({ name, path }) => name === 'write' && path === segment)
    t.ok(tail === 'sealed' || written > renamed, `${tail}: before the first entry`)
    await again.close(true)
    const clean = new FaultDisk()
    await (await openTestStore(paths.root, { segmentBytes: SEGMENT_BYTES }, clean)).kill()
    t.equal(clean.count('rename', /rewrite/), 0, 'and not after a clean stop')
  }
})

/** After a failed sync the cache may give what was written, and a moment later what is on the medium. */
test('J8 a tail that reads differently the second time is not gone on from', async (t) => {
  const { paths, last } = await killedStore(t.testdir())
  const forgetful = new FaultDisk()
  forgetful.after = ({ name, path }) => {
    if (name === 'remove' && path === join(paths.journal, 'rewrite')) {
      editFile(segmentPath(paths, -1), (bytes) => bytes.fill(0, last))
    }
  }
  const opening = openTestStore(paths.root, AFTER_POWER_CUT, forgetful)
  await t.rejects(opening, { name: 'JournalDamagedError', message: /segment, offset \d+: a second read differs/ })
  const again = await openTestStore(paths.root, AFTER_POWER_CUT)
  t.equal(await readObject(again, 'kept', 'torn'), undefined)
  t.same(await readObject(again, 'kept', 'before'), Buffer.from('acknowledged'))
  await again.client.execute(write('kept', 'after', Buffer.from('it')))
  await again.close(true)
  t.match(await verifyAtRest(paths), { intact: true, problems: [] })
})

test('J14 projections that are being made again do not pass for those of the clean stop', async (t) => {
  const root = t.testdir()
  const store = await openTestStore(root)
  await store.client.execute(createBucket('kept'))
  await store.close(true)
  const dry = new EndingDisk()
  rmSync(store.paths.projections, { recursive: true })
  const counting = await openTestStore(root, {}, dry)
  const { length } = dry.counted
  await counting.close(true)
  rmSync(store.paths.projections, { recursive: true })
  // The last file that is opened to be read before the engine starts is a segment, for replay.
  const disk = new EndingDisk(dry.counted.slice(0, length).findLastIndex(({ name }) => name === 'open-to-read'))
  await t.rejects(openTestStore(root, {}, disk))
  t.notOk(existsSync(store.paths.projections), 'they have no name that a start trusts')
  t.ok(existsSync(store.paths.projectionsNext))
  const again = await openTestStore(root, { bootId: OTHER_BOOT_ID })
  t.match(again.report, { verified: { from: 0 } }, 'and are not trusted after a power cut')
  t.ok(again.catalog.snapshot().bucket('kept'))
  await again.close(true)
})
