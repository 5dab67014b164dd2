/** A process that ends, and a disk that is full, at any step of files of the record index: none is half, and the next try makes them. */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import type { Disk } from '../../engine/disk/disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { IndexCheck } from '../../projections/record-index/check-index.ts'
import { listIndex } from '../../projections/record-index/index-names.ts'
import { makeIndex } from '../../projections/record-index/make-index.ts'
import { nextTask } from '../../projections/record-index/next-task.ts'
import { NO_PACE } from '../../projections/steady-pace.ts'
import { contextOf } from '../support/audit-samples.ts'
import { EndingDisk } from '../support/disks/ending-disk.ts'
import { FaultDisk, noSpaceError } from '../support/disks/fault-disk.ts'
import { strideOf } from '../support/share-of-cases.ts'
import { openTestStore, roomyDisk } from '../support/test-store.ts'

const RECORDS = 1500
/** Of the smallest file, so that some are put together. */
const LEVEL_RECORDS = 60

/** Makes every file that is due. @returns how many were made of others */
function makeAll(disk: Disk, paths: StorePaths, end: number): number {
  let merged = 0
  for (;;) {
    const task = nextTask(disk, paths, end, () => false, LEVEL_RECORDS)
    if (task === undefined || makeIndex(disk, paths, task, NO_PACE) === undefined) return merged
    if (task.kind === 'merge') merged += 1
  }
}

/** A disk that is full after so many operations: nothing can be made or written, and everything else goes on. */
function fullAfter(operations: number): FaultDisk {
  const disk = new FaultDisk()
  let left = operations
  disk.fault = ({ name }) => {
    left -= 1
    const needsRoom = name === 'create' || name === 'write' || name === 'sync'
    return left < 0 && needsRoom ? { kind: 'error', error: noSpaceError() } : undefined
  }
  return disk
}

test('files of the record index whose making ends at any step', async (t) => {
  const root = t.testdir()
  const store = await openTestStore(join(root, 'store'), { segmentBytes: 64 * 1024 })
  for (let count = 0; count < RECORDS; count += 1) store.client.record(contextOf(count), 'success')
  await store.loop.drained()
  const end = RECORDS
  await store.close(true)
  const all = new StorePaths(join(root, 'all'))
  cpSync(store.paths.root, all.root, { recursive: true })
  t.ok(makeAll(roomyDisk, all, end) > 0, 'some are made of others')
  const wanted = listIndex(roomyDisk, all).used.map(({ first, following, level }) => [first, following, level])
  for (const [how, diskOf] of [
    ['ends', (step: number) => new EndingDisk(step)],
    ['is full', fullAfter],
  ] as const) {
    let isDone = false
    let steps = 0
    for (let step = 0; !isDone; step += strideOf(97)) {
      const paths = new StorePaths(join(root, 'tried'))
      cpSync(store.paths.root, paths.root, { recursive: true })
      try {
        makeAll(diskOf(step), paths, end)
        isDone = true
      } catch {
        steps += 1
      }
      const check = new IndexCheck(roomyDisk, paths)
      for (let result = check.next(); result !== 'over'; result = check.next())
        t.equal(result, 'more', `${how}: ${step}`)
      makeAll(roomyDisk, paths, end)
      const { used, superfluous } = listIndex(roomyDisk, paths)
      t.same(
        used.map(({ first, following, level }) => [first, following, level]),
        wanted,
        `${how}: ${step}`,
      )
      t.same(
        superfluous.filter((path) => path.endsWith('making')),
        [],
        `${how}: ${step}`,
      )
      rmSync(paths.root, { recursive: true })
    }
    t.ok(steps > 3, `${how} at ${steps} steps`)
  }
})
