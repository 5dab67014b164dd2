/** Answers that nobody reads: all of a thread together hold a bounded number of bytes, and the most greedy gives way. */
import tap, { test } from 'tap'
import {
  type AnswerHolder,
  heldAnswers,
  holdBody,
  longBody,
  turnAfterLong,
} from '../../planes/exchange/held-answers.ts'

const MEBIBYTE = 1024 ** 2

function holder(owner: string, changed: Partial<AnswerHolder> = {}): AnswerHolder {
  return { owner, cut: () => {}, isDue: false, ...changed }
}

/** Connections of an owner that were closed, by number, and what its answers hold. */
function greedy(owner: string) {
  const cut: number[] = []
  const hold = (number: number, changed: Partial<AnswerHolder> = {}) =>
    holdBody(Buffer.alloc(MEBIBYTE), holder(owner, { cut: () => cut.push(number), ...changed }))
  return { cut, hold }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

tap.beforeEach((t) => t.equal(heldAnswers.used, 0))

test('what is short, or comes in pieces, is not counted', async (t) => {
  t.equal(longBody({ status: 200, headers: [], body: Buffer.alloc(1000) }), undefined)
  t.equal(longBody({ status: 204, headers: [] }), undefined)
  const source = { length: MEBIBYTE, next: () => undefined, close: () => {} }
  t.equal(longBody({ status: 200, headers: [], body: source }), undefined)
  t.ok(longBody({ status: 200, headers: [], body: 'x'.repeat(20_000) }))
})

test('beyond the bound an owner gets no more, until an answer is read or given up', async (t) => {
  const { hold, cut } = greedy('a')
  const count = heldAnswers.capacity / MEBIBYTE
  const bodies = Array.from({ length: count }, (_, number) => hold(number))
  t.equal(heldAnswers.used, heldAnswers.capacity)
  t.equal(hold(count), undefined)
  const [first, ...others] = bodies
  t.equal(first?.next()?.length, MEBIBYTE)
  t.equal(first?.next(), undefined)
  t.equal(hold(count), undefined, 'it is not out before it is closed')
  first?.close()
  const last = hold(count)
  t.ok(last)
  for (const body of [...others, last]) body?.close()
  await nextTurn()
  t.same(cut, [])
})

test('the oldest answers of the owner with most make room for an owner with fewer', async (t) => {
  const { hold, cut } = greedy('greedy')
  const bodies = Array.from({ length: heldAnswers.capacity / MEBIBYTE }, (_, number) => hold(number))
  const modest = holdBody('ä'.repeat(600_000), holder('modest'))
  t.equal(heldAnswers.usedBy('modest'), 1_200_000, 'a text counts its bytes')
  t.same(cut, [], 'no connection is closed while another request is answered')
  await nextTurn()
  t.same(cut, [0, 1])
  for (const body of [...bodies, modest]) body?.close()
})

test('an answer that is due is held in any case, at the cost of whoever has most', async (t) => {
  const { hold, cut } = greedy('writer')
  const bodies = Array.from({ length: heldAnswers.capacity / MEBIBYTE }, (_, number) => hold(number))
  const due = hold(100, { isDue: true })
  t.ok(due)
  t.equal(heldAnswers.used, heldAnswers.capacity, 'and no more is held than may be')
  await nextTurn()
  t.same(cut, [0])
  for (const body of [...bodies, due]) body?.close()
})

test('one answer alone may be longer than the bound', async (t) => {
  const body = holdBody(Buffer.alloc(heldAnswers.capacity + 1), holder('a'))
  t.ok(body)
  t.equal(holdBody(Buffer.alloc(MEBIBYTE), holder('a')), undefined)
  body?.close()
})

test('requests of an owner that arrive together for long answers are carried out in turns, and others are not', async (t) => {
  const { hold } = greedy('greedy')
  const bodies = [hold(0)]
  t.equal(turnAfterLong('greedy'), undefined, 'after one long answer the next is not held back')
  bodies.push(hold(1))
  const order: string[] = []
  const turns = [0, 1].map((number) => turnAfterLong('greedy')?.then(() => void order.push(`turn ${number}`)))
  t.notOk(turns.includes(undefined))
  t.equal(turnAfterLong('modest'), undefined)
  setImmediate(() => void order.push('another request'))
  await Promise.all(turns)
  t.same(order, ['turn 0', 'another request', 'turn 1'], 'the event loop runs between two of them')
  t.equal(turnAfterLong('greedy'), undefined, 'each turn of the event loop counts anew')
  for (const body of bodies) body?.close()
})
