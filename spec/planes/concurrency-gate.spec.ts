/**
 * Who gets in, who waits and who is refused, in one thread and in several.
 * Proves: LIM-VAL-17, LIM-VAL-18, LIM-VAL-19.
 */
import { test } from 'tap'
import { ConcurrencyGate, type ConcurrencyLimits } from '../../planes/http/limits/concurrency-gate.ts'
import { createSharedGate, forgetThread } from '../../planes/http/limits/gate-memory.ts'

const LIMITS: ConcurrencyLimits = { operationsMaximum: 2, queueMaximum: 2, waitMillisecondsMaximum: 20 }

/** A gate and what one account asks of it. */
function gateOf(limits: Partial<ConcurrencyLimits>, shared = createSharedGate(1), thread = 0) {
  const gate = new ConcurrencyGate({ ...LIMITS, ...limits }, shared, thread)
  const of = (account: string) => {
    const entry = gate.entryOf(account, account === 'root')
    return { enter: () => gate.enter(entry), leave: () => gate.leave(entry) }
  }
  return { gate, of, ...of('somebody') }
}

test('some run, some wait, the rest are refused', async (t) => {
  const { gate, enter, leave } = gateOf({})
  t.equal(enter(), 'entered')
  t.equal(enter(), 'entered')
  const order: string[] = []
  const third = Promise.resolve(enter()).then((entered) => order.push(`third ${entered}`))
  const fourth = Promise.resolve(enter()).then((entered) => order.push(`fourth ${entered}`))
  t.equal(enter(), 'rejected', 'beyond the queue')
  t.strictSame([gate.active, gate.queued, gate.rejected], [2, 2, 1])
  leave()
  await third
  t.strictSame([gate.active, gate.queued, gate.rejected], [2, 1, 1], 'the place went to the first in line')
  await fourth
  t.strictSame(order, ['third true', 'fourth false'], 'the second waited in vain')
  t.strictSame([gate.active, gate.queued, gate.rejected], [2, 0, 2])
  leave()
  leave()
  t.throws(() => leave(), /had not entered/)
  t.equal(gate.active, 0)
  t.equal(enter(), 'entered', 'places come back')
})

test('a queue of 0 refuses at once', async (t) => {
  const { enter } = gateOf({ operationsMaximum: 1, queueMaximum: 0 })
  t.strictSame([enter(), enter()], ['entered', 'rejected'])
})

test('an account has its share, others the rest, administrators what is kept for them', async (t) => {
  const { gate, of } = gateOf({
    operationsMaximum: 32,
    queueMaximum: 4,
    accountPercent: 50,
    waitMillisecondsMaximum: 1e4,
  })
  const [greedy, other, root] = [of('greedy'), of('other'), of('root')]
  const got = (who: typeof root, count: number) => Array.from({ length: count }, () => who.enter())
  t.strictSame(got(greedy, 15), Array(15).fill('entered'))
  const waiting = got(greedy, 2)
  t.ok(
    waiting.every((entered) => entered instanceof Promise),
    'beyond its share it waits',
  )
  t.equal(greedy.enter(), 'rejected', 'beyond its share of the queue it is refused')
  t.strictSame(got(other, 15), Array(15).fill('entered'), 'nobody else is')
  t.ok(other.enter() instanceof Promise)
  t.strictSame(got(root, 2), Array(2).fill('entered'), 'two places are kept')
  t.equal(gate.active, 32)
  t.ok(root.enter() instanceof Promise)
  other.leave()
  t.strictSame([gate.active, gate.queued], [32, 3], 'root has the place that was left')
  for (const _ of Array(3)) root.leave()
  t.strictSame([gate.active, gate.queued], [30, 2], 'then the other, and not who has its share')
  greedy.leave()
  t.equal(await waiting[0], true, 'that one waits for its own')
})

test('accounts that wait get their turns one after the other', async (t) => {
  const { of } = gateOf({ operationsMaximum: 1, queueMaximum: 10, waitMillisecondsMaximum: 1e4 })
  const order: string[] = []
  const wait = (account: string) => {
    const { enter, leave } = of(account)
    return Promise.resolve(enter()).then(() => {
      order.push(account)
      leave()
    })
  }
  const first = of('first')
  t.equal(first.enter(), 'entered')
  const done = [...Array.from({ length: 4 }, () => wait('many')), wait('one'), wait('other')]
  first.leave()
  await Promise.all(done)
  t.strictSame(order, ['many', 'one', 'other', 'many', 'many', 'many'])
})

test('threads share one limit, one queue and the shares', async (t) => {
  const shared = createSharedGate(2)
  const limits = { operationsMaximum: 4, queueMaximum: 3, accountPercent: 50, waitMillisecondsMaximum: 1e4 }
  const [left, right] = [gateOf(limits, shared, 0), gateOf(limits, shared, 1)]
  t.strictSame([left.of('a').enter(), right.of('a').enter()], ['entered', 'entered'])
  const third = right.of('a').enter()
  t.ok(third instanceof Promise, 'the share is that of both')
  t.strictSame([left.of('b').enter(), right.of('c').enter()], ['entered', 'entered'])
  const fifth = right.of('d').enter()
  t.ok(fifth instanceof Promise, 'the limit is that of both')
  const sixth = left.of('e').enter()
  t.equal(left.of('f').enter(), 'rejected', 'so is the queue')
  t.ok(left.gate.isCrowded && right.gate.isCrowded)
  left.of('a').leave()
  left.of('b').leave()
  right.of('c').leave()
  t.strictSame(await Promise.all([third, fifth, sixth]), [true, true, true], 'a place goes to whatever thread waits')
  t.strictSame([left.gate.queued, right.gate.queued], [0, 0])
  t.equal(left.gate.active + right.gate.active, 4)
})

test('a thread that ends takes nothing with it', async (t) => {
  const shared = createSharedGate(2)
  const limits = { operationsMaximum: 2, queueMaximum: 2, accountPercent: 50, waitMillisecondsMaximum: 1e4 }
  const [dying, other] = [gateOf(limits, shared, 0), gateOf(limits, shared, 1)]
  t.strictSame([dying.of('a').enter(), dying.of('b').enter()], ['entered', 'entered'])
  const waits = [other.of('a').enter(), other.of('b').enter()]
  t.ok(dying.enter() === 'rejected')
  forgetThread(shared, 0)
  t.strictSame(await Promise.all(waits), [true, true])
  t.strictSame([other.gate.active, other.gate.queued], [2, 0])
  other.of('a').leave()
  t.equal(other.of('a').enter(), 'entered', 'its accounts have their shares back')
})

test('a small body on its way counts as an operation that runs, and keeps nobody from a place', async (t) => {
  const { gate, enter } = gateOf({ operationsMaximum: 2 })
  const bodies = [1, 2, 3].map(() => gate.expectBody('slow', 100))
  t.strictSame([gate.active, gate.isCrowded], [3, false])
  t.equal(enter(), 'entered')
  t.equal(gate.active, 4)
  for (const body of bodies) body?.leave()
  t.equal(gate.active, 1)
})
