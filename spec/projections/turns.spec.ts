/** Turns of long work: who gets them, counted and not timed. */
import { test } from 'tap'
import { TurnOrder } from '../../projections/audit/turns.ts'

/** Takes turns without end. */
async function takeTurns(order: TurnOrder, owner: string, taken: string[], most: number): Promise<void> {
  const turns = order.of(owner)
  while (taken.length < most) {
    await turns.next()
    taken.push(owner)
  }
}

test('turns are given one by one, and the event loop goes round between them', async (t) => {
  const order = new TurnOrder()
  let rounds = 0
  let watching = true
  const watch = (): void => {
    rounds += 1
    if (watching) setImmediate(watch)
  }
  setImmediate(watch)
  const taken: (readonly [name: string, round: number])[] = []
  const work = async (name: string) => {
    const turns = order.of('owner')
    for (let turn = 0; turn < 3; turn += 1) {
      await turns.next()
      taken.push([name, rounds])
    }
  }
  await Promise.all([work('a'), work('b')])
  watching = false
  t.same(
    taken.map(([name]) => name),
    ['a', 'b', 'a', 'b', 'a', 'b'],
  )
  t.equal(new Set(taken.map(([, round]) => round)).size, taken.length, 'each in a round of its own')
})

test('beside an owner with 80 callers that wait, a modest one gets every second turn', async (t) => {
  const order = new TurnOrder()
  const taken: string[] = []
  const greedy = Array.from({ length: 80 }, () => takeTurns(order, 'greedy', taken, 200))
  await Promise.all([...greedy, takeTurns(order, 'modest', taken, 200)])
  const first = taken.slice(0, 200)
  t.same(
    first,
    first.map((_, at) => (at % 2 === 0 ? 'greedy' : 'modest')),
  )
})

test('owners that come later wait for one turn of each other owner', async (t) => {
  const order = new TurnOrder()
  const taken: string[] = []
  const all = ['a', 'a', 'a', 'b', 'b', 'c'].map((owner) => takeTurns(order, owner, taken, 60))
  await Promise.all(all)
  for (let at = 0; at < 60; at += 3) t.same(taken.slice(at, at + 3), ['a', 'b', 'c'])
})
