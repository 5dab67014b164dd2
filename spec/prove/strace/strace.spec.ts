/** What the proof stands on: its table of faults, its counts, its ledger, and a sync that takes its time. */
import { test } from 'tap'
import { lost, wrong } from '../../support/dying-servers/client-findings.ts'
import { startInThread } from '../../support/test-server.ts'
import { type DelayedChange, judged } from './delayed-sync.ts'
import { callCounts, casesOf, casesToTry, rotation } from './fault-table.ts'
import { InjectionTally } from './injection-tally.ts'
import { Ledger, LEDGER_BUCKET } from './ledger.ts'
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

function tally(injected: readonly string[], missed = 0): InjectionTally {
  const counts = new InjectionTally()
  for (const name of ['fsync', 'rename', 'fsync', 'rename']) counts.tried(name)
  for (const name of injected) counts.injected(name, 'journal')
  counts.missed = missed
  counts.acknowledged = 9
  counts.looks = 7
  return counts
}

test('X5 injections that lost nothing pass', (t) => {
  t.same(tally(['fsync', 'fsync', 'rename'], 1).verdict([]), {
    summary:
      '3 injections at 2 system calls (1 not reached), 7 looks during delayed syncs, 9 acknowledged, 0 lost, 0 wrong',
    passed: true,
  })
  t.equal(tally(['fsync', 'rename']).details, 'fsync 1, rename 1; journal 2; ')
  t.end()
})

test('X5 a run that injected nothing, or too little, or that found something, fails', (t) => {
  t.notOk(new InjectionTally().verdict([]).passed)
  t.match(tally(['fsync']).verdict([]), { summary: /none into rename/, passed: false })
  t.notOk(tally(['fsync', 'rename'], 2).verdict([]).passed)
  const blind = tally(['fsync', 'rename'])
  blind.looks = 0
  t.notOk(blind.verdict([]).passed)
  t.match(tally(['fsync', 'rename']).verdict([lost('a'), wrong('b')]), { summary: /1 lost, 1 wrong$/, passed: false })
  t.end()
})

test('X5 the ledger notices what is gone, changed or too much, and settles what it cannot know', async (t) => {
  const server = await startInThread()
  t.teardown(() => server.stop())
  const { wire, raw } = server
  await raw('PUT', `/${LEDGER_BUCKET}`)
  const ledger = new Ledger()
  for (const key of ['a', 'b', 'c']) t.equal(await ledger.put(wire, key, 100), 'done')
  t.equal(await ledger.upload(wire, 'd', 50), 'done')
  t.equal(await ledger.remove(wire, 'c'), 'done')
  t.equal(ledger.acknowledged, 5)
  t.same(await ledger.check(wire), [])

  await raw('DELETE', `/${LEDGER_BUCKET}/a`)
  t.match(await ledger.look(wire), [{ kind: 'lost', text: /^a: 404/ }])
  await raw('PUT', `/${LEDGER_BUCKET}/b`, { body: 'other bytes' })
  await raw('PUT', `/${LEDGER_BUCKET}/nobody-wrote-this`)
  t.match(await ledger.check(wire), [{ text: /^a/ }, { kind: 'wrong', text: /^b: 200/ }, { text: /nobody-wrote-this/ }])
  t.end()
})

test('X5 a request without an answer may have happened or not, and what is found then stays', async (t) => {
  const server = await startInThread()
  t.teardown(() => server.stop())
  const { wire, raw } = server
  await raw('PUT', `/${LEDGER_BUCKET}`)
  const ledger = new Ledger()
  const gone = Object.assign(Object.create(wire) as typeof wire, { send: () => Promise.reject(new Error('cut off')) })
  t.equal(await ledger.put(gone, 'a', 10), 'cut off')
  t.same(await ledger.look(wire), [], 'it is not there, and may still come')
  t.same(await ledger.check(wire), [], 'it did not come')
  t.equal(await ledger.put(wire, 'a', 10), 'done')
  t.equal(await ledger.remove(gone, 'a'), 'cut off')
  t.same(await ledger.check(wire), [], 'it is still there')
  await raw('DELETE', `/${LEDGER_BUCKET}/a`)
  t.match(await ledger.check(wire), [{ kind: 'lost' }])
  t.end()
})

const GOOD: DelayedChange = {
  name: 'a PUT',
  sent: 10,
  answered: 10.36,
  looks: [
    { at: 10.2, seesChange: false },
    { at: 10.3, seesChange: false },
    { at: 10.36, seesChange: true },
  ],
  isSeenAfterwards: true,
}

const SYNCS = [9.5, 10.05, 10.4]

function found(change: Partial<DelayedChange>, syncs = SYNCS) {
  return judged([{ ...GOOD, ...change }], syncs).findings
}

test('J1 what is told and seen after the sync is right', (t) => {
  t.same(judged([GOOD], SYNCS), { looks: 2, findings: [] })
  t.end()
})

test('J1 an early answer, an early look and a change that was never watched are found', (t) => {
  t.match(found({ answered: 10.3 }), [{ kind: 'wrong', text: /answered/ }])
  t.match(found({ looks: [{ at: 10.34, seesChange: true }] }), [{ text: /1 looks saw it/ }])
  t.match(found({ isSeenAfterwards: false }), [{ text: /nobody saw it/ }])
  t.match(found({}, [9.5]), [{ text: /no sync was delayed/ }])
  t.end()
})
