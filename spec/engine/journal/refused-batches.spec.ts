/** What was refused because it could not be made durable does not exist after a restart, whatever the disk kept of it. */
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { sequenceOf } from '../../../engine/brands.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { EngineUnavailableError, OutcomeUnknownError } from '../../../engine/errors.ts'
import { HeadFile, type HeadMark } from '../../../engine/journal/head-mark.ts'
import { verifyJournal } from '../../../engine/verify/journal-verifier.ts'
import { createBucket, deleteObject, digestOf, write } from '../../support/commands.ts'
import { EndingDisk } from '../../support/disks/ending-disk.ts'
import { type Fault, FaultDisk, inputOutputError, type Operation } from '../../support/disks/fault-disk.ts'
import { operationPoints } from '../../support/disks/operation-points.ts'
import { journalEntries } from '../../support/journal-entries.ts'
import { editFile, journalListing, segmentPath } from '../../support/journal-files.ts'
import { BOOT_ID, openTestStore, OTHER_BOOT_ID, readObject, roomyDisk } from '../../support/test-store.ts'

const SEGMENT = /\/journal\/\d+\.segment$/
const HEAD = /\/journal\/HEAD$/
const SETTINGS = { segmentBytes: 64 * 1024 }
const EIO: Fault = { kind: 'error', error: inputOutputError() }
const KEPT = Buffer.from('acknowledged')

const isSegment = ({ path }: Operation) => SEGMENT.test(path)
const isHead = ({ path }: Operation) => HEAD.test(path)

/** How a batch fails although its bytes are there afterwards. */
const FAILURES = {
  'a failed sync': (operation: Operation) => (operation.name === 'sync' && isSegment(operation) ? EIO : undefined),
  'a failed write of all bytes': (operation: Operation): Fault | undefined =>
    operation.name === 'write' && isSegment(operation) ? { kind: 'short', bytes: operation.bytes ?? 0 } : undefined,
}

interface Failed {
  readonly paths: StorePaths
  /** Where the refused batch begins. */
  readonly offset: number
  /** What each client was told. */
  readonly told: readonly unknown[]
  readonly failures: readonly unknown[]
}

/** A store in which a batch of three changes failed while another request waited, and whose process has ended. */
async function failedStore(root: string, fault: (operation: Operation) => Fault | undefined): Promise<Failed> {
  const disk = new FaultDisk()
  const store = await openTestStore(root, SETTINGS, disk)
  for (const key of ['kept', 'gone']) {
    if (key === 'kept') await store.client.execute(createBucket('photos'))
    await store.client.execute(write('photos', key, KEPT))
  }
  const { offset } = store.journal.place
  disk.fault = fault
  const changes = [write('photos', 'new', KEPT), deleteObject('photos', 'gone'), createBucket('second')]
  const results = await Promise.allSettled(changes.map((command) => store.client.execute(command)))
  disk.fault = () => undefined
  const later = await store.client.execute(write('photos', 'later', KEPT)).catch((error: unknown) => error)
  const told = [...results.map((result) => (result.status === 'rejected' ? result.reason : 'done')), later]
  await store.kill()
  return { paths: store.paths, offset, told, failures: store.failures }
}

/** Opens the store and holds it against what the clients were told; returns its entries. */
async function assertRefused(t: Test, paths: StorePaths, bootId = BOOT_ID) {
  const store = await openTestStore(paths.root, { ...SETTINGS, bootId })
  t.same(await readObject(store, 'photos', 'kept'), KEPT)
  t.same(await readObject(store, 'photos', 'gone'), KEPT, 'the refused deletion did not happen')
  for (const key of ['new', 'later']) t.equal(await readObject(store, 'photos', key), undefined, key)
  t.equal(store.catalog.snapshot().bucket('second'), undefined)
  await store.client.execute(write('photos', 'after', KEPT))
  await store.close(true)
  t.match(await verifyJournal(paths.journal, { threads: 0 }), { intact: true, problems: [] })
  return journalEntries(paths.root)
}

function markOf(paths: StorePaths): HeadMark | undefined {
  const head = HeadFile.open(roomyDisk, paths)
  head.close()
  return head.newest
}

for (const [title, fault] of Object.entries(FAILURES)) {
  test(`${title}: what was refused is cut off, kept aside and recorded`, async (t) => {
    const { paths, offset, told, failures } = await failedStore(t.testdir(), fault)
    for (const one of told) t.match(one, { name: 'EngineUnavailableError' })
    t.equal(failures.length, 1)
    t.match(told[0], { message: /HEAD says that nothing after sequence \d+ was acknowledged/ })
    const refused = readFileSync(segmentPath(paths, -1)).subarray(offset)
    const length = refused.findLastIndex((byte) => byte !== 0) + 1
    t.ok(length > 500, 'the batch is whole in the file')
    const before = await verifyJournal(paths.journal, { threads: 0 })
    t.match(before, { intact: true, notes: [/HEAD says that the batch after sequence \d+ was refused/] })
    for (const bootId of [OTHER_BOOT_ID, BOOT_ID]) {
      const copy = new StorePaths(join(t.testdirName, `copy-${bootId}`))
      cpSync(paths.journal, copy.journal, { recursive: true })
      for (const folder of ['payloads', 'projections'])
        cpSync(join(paths.root, folder), join(copy.root, folder), { recursive: true })
      const entries = await assertRefused(t, copy, bootId)
      const digest = digestOf(refused.subarray(0, length))
      const recovered = entries.flatMap(({ changes }) => changes.filter(({ name }) => name === 'journal.recovered'))
      t.match(recovered, [{ segment: 0, offset, length, digest, refused: true }])
      const evidence = `segment-0-offset-${offset}-refused-${digest.toString('hex').slice(0, 16)}`
      t.same(readdirSync(copy.aside), [evidence])
      t.equal(markOf(copy)?.refused, undefined, 'the note is gone')
      await assertAgain(t, copy)
    }
  })
}

/** The next start finds nothing to do. */
async function assertAgain(t: Test, paths: StorePaths): Promise<void> {
  const again = await openTestStore(paths.root, SETTINGS)
  t.equal(again.report.cut, undefined)
  t.same(await readObject(again, 'photos', 'after'), KEPT)
  await again.close(true)
}

for (const slot of [0, 1]) {
  test(`a slot of HEAD that is lost, slot ${slot}: the refused batch does not come back`, async (t) => {
    const { paths } = await failedStore(t.testdir(), FAILURES['a failed sync'])
    editFile(paths.head, (bytes) => bytes.fill(0, slot * 4096, (slot + 1) * 4096))
    await assertRefused(t, paths)
  })

  test(`a slot of HEAD that is lost, slot ${slot}: the clean stop before this start does not come back`, async (t) => {
    const first = await openTestStore(t.testdir(), SETTINGS)
    await first.close(true)
    t.equal(markOf(first.paths)?.clean, true)
    const disk = new FaultDisk()
    disk.fault = (operation) => (isSegment(operation) && disk.count('write', HEAD) > 0 ? EIO : undefined)
    await t.rejects(openTestStore(first.paths.root, SETTINGS, disk))
    editFile(first.paths.head, (bytes) => bytes.fill(0, slot * 4096, (slot + 1) * 4096))
    t.equal(markOf(first.paths)?.clean, false)
  })
}

test('where HEAD cannot say it either, the answer says that nobody knows', async (t) => {
  const root = t.testdir()
  for (const step of ['write', 'sync'] as const) {
    const { told, paths } = await failedStore(join(root, step), (operation) =>
      operation.name === 'sync' && isSegment(operation)
        ? EIO
        : operation.name === step && isHead(operation)
          ? EIO
          : undefined,
    )
    for (const one of told.slice(0, 3)) {
      t.ok(one instanceof OutcomeUnknownError)
      t.match(one, { message: /HEAD cannot say so .*EIO.*known after the next start/ })
    }
    t.ok(told[3] instanceof EngineUnavailableError && !(told[3] instanceof OutcomeUnknownError), 'it was never begun')
    await (await openTestStore(paths.root, SETTINGS)).close(true)
  }
})

test('a mark that cannot be written refuses what waits, and nothing of that is done', async (t) => {
  const disk = new FaultDisk()
  const store = await openTestStore(t.testdir(), SETTINGS, disk)
  await store.client.execute(createBucket('photos'))
  disk.fault = (operation) => (isHead(operation) && operation.name === 'write' ? EIO : undefined)
  const { place } = store.journal
  while (store.failures.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  await t.rejects(store.client.execute(write('photos', 'later', KEPT)), EngineUnavailableError)
  t.throws(() => store.client.record({ ...write('photos', 'x', KEPT).audit }, 'success'), EngineUnavailableError)
  t.same(store.journal.place, place)
  await store.kill()
})

/** A mark like that of a failed store, for the journal as it is. */
function writeMark(paths: StorePaths, change: (mark: HeadMark) => HeadMark): void {
  const head = HeadFile.open(roomyDisk, paths)
  const { newest } = head
  if (newest === undefined) throw new Error('there is no mark')
  head.write(change(newest))
  head.close()
}

test('a note never cuts off what it does not name', async (t) => {
  const { paths, offset } = await failedStore(join(t.testdir(), 'base'), FAILURES['a failed sync'])
  const note = markOf(paths)
  const copyOf = (name: string): StorePaths => {
    const copy = new StorePaths(join(t.testdirName, name))
    cpSync(paths.root, copy.root, { recursive: true })
    return copy
  }
  const other = copyOf('another-batch')
  writeMark(other, (mark) => ({ ...mark, refused: Uint8Array.from(mark.refused ?? [], (byte) => byte ^ 1) }))
  const opened = await openTestStore(other.root, SETTINGS)
  t.equal(opened.report.cut, undefined, 'the batch has another hash: a later start wrote it')
  t.same(await readObject(opened, 'photos', 'new'), KEPT)
  await opened.close(true)

  const handled = copyOf('handled')
  await assertRefused(t, handled)
  const length = journalEntries(handled.root).length
  writeMark(handled, () => note as HeadMark)
  rmSync(handled.projections, { recursive: true })
  const again = await openTestStore(handled.root, { ...SETTINGS, bootId: OTHER_BOOT_ID })
  t.equal(again.report.cut, undefined, 'a note that was handled cuts off nothing, even if it comes back')
  t.equal(markOf(handled)?.refused, undefined, 'and is gone')
  await again.kill()
  t.ok(journalEntries(handled.root).length > length)

  const before = copyOf('another-record')
  writeMark(before, (mark) => ({ ...mark, head: Uint8Array.from(mark.head, (byte) => byte ^ 1) }))
  const listing = journalListing(before)
  await t.rejects(openTestStore(before.root, SETTINGS), {
    name: 'AcknowledgedDataLostError',
    message: /the high-water mark has another hash for sequence \d+/,
  })
  t.same(journalListing(before), listing, 'nothing was changed')

  const moved = copyOf('another-sequence')
  writeMark(moved, (mark) => ({ ...mark, sequence: sequenceOf(mark.sequence - 1) }))
  await t.rejects(openTestStore(moved.root, SETTINGS), { message: /the high-water mark has another hash for sequence/ })

  const ahead = copyOf('ahead')
  editFile(segmentPath(ahead, -1), (bytes) => bytes.fill(0, offset - 8))
  await t.rejects(openTestStore(ahead.root, SETTINGS), { message: /holds sequence \d+, the journal ends at/ })
})

test('a note about a batch that another one follows stops the start', async (t) => {
  const disk = new FaultDisk()
  const store = await openTestStore(t.testdir(), SETTINGS, disk)
  await store.client.execute(createBucket('photos'))
  const last = store.journal.position
  await store.client.execute(write('photos', 'kept', KEPT))
  const { head: hash } = store.journal.position
  await store.client.execute(write('photos', 'also', KEPT))
  await store.kill()
  const { sequence, batch, head } = last
  const refused = hash.subarray(0, 24)
  writeMark(store.paths, () => ({ sequence, batch, head, clean: false, bootId: OTHER_BOOT_ID, refused }))
  const listing = journalListing(store.paths)
  for (const attempt of ['first', 'second']) {
    await t.rejects(
      openTestStore(store.paths.root, SETTINGS),
      { name: 'JournalDamagedError', message: /damage before the tail: .*the mark says that batch \d+ was refused/ },
      attempt,
    )
    t.same(journalListing(store.paths), listing, 'nothing was changed')
  }
})

test('the first batch of a segment is cut off as well', async (t) => {
  const disk = new FaultDisk()
  const store = await openTestStore(t.testdir(), SETTINGS, disk)
  await store.client.execute(createBucket('photos'))
  while (store.journal.place.segmentNumber === 0) {
    const { offset } = store.journal.place
    // The next batch goes into a new segment: its write is the first one there.
    if (offset + store.journal.batchBytesMaximum + 1024 > SETTINGS.segmentBytes) {
      disk.fault = (operation) =>
        operation.name === 'sync' &&
        /0000[1-9]\d*\.segment|00[1-9]\d*\.segment/.test(operation.path) &&
        operation.path !== segmentPath(store.paths, 0)
          ? EIO
          : undefined
    }
    const done = await store.client.execute(write('photos', 'key', KEPT)).catch((error: unknown) => error)
    if (done instanceof Error) break
  }
  t.equal(store.journal.place.segmentNumber, 1)
  t.equal(store.journal.place.offset, 256)
  const { sequence } = store.journal.position
  await store.kill()
  const again = await openTestStore(store.paths.root, SETTINGS)
  t.match(again.report.cut, { segment: 1, offset: 256, refused: true })
  await again.close(true)
  const entries = journalEntries(store.paths.root).filter((entry) => entry.sequence > sequence)
  t.match(entries[0], { operation: 'server.start', sequence: sequence + 1 })
  t.match(await verifyJournal(store.paths.journal, { threads: 0 }), { intact: true, problems: [] })
})

test('a crash at any operation of the recovery, and in the next one, changes nothing in its outcome', async (t) => {
  const { paths } = await failedStore(join(t.testdir(), 'base'), FAILURES['a failed sync'])
  const copyOf = (name: string): StorePaths => {
    const copy = new StorePaths(join(t.testdirName, name))
    cpSync(paths.root, copy.root, { recursive: true })
    return copy
  }
  const dry = new EndingDisk()
  const whole = await openTestStore(copyOf('dry').root, SETTINGS, dry)
  const { counted } = dry
  await whole.kill()
  t.ok(counted.length > 20)
  for (const first of operationPoints(counted, 3)) {
    const copy = copyOf('copy')
    for (const operations of [first, first % 7]) {
      const disk = new EndingDisk(operations)
      const store = await openTestStore(copy.root, SETTINGS, disk).catch(() => undefined)
      await store?.kill().catch(() => undefined)
    }
    const entries = await assertRefused(t, copy)
    const recovered = entries.flatMap(({ changes }) => changes.filter(({ name }) => name === 'journal.recovered'))
    t.ok(recovered.length >= 1)
    t.equal(readdirSync(copy.aside).length, 1, `${first}: ${readdirSync(copy.aside).join()}`)
    rmSync(copy.root, { recursive: true })
  }
})
