import { test } from 'tap'
import { UNBROKEN } from './breakage.ts'
import { emptyTally } from './findings.ts'
import { Intervals } from './intervals.ts'
import { runSeed } from './seed.ts'

function refuseToWork(): never {
  throw new Error('not today')
}

test('a seed does the same again', async (t) => {
  const directory = t.testdir()
  const intervals = new Intervals()
  t.teardown(() => intervals.restore())
  for (const seed of [3, 4]) {
    const first = await runSeed(seed, directory, intervals)
    t.same(first.findings, [])
    t.not(first.tally.crashes, emptyTally().crashes)
    t.same(await runSeed(seed, directory, intervals), first, `seed ${seed}`)
  }
})

test('what a store does wrong is found, and its directory is removed', async (t) => {
  const directory = t.testdir()
  const intervals = new Intervals()
  t.teardown(() => intervals.restore())
  const { findings } = await runSeed(1, directory, intervals, { ...UNBROKEN, wrap: refuseToWork })
  t.match(findings, [{ kind: 'lost', text: /does not open: Error: not today/ }])
  t.same(await runSeed(1, directory, intervals, { ...UNBROKEN, wrap: refuseToWork }), { tally: emptyTally(), findings })
})

test('intervals are called back when they are told to, and are the real ones again in the end', (t) => {
  const real = globalThis.setInterval
  const intervals = new Intervals()
  let called = 0
  const handle = setInterval(() => {
    called += 1
  }, 1000)
  intervals.tick()
  intervals.tick()
  clearInterval(handle)
  intervals.tick()
  t.equal(called, 2)
  intervals.restore()
  t.equal(globalThis.setInterval, real)
  t.end()
})
