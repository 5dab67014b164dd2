/** The worker that has the files of the record index made: in what order, when not, and what it does about damage. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type Test } from 'tap'
import type { Sequence } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import { BackgroundThreadError } from '../../projections/background-thread.ts'
import { IndexCheck } from '../../projections/record-index/check-index.ts'
import { listIndex } from '../../projections/record-index/index-names.ts'
import { type IndexRun, runIndex } from '../../projections/record-index/index-run.ts'
import { type IndexTask, makeIndex } from '../../projections/record-index/make-index.ts'
import { NO_PACE, WorkStoppedError } from '../../projections/steady-pace.ts'
import { RecordIndexing } from '../../workers/index-records.ts'
import { contextOf } from '../support/audit-samples.ts'
import { FaultDisk, noSpaceError } from '../support/disks/fault-disk.ts'
import { flipByte, segmentPath } from '../support/journal-files.ts'
import { openTestStore } from '../support/test-store.ts'

interface Journal {
  readonly paths: StorePaths
  /** Sequence of the last record. */
  readonly end: Sequence
}

/** A closed store with some segments. */
async function journal(t: Test, count = 700): Promise<Journal> {
  const store = await openTestStore(t.testdir(), { segmentBytes: 64 * 1024 })
  for (let index = 0; index < count; index += 1) void store.client.record(contextOf(index), 'success')
  await store.loop.drained()
  const end = store.journal.position.sequence
  await store.close(true)
  return { paths: store.paths, end }
}

interface Trial {
  readonly worker: RecordIndexing
  readonly tasks: IndexTask[]
  readonly damaged: string[]
  readonly failures: unknown[]
  /** Has it make what there is to be made. */
  settle(): Promise<void>
  later(): void
}

function indexing(
  { paths, end }: Journal,
  options: { disk?: Disk; enabled?: boolean; belowReserve?: boolean } = {},
): Trial {
  const { disk = nodeDisk, enabled = true, belowReserve = false } = options
  let now = 0
  const trial = { tasks: [] as IndexTask[], damaged: [] as string[], failures: [] as unknown[] }
  const space = { space: disk.space(paths.root), isBelowReserve: belowReserve }
  const run = (task: IndexTask): IndexRun => {
    trial.tasks.push(task)
    const ended = Promise.resolve().then(() => {
      try {
        return makeIndex(disk, paths, task, NO_PACE)
      } catch (error) {
        throw new BackgroundThreadError(error as Error)
      }
    })
    return { ended, stop: () => undefined }
  }
  const worker = new RecordIndexing(disk, paths, space, new IndexCheck(disk, paths), {
    enabled,
    reservedBytes: 0,
    lastDurable: () => end,
    run,
    timer: () => now,
    onDamage: (path) => {
      trial.damaged.push(path)
      disk.remove(path)
    },
    onFailure: (error) => trial.failures.push(error),
  })
  const settle = async () => {
    for (let steps = 0; steps < 100; steps += 1) {
      const before = trial.tasks.length
      await worker.step()
      if (trial.tasks.length === before) return
      await worker.woken()
    }
  }
  return { ...trial, worker, settle, later: () => (now += 24 * 60 * 60 * 1000) }
}

const sealedOf = ({ paths }: Journal) => segmentFirsts(nodeDisk, paths).at(-1)

test('all sealed segments are indexed, the oldest first, and what is left of an earlier process is removed', async (t) => {
  const store = await journal(t)
  nodeDisk.makeDirectory(store.paths.recordIndex)
  writeFileSync(join(store.paths.recordIndex, 'making'), 'half a file')
  const { settle, tasks, later, worker } = indexing(store)
  await settle()
  const { used, superfluous } = listIndex(nodeDisk, store.paths)
  t.same(superfluous, [])
  t.equal(used.at(-1)?.following, sealedOf(store), 'the open segment has few records')
  t.ok(tasks.length > 1 && tasks.every(({ kind }) => kind === 'records'))
  later()
  await settle()
  t.equal(tasks.length, used.length, 'once each')
  t.match(worker.status, new RegExp(`^${used.length} files`))
  await worker.close()
})

test('it makes nothing when it is off, or when space is short', async (t) => {
  const store = await journal(t)
  const off = indexing(store, { enabled: false })
  t.equal(await off.worker.step(), 'done')
  const short = indexing(store, { belowReserve: true })
  await short.settle()
  t.match(short.worker.status, /waits for free space/)
  t.same([...off.tasks, ...short.tasks], [])
})

test('a damaged segment is left out and said once, and the others are indexed', async (t) => {
  const store = await journal(t)
  flipByte(segmentPath(store.paths, 1), 5000)
  const { settle, failures, later, worker } = indexing(store)
  await settle()
  later()
  await settle()
  t.match(failures, [{ reason: 'JournalDamagedError' }])
  t.match(worker.status, /1 segments are damaged/)
  const [, damagedFirst, following] = segmentFirsts(nodeDisk, store.paths)
  const { used } = listIndex(nodeDisk, store.paths)
  t.notOk(used.some(({ first, following: end }) => first < (following ?? 0) && end > (damagedFirst ?? 0)))
  t.equal(used.at(-1)?.following, sealedOf(store))
})

test('a disk that is full leaves no file behind, and it is tried again', async (t) => {
  const store = await journal(t)
  const disk = new FaultDisk()
  const { settle, failures, later } = indexing(store, { disk })
  disk.fault = ({ name }) => (name === 'write' ? { kind: 'error', error: noSpaceError() } : undefined)
  await settle()
  t.equal(failures.length, 1)
  t.same(listIndex(nodeDisk, store.paths).used, [])
  disk.fault = () => undefined
  later()
  await settle()
  t.equal(listIndex(nodeDisk, store.paths).used.at(-1)?.following, sealedOf(store))
})

test('rot of a file that no question meets is found by the next daily pass, and the file is made again', async (t) => {
  const store = await journal(t)
  const { settle, damaged, later } = indexing(store)
  await settle()
  const before = readdirSync(store.paths.recordIndex)
  const [, rotten] = listIndex(nodeDisk, store.paths).used
  flipByte(rotten?.path ?? '', 600)
  later()
  for (let step = 0; step < 2 * before.length; step += 1) await settle()
  t.same(damaged, [rotten?.path])
  later()
  await settle()
  t.same(readdirSync(store.paths.recordIndex), before)
})

test('a file that is not sound when others are put together is removed', async (t) => {
  const store = await journal(t, 3000)
  const { settle, damaged, tasks, later } = indexing(store)
  await settle()
  t.ok(tasks.some(({ kind }) => kind === 'merge'))
  const [merged] = listIndex(nodeDisk, store.paths).used
  const count = tasks.length
  nodeDisk.remove(merged?.path ?? '')
  for (let at = 0; at < 9; at += 1) {
    const task = tasks[at] as IndexTask
    makeIndex(nodeDisk, store.paths, task, NO_PACE)
  }
  const third = listIndex(nodeDisk, store.paths).used[2]?.path ?? ''
  flipByte(third, 300)
  later()
  for (let round = 0; round < 9; round += 1) {
    await settle()
    later()
  }
  t.ok(tasks.length > count)
  t.same(damaged, [third])
  t.match(listIndex(nodeDisk, store.paths).used[0], { first: 0, level: 1 })
})

test('a thread makes a file, and ends when it is to stop', async (t) => {
  const store = await journal(t)
  const [segment, following] = segmentFirsts(nodeDisk, store.paths) as [Sequence, Sequence]
  const task = { kind: 'records', segment, after: undefined, count: 1e6, before: following + 1, level: 0 } as const
  const made = await runIndex(store.paths.root, task, 1 << 30).ended
  t.ok(existsSync(made?.path ?? ''))
  const slow = runIndex(store.paths.root, task, 1000)
  slow.stop()
  await t.rejects(slow.ended, new WorkStoppedError())
})
