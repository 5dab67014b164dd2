/** The journal up to any of its batches gives the rows that were there when the batch was done. */
import { copyFileSync, mkdirSync, readdirSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { test } from 'tap'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { replay } from '../../projections/replay/replay.ts'
import { StoreModel } from '../support/model/store-model.ts'
import { history } from '../support/model/store-steps.ts'
import { runsOf } from '../support/share-of-cases.ts'
import { dumpStore, dumpTables, openTestStore, roomyDisk, type TestStore } from '../support/test-store.ts'

/** Segments are so small that a store has many of them, or so large that several commands share a batch. */
const SEGMENT_BYTES = [16 * 1024, 1 << 20]
const RUNS = runsOf(12, 4)

type Rows = Record<string, string[]>

/** A copy of the journal as a crash at this moment leaves it, without what comes later. */
function copyJournal(store: TestStore, target: string): StorePaths {
  const paths = new StorePaths(target)
  mkdirSync(paths.journal, { recursive: true })
  const { segmentFirstSequence, offset } = store.journal.place
  const open = paths.segment(segmentFirstSequence)
  for (const name of readdirSync(store.paths.journal)) {
    if (!name.endsWith('.segment')) continue
    copyFileSync(join(store.paths.journal, name), join(paths.journal, name))
  }
  truncateSync(open, offset)
  return paths
}

/** The rows that a journal leads to, by the threads that read ahead and write, or in this one. */
async function rowsOf(paths: StorePaths, inThreads: boolean, rowsMaximum: number): Promise<Rows> {
  mkdirSync(paths.projections)
  const environment = ProjectionEnvironment.open(paths.projections, { readOnly: false })
  try {
    replay(inThreads ? nodeDisk : roomyDisk, paths, environment, undefined, { aheadFromBytes: 0, rowsMaximum })
    return dumpTables(environment)
  } finally {
    await environment.close()
  }
}

test('J14 J16 after a crash at any batch the rows are those of its moment', async (t) => {
  const root = t.testdir()
  let runs = 0
  let batches = 0
  await fc.assert(
    fc.asyncProperty(history, async (groups) => {
      const directory = join(root, String((runs += 1)))
      const model = new StoreModel()
      const segmentBytes = SEGMENT_BYTES[runs % SEGMENT_BYTES.length] as number
      const store = await openTestStore(directory, { segmentBytes, volumeBytes: 8192, clock: model.clock })
      const moments: { readonly paths: StorePaths; readonly live: Rows }[] = []
      for (const [index, group] of groups.entries()) {
        const wrong = await model.run(store, group)
        if (wrong.length > 0) throw new Error(wrong.join('\n'))
        moments.push({ paths: copyJournal(store, `${directory}-${index}`), live: await dumpStore(store.paths) })
      }
      await store.close(false)
      const last = moments.at(-1)
      if (last !== undefined) moments.push({ ...last, paths: copyJournal(store, `${directory}-again`) })
      for (const [index, { paths, live }] of moments.entries()) {
        // Written in one go at the end, or after nearly every batch, so that what comes next reads what is being written.
        const made = await rowsOf(paths, index >= moments.length - 2, index % 2 === 0 ? 1 : 400_000)
        const differs = Object.keys(live).filter((table) => live[table]?.join() !== made[table]?.join())
        if (differs.length > 0) throw new Error(`after group ${index} rows differ in ${differs.join()}`)
        batches += 1
      }
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
  t.equal(runs, RUNS)
  t.ok(batches > 4 * RUNS, `${batches} moments`)
})
