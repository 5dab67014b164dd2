/** The rows as something that fails: what the proof finds then in a store that is whole, and in a broken one. */
import { join } from 'node:path'
import { test } from 'tap'
import { commitRowsAnyway } from '../mutants/broken-engine.ts'
import { beginningOf, commonBeginning } from './beginnings.ts'
import { nameOfTarget, type Target, targetsOf } from './faults.ts'
import { KINDS_OF_WORK, type KindOfWork } from './kinds-of-work.ts'
import { tryWork } from './trial.ts'

test('an exception at a row of a write loses nothing, and a store that commits rows in spite of it is found out', async (t) => {
  const root = t.testdir()
  const work = KINDS_OF_WORK.find(({ name }) => name === 'put small') as KindOfWork
  const beginning = await beginningOf(work, await commonBeginning(root), root)
  const tried = (target?: Target) => tryWork(work, beginning, join(root, 'trial'), target)
  const rows = targetsOf((await tried()).operations).filter(({ kind }) => kind === 'exception')
  t.match(rows.map(nameOfTarget), [/put-row payloads 1, once$/, /put-row objects 1, once$/])
  t.match(rows.at(-1), { operation: 'commit-rows', occurrence: 1 })
  for (const target of [rows[1], rows.at(-1)]) {
    const { injected, lost, wrong } = await tried(target)
    t.same({ injected, lost, wrong }, { injected: 1, lost: [], wrong: [] })
  }
  const restore = commitRowsAnyway()
  t.teardown(restore)
  const { lost, wrong } = await tried(rows.find(({ operation }) => operation === 'put-row applied'))
  t.ok(lost.length + wrong.length > 0, String([...lost, ...wrong][0]))
})
