/** The rules that every request of a soak is held to, each broken once. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Test, test } from 'tap'
import { Random } from '../../support/random.ts'
import type { ProcessServer } from '../../support/server-process.ts'
import { type Answered, Life, NoAnswerError } from './life.ts'
import { Tally } from './tally.ts'

const KIND = 'GetObject'
const ok: Answered = { status: 200, code: undefined, text: '' }
const slowDown: Answered = { status: 503, code: 'SlowDown', text: '<Code>SlowDown</Code>' }
const unavailable: Answered = { status: 503, code: 'ServiceUnavailable', text: '<Code>ServiceUnavailable</Code>' }

/** A life without a server: what is sent is made up. */
function lifeOf() {
  const said: string[] = []
  const tally = new Tally((line) => said.push(line))
  const life = new Life(1, {} as unknown as ProcessServer, tally, new Random(1))
  return { life, tally, said }
}

type Case = ReturnType<typeof lifeOf>

const ask = ({ life }: Case, ...answers: readonly (Answered | Error)[]) => {
  const left = [...answers]
  return life.ask(KIND, async () => {
    const answer = left.shift() ?? ok
    if (answer instanceof Error) throw answer
    return answer
  })
}

/** The request has no answer, and that is, or is not, an error. */
async function unanswered(t: Test, one: Case, answer: Answered | Error, errors: number): Promise<void> {
  await t.rejects(ask(one, answer), NoAnswerError)
  t.equal(one.tally.found.error, errors, one.said.join())
  t.equal(one.tally.sum('cut'), 1 - errors)
  t.equal(one.life.inFlight, 0)
}

test('SlowDown is answered by asking again', async (t) => {
  const one = lifeOf()
  t.equal(await ask(one, slowDown, slowDown), ok)
  t.equal(one.tally.sum('slowDowns'), 2)
  t.equal(one.tally.sum('answered'), 1)
  t.equal(one.tally.found.error, 0)
})

test('while the server runs every request is answered, and with no failure of the server', async (t) => {
  await unanswered(t, lifeOf(), new Error('socket hang up'), 1)
  await unanswered(t, lifeOf(), { ...ok, complete: false }, 1)
  await unanswered(t, lifeOf(), unavailable, 1)
  const one = lifeOf()
  await ask(one, { status: 500, code: 'InternalError', text: 'why' })
  t.match(one.said, [/500 why/])
  const other = lifeOf()
  await ask(other, { status: 501, code: 'NotImplemented', text: '' })
  t.equal(other.tally.found.error, 0, 'a refusal by name is an answer')
})

test('a kill cuts, an orderly end answers what it has read', async (t) => {
  const killed = lifeOf()
  killed.life.begunToEnd('kill')
  await unanswered(t, killed, new Error('read ECONNRESET'), 0)
  const ended = lifeOf()
  ended.life.begunToEnd('graceful')
  await unanswered(t, ended, new Error('connect ECONNREFUSED'), 0)
  const saidSo = lifeOf()
  saidSo.life.begunToEnd('graceful')
  await unanswered(t, saidSo, unavailable, 0)
  const forgotten = lifeOf()
  const waiting = forgotten.life.ask(KIND, async () => {
    await sleep(1200)
    forgotten.life.begunToEnd('graceful')
    throw new Error('socket hang up')
  })
  await t.rejects(waiting, NoAnswerError)
  t.match(forgotten.said, [/before the orderly end and not answered/])
})

test('a pause holds requests back, but for those that go through', async (t) => {
  const one = lifeOf()
  one.life.pause()
  let isDone = false
  const held = ask(one).then(() => {
    isDone = true
  })
  t.equal(await one.life.ask(KIND, async () => ok, true), ok)
  t.notOk(isDone)
  one.life.resume()
  await held
  t.ok(isDone)
})
