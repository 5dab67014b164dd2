/** A compression that ends at any moment: the power goes, the disk fails or is full, bytes change under it. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import type { Disk } from '../../../engine/disk/disk.ts'
import { COMPRESSING, StorePaths } from '../../../engine/disk/store-paths.ts'
import { sweepCompressing } from '../../../engine/journal/cold/compress-segment.ts'
import { segmentFirsts } from '../../../engine/journal/segment.ts'
import { openSegment } from '../../../engine/journal/segment-file.ts'
import { byChance, type CrashDecision, nothingLands } from '../../prove/simulated-disk/crash-choices.ts'
import { SimulatedDisk } from '../../prove/simulated-disk/simulated-disk.ts'
import { compressJournal } from '../../support/journals/cold-segments.ts'
import { createBucket, write } from '../../support/commands.ts'
import { type Fault, FaultDisk, inputOutputError, noSpaceError } from '../../support/disks/fault-disk.ts'
import { journalEntries } from '../../support/journal-entries.ts'
import { Random } from '../../support/random.ts'
import { everyNth, strideOf } from '../../support/share-of-cases.ts'
import { openTestStore, someBytes } from '../../support/test-store.ts'

const NAMES_NOTHING = /\.segment$|HEAD$|spare$|keys$/

/** A journal of four segments on a simulated disk, all of it durable. */
async function simulatedJournal(root: string): Promise<{ disk: SimulatedDisk; paths: StorePaths; entries: string }> {
  const disk = new SimulatedDisk(root)
  const store = await openTestStore(root, { segmentBytes: 16 * 1024 }, disk)
  await store.client.execute(createBucket('bucket'))
  while (store.journal.place.segmentNumber < 3) {
    await store.client.execute(write('bucket', someBytes(100).toString('hex'), Buffer.from('bytes')))
  }
  await store.close(true)
  const paths = new StorePaths(root)
  return { disk: disk.crash(() => 1), paths, entries: JSON.stringify(journalEntries(root, disk)) }
}

function coldSegments(disk: Disk, paths: StorePaths): number {
  return segmentFirsts(disk, paths).filter((first) => {
    const file = openSegment(disk, paths.segment(first))
    file.close()
    return file.isCold
  }).length
}

function leftovers(disk: Disk, paths: StorePaths): string[] {
  return disk.list(paths.journal).filter((name) => name.startsWith(COMPRESSING))
}

test('a power cut at any operation leaves every record, and nothing that counts as a segment', async (t) => {
  const { disk, paths, entries } = await simulatedJournal(join(t.testdir(), 'store'))
  const whole = disk.clone()
  t.equal(await compressJournal(paths, 1, whole), 3)
  const operations = whole.used
  t.ok(operations > 20)
  const random = new Random(7)
  const decisions: CrashDecision[] = [nothingLands, ({ options }) => options - 1]
  for (let chance = 0; chance < 6; chance += 1) decisions.push(byChance(random))
  const places = Array.from({ length: operations }, (_, index) => index + 1)
  const found = new Set<number>()
  for (const operation of everyNth(places, 3)) {
    const cut = disk.clone()
    cut.left = operation
    await compressJournal(paths, 1, cut).catch(() => undefined)
    for (const decide of decisions) {
      const after = cut.crash(decide)
      if (JSON.stringify(journalEntries(paths.root, after)) !== entries) t.fail(`after operation ${operation}`)
      found.add(coldSegments(after, paths))
      sweepCompressing(after, paths)
      t.same(leftovers(after, paths), [])
      if (!after.list(paths.journal).every((name) => NAMES_NOTHING.test(name))) t.fail(`names after ${operation}`)
    }
  }
  t.same([...found].toSorted(), [0, 1, 2, 3], 'every number of cold segments was left by some cut')
})

test('a disk that fails or is full at any operation leaves every record, and no file', async (t) => {
  const { disk, paths, entries } = await simulatedJournal(join(t.testdir(), 'store'))
  const faults: (() => Fault)[] = [
    () => ({ kind: 'error', error: inputOutputError() }),
    () => ({ kind: 'error', error: noSpaceError() }),
    () => ({ kind: 'short', bytes: 1 }),
  ]
  for (const fault of faults) {
    let isOver = false
    for (let failing = 0; !isOver; failing += strideOf(3)) {
      const copy = disk.clone()
      const faulty = new FaultDisk(copy)
      let left = failing
      let failed = false
      faulty.fault = ({ name }) => {
        // What is removed or closed comes after the error that counts.
        if (name === 'remove' || name === 'close' || (fault().kind === 'short' && name !== 'write')) return undefined
        left -= 1
        failed ||= left === -1
        return left === -1 ? fault() : undefined
      }
      const result = await compressJournal(paths, 1, faulty).catch((error: unknown) => error)
      isOver = !failed
      if (failed && !(result instanceof Error)) t.fail(`operation ${failing} failed without a word`)
      if (JSON.stringify(journalEntries(paths.root, copy)) !== entries) t.fail(`after operation ${failing}`)
      if (leftovers(copy, paths).length > 0) t.fail(`a file is left after operation ${failing}`)
    }
  }
  t.pass('every operation failed once in each way')
})

test('a plain segment with a changed byte anywhere stays as it is, and is named', async (t) => {
  const { disk, paths } = await simulatedJournal(join(t.testdir(), 'store'))
  const [first] = segmentFirsts(disk, paths)
  if (first === undefined) throw new Error('there is no segment')
  const path = paths.segment(first)
  const length = disk.sizeOf(path)
  for (let at = 0; at < length; at += 97 * strideOf(3)) {
    const copy = disk.clone()
    const changed = Buffer.from(copy.file(path)?.bytes() ?? '')
    changed.writeUInt8(changed.readUInt8(at) ^ 4, at)
    replaceFile(copy, path, changed)
    const error = await compressJournal(paths, 3, copy).catch((reason: unknown) => reason)
    if ((error as Error)?.name !== 'JournalDamagedError') t.fail(`byte ${at}: ${String(error)}`)
    if (!copy.file(path)?.bytes().equals(changed)) t.fail(`byte ${at}: the segment is another one`)
    if (leftovers(copy, paths).length > 0) t.fail(`byte ${at}: a file is left`)
  }
  t.pass('each was refused')
})

test('what the disk changes between writing and reading again is not put in place', async (t) => {
  const { disk, paths, entries } = await simulatedJournal(join(t.testdir(), 'store'))
  for (const at of [0, 12, 300, 2000, -1, -20, -60]) {
    const copy = disk.clone()
    const faulty = new FaultDisk(copy)
    faulty.after = ({ name, path }) => {
      if (name !== 'seal') return
      const bytes = Buffer.from(copy.file(path)?.bytes() ?? '')
      const place = at < 0 ? bytes.length + at : at
      bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place)
      replaceFile(copy, path, bytes)
    }
    await t.rejects(compressJournal(paths, 1, faulty), `byte ${at}`)
    t.equal(coldSegments(copy, paths), 0)
    t.equal(JSON.stringify(journalEntries(paths.root, copy)), entries)
    t.same(leftovers(copy, paths), [])
  }
})

/** A file with other bytes under the same name, durable. */
function replaceFile(disk: SimulatedDisk, path: string, bytes: Buffer): void {
  disk.remove(path)
  const file = disk.create(path)
  file.writeAt(bytes, 0)
  file.sync()
  file.close()
}

test('a start removes what a crash left of a compression', async (t) => {
  const root = join(t.testdir(), 'store')
  const { disk, paths, entries } = await simulatedJournal(root)
  disk.create(paths.compressing('0123456789abcdef')).writeAt(Buffer.from('half'), 0)
  const store = await openTestStore(root, { segmentBytes: 16 * 1024 }, disk)
  t.same(leftovers(disk, paths), [])
  await store.close(true)
  t.ok(JSON.stringify(journalEntries(root, disk)).startsWith(entries.slice(0, -1)))
  rmSync(root, { recursive: true })
})
