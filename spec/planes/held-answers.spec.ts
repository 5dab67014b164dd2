/** Answers that nobody reads: all of a thread together hold a bounded number of bytes. */
import tap, { test } from 'tap'
import { HELD_BYTES_MAXIMUM, heldAnswers } from '../../planes/exchange/held-answers.ts'
import { isSource, type BodySource, type HttpResponse } from '../../planes/http/exchange.ts'

const MEBIBYTE = 1024 ** 2

function answer(bytes: number): HttpResponse {
  return { status: 200, headers: [], body: Buffer.alloc(bytes) }
}

function held(response: HttpResponse): BodySource {
  const { body } = heldAnswers.hold(response)
  if (!isSource(body)) throw new Error('the answer is not counted')
  return body
}

tap.beforeEach((t) => t.equal(heldAnswers.bytes, 0))

test('beyond the bound there is no room for more, until one is read or given up', async (t) => {
  const bodies: BodySource[] = []
  while (heldAnswers.hasRoomFor(answer(MEBIBYTE))) bodies.push(held(answer(MEBIBYTE)))
  t.equal(heldAnswers.bytes, HELD_BYTES_MAXIMUM)
  t.equal(bodies.length, HELD_BYTES_MAXIMUM / MEBIBYTE)
  t.ok(heldAnswers.hasRoomFor(answer(1000)), 'a small answer always has room')
  t.ok(heldAnswers.hasRoomFor({ status: 204, headers: [] }))
  const [first, ...others] = bodies
  t.equal((await first?.next())?.length, MEBIBYTE)
  t.equal(await first?.next(), undefined)
  t.notOk(heldAnswers.hasRoomFor(answer(MEBIBYTE)), 'it is not out before it is closed')
  first?.close()
  t.ok(heldAnswers.hasRoomFor(answer(MEBIBYTE)))
  for (const body of others) body.close()
})

test('one answer alone may be longer than the bound, and a text counts its bytes', async (t) => {
  t.ok(heldAnswers.hasRoomFor(answer(HELD_BYTES_MAXIMUM + 1)))
  const body = held({ status: 200, headers: [], body: 'ä'.repeat(20_000) })
  t.equal(heldAnswers.bytes, 40_000)
  t.notOk(heldAnswers.hasRoomFor(answer(HELD_BYTES_MAXIMUM)))
  body.close()
})
