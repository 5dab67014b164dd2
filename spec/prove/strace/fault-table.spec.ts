import { test } from 'tap'
import { callCounts, casesOf, casesToTry, rotation } from './fault-table.ts'
import { SCRIPTS } from './scripted-work.ts'

const call = (thread: number, name: string) => ({
  thread,
  call: name,
  path: '',
  words: '',
  began: 0,
  ended: 0,
  injected: false,
})

test('X5 a call is tried as often as one thread makes it, with every fault', (t) => {
  const counts = callCounts([call(1, 'fsync'), call(2, 'fsync'), call(2, 'fsync'), call(1, 'rename')])
  t.same(
    [...counts],
    [
      ['fsync', 2],
      ['rename', 1],
    ],
  )
  const [script] = SCRIPTS
  if (script === undefined) throw new Error('there are no scripts')
  t.same(
    casesOf(script, 'store', counts).map(({ call: name, number, fault }) => `${name} ${number} ${fault}`),
    ['fsync 1', 'fsync 2', 'rename 1'].flatMap((place) =>
      ['EIO', 'ENOSPC', 'SIGKILL'].map((fault) => `${place} ${fault}`),
    ),
  )
  const pages = casesOf(script, 'projections', new Map([['pwrite64', 200]]))
  t.ok(pages.length > 0 && pages.length < 30, 'not every page of the projections')
  t.end()
})

test('X5 shares of a table come to all of it, seed by seed', (t) => {
  for (const length of [1, 2, 3, 40, 90, 300, 412]) {
    const table = Array.from({ length }, (_, index) => index)
    t.same(
      rotation(table, length, 5).toSorted((left, right) => left - right),
      table,
      `all ${length} at once`,
    )
    const shares = Math.ceil(length / 10)
    const tried = new Set(Array.from({ length: shares }, (_, seed) => rotation(table, 10, seed + 7)).flat())
    t.equal(tried.size, length, `all ${length} in ${shares} shares`)
  }
  t.same(rotation([], 3, 1), [])
  t.end()
})

test('X5 a share has each call that is made', (t) => {
  const [script] = SCRIPTS
  if (script === undefined) throw new Error('there are no scripts')
  const table = casesOf(
    script,
    'store',
    new Map([...['fsync', 'rename'].map((name) => [name, 1] as const), ['pwrite64', 90]]),
  )
  for (const seed of [1, 2, 3]) {
    const chosen = casesToTry(table, 6, seed)
    t.same(new Set(chosen.map(({ call: name }) => name)), new Set(['pwrite64', 'fsync', 'rename']))
    t.ok(chosen.length >= 6 && chosen.length <= 8, `${chosen.length} cases`)
  }
  t.equal(casesToTry(table, table.length, 4).length, table.length)
  t.end()
})
