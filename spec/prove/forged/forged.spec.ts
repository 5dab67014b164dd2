import { join } from 'node:path'
import { test } from 'tap'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { MASTER_KEY, openTestStore } from '../../support/test-store.ts'
import { verifyJournal } from '../../../engine/verify/journal-verifier.ts'
import { FORGERIES } from './forgeries.ts'
import { genuineStore, tryForgery } from './forged.ts'

test('a store that nobody forged is intact and keeps its projections', async (t) => {
  const paths = new StorePaths(await genuineStore(t.testdir()))
  const report = await verifyJournal(paths.journal, { threads: 0, masterKey: MASTER_KEY })
  t.match(report, { intact: true, problems: [] })
  t.same(report.notes, [], 'every change of access was checked')
  t.match((await verifyJournal(paths.journal, { threads: 0 })).notes, [
    /^Access changes: \d+ not checked, no master key/,
  ])
  const store = await openTestStore(paths.root)
  t.match(store.report, { replayedRecords: 0, discardedProjections: undefined })
  await store.close(true)
})

test('nobody without the master key gives access, whatever they write', async (t) => {
  const root = t.testdir()
  const genuine = await genuineStore(root)
  for (const forgery of FORGERIES) t.same(await tryForgery(genuine, join(root, 'forged'), forgery), [], forgery.name)
})
