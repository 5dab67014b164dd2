import { readdirSync } from 'node:fs'
import { test } from 'tap'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { COMPRESSING, type StorePaths } from '../../engine/disk/store-paths.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import { openSegment } from '../../engine/journal/segment-file.ts'
import { SegmentCompression } from '../../workers/compress-segments.ts'
import type { StepResult } from '../../workers/worker.ts'
import { createBucket, write } from '../support/commands.ts'
import { FaultDisk, noSpaceError } from '../support/disks/fault-disk.ts'
import { journalEntries } from '../support/journal-entries.ts'
import { flipByte, segmentPath } from '../support/journal-files.ts'
import { openTestStore, someBytes, type TestStore } from '../support/test-store.ts'

const SEALED = Date.parse('2126-01-02T03:04:05Z')
const HOUR = 3_600_000

/** A closed store with four sealed segments of 16 KiB, all sealed at the same time. */
async function longStore(root: string): Promise<TestStore> {
  const store = await openTestStore(root, { segmentBytes: 16 * 1024, clock: () => SEALED * 1000 })
  await store.client.execute(createBucket('bucket'))
  while (store.journal.place.segmentNumber < 4) {
    await store.client.execute(write('bucket', someBytes(100).toString('hex'), Buffer.from('bytes')))
  }
  await store.close(true)
  return store
}

interface Trial {
  readonly worker: SegmentCompression
  /** Milliseconds that it waited, with a timer that stands still. */
  readonly waited: () => number
  readonly look: () => void
}

function compression(paths: StorePaths, now: number, options: { enabled?: boolean; disk?: FaultDisk } = {}): Trial {
  let waited = 0
  let timer = 0
  const worker = new SegmentCompression(options.disk ?? nodeDisk, paths, {
    enabled: options.enabled ?? true,
    afterHours: 24,
    bytesPerSecond: 1 << 20,
    start: '0123456789abcdef',
    clock: () => now,
    timer: () => timer,
    pause: async (milliseconds) => {
      waited += milliseconds
      timer += milliseconds
    },
  })
  return { worker, waited: () => waited, look: () => (timer += 60_000) }
}

async function untilIdle({ step }: { step: () => Promise<StepResult> }): Promise<void> {
  for (let steps = 0; steps < 200; steps += 1) if ((await step()) !== 'more') return
  throw new Error('it does not come to an end')
}

function stepsOf(worker: SegmentCompression) {
  return { step: () => worker.step() }
}

function coldOnes(paths: StorePaths): boolean[] {
  return segmentFirsts(nodeDisk, paths).map((first) => {
    const file = openSegment(nodeDisk, paths.segment(first))
    file.close()
    return file.isCold
  })
}

test('segments are compressed when they have been sealed for long enough, all but the last', async (t) => {
  const { paths } = await longStore(t.testdir())
  const entries = journalEntries(paths.root)
  const early = compression(paths, SEALED + 24 * HOUR - 1)
  await untilIdle(stepsOf(early.worker))
  t.same(coldOnes(paths), [false, false, false, false, false])
  t.match(early.worker.totals, { segments: 0, kept: 0 })
  // The records of a batch are a microsecond apart.
  const due = compression(paths, SEALED + 24 * HOUR + 1000)
  await untilIdle(stepsOf(due.worker))
  t.same(coldOnes(paths), [true, true, true, true, false])
  t.same(journalEntries(paths.root), entries)
  const { segments, plainBytes, storedBytes } = due.worker.totals
  t.equal(segments, 4)
  t.ok(storedBytes < plainBytes)
  t.match(due.worker.status, /^4 segments are compressed, 0 plain, 0 kept plain/)
  const later = compression(paths, SEALED)
  await untilIdle(stepsOf(later.worker))
  t.same(later.worker.totals, due.worker.totals, 'another start counts the same')
})

test('the rate is that of the bytes that are read, twice', async (t) => {
  const { paths } = await longStore(t.testdir())
  const trial = compression(paths, SEALED + 25 * HOUR)
  await untilIdle(stepsOf(trial.worker))
  const { plainBytes } = trial.worker.totals
  // The last pieces of a segment are paid for before the next one.
  t.ok(trial.waited() >= (0.8 * 2 * plainBytes * 1000) / 2 ** 20)
  t.ok(trial.waited() <= (2 * plainBytes * 1000) / 2 ** 20)
})

test('without the setting segments are counted and left as they are', async (t) => {
  const { paths } = await longStore(t.testdir())
  const trial = compression(paths, SEALED + 99 * HOUR, { enabled: false })
  await untilIdle(stepsOf(trial.worker))
  t.same(coldOnes(paths), [false, false, false, false, false])
  t.match(trial.worker.status, /4 plain/)
})

test('a damaged segment is reported once and stays plain; the next ones are compressed', async (t) => {
  const { paths } = await longStore(t.testdir())
  flipByte(segmentPath(paths, 1), 700)
  const { worker } = compression(paths, SEALED + 25 * HOUR)
  const errors: unknown[] = []
  const step = () =>
    worker.step().catch((error: unknown): StepResult => {
      errors.push(error)
      return 'more'
    })
  await untilIdle({ step })
  t.match(errors, [{ name: 'JournalDamagedError', message: /segment: its bytes do not hash to the content digest/ }])
  t.same(coldOnes(paths), [true, false, true, true, false])
  t.match(worker.totals, { segments: 3, kept: 1 })
})

test('a full disk is no reason to give up a segment', async (t) => {
  const { paths } = await longStore(t.testdir())
  const disk = new FaultDisk(nodeDisk)
  const trial = compression(paths, SEALED + 25 * HOUR, { disk })
  disk.freeBytes = 1 << 20
  await untilIdle(stepsOf(trial.worker))
  t.match(trial.worker.status, /0 segments are compressed, 4 plain, .*, waits for free space/)
  disk.freeBytes = undefined
  disk.fault = ({ name, path }) =>
    name === 'write' && path.includes(COMPRESSING) ? { kind: 'error', error: noSpaceError() } : undefined
  await t.rejects(untilIdle(stepsOf(trial.worker)), { name: 'DiskFullError' })
  t.match(trial.worker.totals, { segments: 0, kept: 0 })
  disk.fault = () => undefined
  await untilIdle(stepsOf(trial.worker))
  t.same(coldOnes(paths), [true, true, true, true, false])
})

test('a worker that is stopped in the middle leaves no file', async (t) => {
  const { paths } = await longStore(t.testdir())
  const { worker } = compression(paths, SEALED + 25 * HOUR)
  await worker.step()
  t.ok(readdirSync(paths.journal).some((name) => name.startsWith(COMPRESSING)))
  await worker.close()
  t.notOk(readdirSync(paths.journal).some((name) => name.startsWith(COMPRESSING)))
  t.same(coldOnes(paths), [false, false, false, false, false])
})

test('segments that are sealed meanwhile are found', async (t) => {
  const { paths } = await longStore(t.testdir())
  const trial = compression(paths, SEALED + 25 * HOUR)
  await untilIdle(stepsOf(trial.worker))
  const again = await openTestStore(paths.root, { segmentBytes: 16 * 1024, clock: () => SEALED * 1000 })
  while (again.journal.place.segmentNumber < 6) {
    await again.client.execute(write('bucket', someBytes(100).toString('hex'), Buffer.from('bytes')))
  }
  await untilIdle(stepsOf(trial.worker))
  t.equal(trial.worker.totals.segments, 4, 'not before it looks again')
  trial.look()
  await untilIdle(stepsOf(trial.worker))
  t.equal(trial.worker.totals.segments, 6)
  await again.close(true)
})
