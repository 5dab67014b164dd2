/** Refusals of strangers are spaced out, so that a flood of them leaves the processor to others. */
import { test } from 'tap'
import { REFUSALS_PER_SECOND, RefusalPace } from '../../planes/exchange/refusal-pace.ts'

/** A pace with a clock of its own; `pass` lets time go by. */
function paced() {
  let now = 0
  const timers: { readonly at: number; readonly turn: () => void }[] = []
  const pace = new RefusalPace(
    () => now,
    (turn) => void timers.push({ at: now + 50, turn }),
  )
  const pass = async (milliseconds: number) => {
    const end = now + milliseconds
    for (;;) {
      const [next] = timers
      if (next === undefined || next.at > end) break
      timers.shift()
      now = next.at
      next.turn()
      await Promise.resolve()
    }
    now = end
  }
  return { pace, pass, timers }
}

test('as many as one second brings are answered at once, and the others in their order', async (t) => {
  const { pace, pass, timers } = paced()
  const atOnce = Array.from({ length: REFUSALS_PER_SECOND }, () => pace.turn('a'))
  t.same(new Set(atOnce), new Set([undefined]))
  const answered: number[] = []
  for (let count = 0; count < 120; count += 1) void pace.turn('a')?.then(() => answered.push(count))
  await pass(49)
  t.equal(answered.length, 0)
  await pass(1)
  t.same(
    answered,
    Array.from({ length: 50 }, (_, index) => index),
  )
  await pass(50)
  t.equal(answered.length, 100)
  t.not(pace.turn('a'), undefined, 'nobody is answered before those who wait')
  await pass(50)
  t.equal(answered.length, 120)
  await pass(1000)
  t.equal(timers.length, 0, 'no timer runs when nobody waits')
  t.equal(pace.turn('a'), undefined)
})

test('networks take turns, so a flood of one keeps nobody else waiting', async (t) => {
  const { pace, pass } = paced()
  for (let count = 0; count < REFUSALS_PER_SECOND; count += 1) void pace.turn('flood')
  const answered: string[] = []
  const ask = (network: string) => void pace.turn(network)?.then(() => answered.push(network))
  for (let count = 0; count < 5000; count += 1) ask('flood')
  ask('modest')
  ask('other')
  ask('modest')
  await pass(50)
  t.same(answered.slice(0, 5), ['flood', 'modest', 'other', 'flood', 'modest'])
  t.equal(answered.length, 50, 'the rate is that of all together')
})

test('a flood by clients who wait for their answers gets so many a second and no more', async (t) => {
  const { pace, pass } = paced()
  let answers = 0
  const ask = async () => {
    for (;;) {
      const turn = pace.turn('a')
      if (turn !== undefined) await turn
      answers += 1
    }
  }
  for (let client = 0; client < 500; client += 1) void ask()
  await pass(0)
  const before = answers
  await pass(5000)
  t.ok(answers - before <= 5 * REFUSALS_PER_SECOND, `${answers - before} in five seconds`)
  t.ok(answers - before > 4 * REFUSALS_PER_SECOND)
})
