import { test } from 'tap'
import { CHANGES } from '../../engine/events/changes.ts'
import { features as deciding } from '../../engine/features.ts'
import { features } from '../../projections/features.ts'
import { TABLES } from '../../projections/tables/table-list.ts'

test('changes that a feature makes are applied by its rows, and by no other', async (t) => {
  const applied = features.flatMap(({ changes }) => Object.values<{ readonly name: string }>(changes))
  const made = deciding.flatMap(({ changes }) => Object.values<{ readonly name: string }>(changes))
  t.same(new Set(applied), new Set(made))
  t.equal(applied.length, made.length)
  t.ok(applied.length < Object.keys(CHANGES).length)
  for (const { changes, rows } of features) {
    const [Rows, more] = Object.values(rows)
    t.equal(more, undefined, 'a feature has one class of rows')
    t.equal('apply' in (Rows?.prototype ?? {}), Object.keys(changes).length > 0, Rows?.name)
  }
})

test('no two tables have one name', async (t) => {
  t.equal(new Set(Object.values(TABLES)).size, Object.keys(TABLES).length)
})
