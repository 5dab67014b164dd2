/** A life of the soak at small size, and its judges. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Test, test } from 'tap'
import { Random } from '../../support/random.ts'
import type { ProcessServer } from '../../support/server-process.ts'
import { clientGrowth, growthOf, levelOf, type LifeGauges, median, type Reading, slopeOf } from './growth.ts'
import { type Answered, Life, NoAnswerError } from './life.ts'
import { EVENTS, REQUIRED_KINDS, s3KindOf } from './soak-kinds.ts'
import { resultOf } from './soak.ts'
import { Tally } from './tally.ts'

const KIND = 'GetObject'
const ok: Answered = { status: 200, code: undefined, text: '' }
const slowDown: Answered = { status: 503, code: 'SlowDown', text: '<Code>SlowDown</Code>' }
const unavailable: Answered = { status: 503, code: 'ServiceUnavailable', text: '<Code>ServiceUnavailable</Code>' }

/** A life without a server: what is sent is made up. */
function quietLife() {
  const said: string[] = []
  const tally = new Tally((line) => said.push(line))
  const life = new Life(1, {} as unknown as ProcessServer, tally, new Random(1))
  return { life, tally, said }
}

type Case = ReturnType<typeof quietLife>

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
  const one = quietLife()
  t.equal(await ask(one, slowDown, slowDown), ok)
  t.equal(one.tally.sum('slowDowns'), 2)
  t.equal(one.tally.sum('answered'), 1)
  t.equal(one.tally.found.error, 0)
})

test('while the server runs every request is answered, and with no failure of the server', async (t) => {
  await unanswered(t, quietLife(), new Error('socket hang up'), 1)
  await unanswered(t, quietLife(), { ...ok, complete: false }, 1)
  await unanswered(t, quietLife(), unavailable, 1)
  const one = quietLife()
  await ask(one, { status: 500, code: 'InternalError', text: 'why' })
  t.match(one.said, [/500 why/])
  const other = quietLife()
  await ask(other, { status: 501, code: 'NotImplemented', text: '' })
  t.equal(other.tally.found.error, 0, 'a refusal by name is an answer')
})

test('a kill cuts, an orderly end answers what it has read', async (t) => {
  const killed = quietLife()
  killed.life.begunToEnd('kill')
  await unanswered(t, killed, new Error('read ECONNRESET'), 0)
  const ended = quietLife()
  ended.life.begunToEnd('graceful')
  await unanswered(t, ended, new Error('connect ECONNREFUSED'), 0)
  const saidSo = quietLife()
  saidSo.life.begunToEnd('graceful')
  await unanswered(t, saidSo, unavailable, 0)
  const forgotten = quietLife()
  const waiting = forgotten.life.ask(KIND, async () => {
    await sleep(1200)
    forgotten.life.begunToEnd('graceful')
    throw new Error('socket hang up')
  })
  await t.rejects(waiting, NoAnswerError)
  t.match(forgotten.said, [/before the orderly end and not answered/])
})

test('a pause holds requests back, but for those that go through', async (t) => {
  const one = quietLife()
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

const REQUESTS: readonly (readonly [Parameters<typeof s3KindOf>, string])[] = [
  [['PUT', '/bucket/key', { body: 'abc' }], 'PutObject'],
  [['PUT', '/bucket/key', { body: Buffer.alloc(65_537) }], 'PutObject large'],
  [['PUT', '/bucket/key', { headers: [['x-amz-copy-source', '/bucket/other']] }], 'CopyObject'],
  [['PUT', '/bucket', {}], 'CreateBucket'],
  [['GET', '/', {}], 'ListBuckets'],
  [['GET', '/bucket?list-type=2&prefix=a', {}], 'ListObjectsV2'],
  [['GET', '/bucket?versions&prefix=a', {}], 'ListObjectVersions'],
  [['GET', '/bucket/a/b', { headers: [['range', 'bytes=0-1']] }], 'GetObject range'],
  [['GET', '/bucket/a/b?versionId=1', {}], 'GetObject version'],
  [['GET', '/bucket/key?uploadId=1', {}], 'ListParts'],
  [['PUT', '/bucket/key?partNumber=1&uploadId=1', {}], 'UploadPart'],
  [['PUT', '/bucket/key?versionId=1&legal-hold', {}], 'PutObjectLegalHold'],
  [['POST', '/bucket?delete', {}], 'DeleteObjects'],
  [['DELETE', '/bucket/key?versionId=1', {}], 'DeleteObject version'],
]

test('a request is counted under the name of its operation', async (t) => {
  for (const [request, kind] of REQUESTS) {
    t.equal(s3KindOf(...request), kind)
    t.ok(REQUIRED_KINDS.includes(kind), `${kind} must be tried`)
  }
})

/** A life of five minutes whose memory is what a function of the second says. */
function lifeOf(number: number, memory: (second: number) => number, descriptorsQuiet = 40): LifeGauges {
  const anonymous = Array.from({ length: 300 }, (_, second): Reading => [second, memory(second)])
  return { number, seconds: 300, requests: 0, anonymous, descriptorsQuiet }
}

const livesOf = (count: number, make: (number: number) => LifeGauges) =>
  Array.from({ length: count }, (_, index) => make(index + 1))

/** A heap as a collector leaves it: up and down, and up once while it is warmed up. */
const sawtooth = (second: number) => 200 - 100 / (1 + second) + 40 * ((second % 7) / 7)

test('the median and the slope do not mind what is out of line', async (t) => {
  t.equal(median([5, 1, 3]), 3)
  t.equal(median([4, 1, 2, 100]), 3)
  t.ok(Number.isNaN(median([])))
  t.equal(
    slopeOf([
      [0, 0],
      [1, 2],
      [2, 4],
      [3, 500],
      [4, 8],
    ]),
    2,
  )
  t.equal(levelOf(lifeOf(1, (second) => (second < 30 ? 500 : 100))), 100)
  t.ok(Number.isNaN(levelOf({ ...lifeOf(1, () => 100), anonymous: [[1, 100]] })), 'a short life says nothing')
})

test('growth is found, and a heap that goes up and down is none', async (t) => {
  t.same(growthOf(livesOf(10, (number) => lifeOf(number, sawtooth))), [])
  const leaking = livesOf(10, (number) => lifeOf(number, (second) => sawtooth(second) + second * 0.6))
  t.match(growthOf(leaking), [/MiB a minute within a life/])
  const climbing = livesOf(10, (number) => lifeOf(number, (second) => sawtooth(second) + number * 15))
  t.match(growthOf(climbing), [/from the first life to the last/])
  t.match(growthOf([lifeOf(7, () => 2000)]), [/life 7 held 2000 MiB/])
  t.match(growthOf(livesOf(10, (number) => lifeOf(number, sawtooth, 40 + 5 * number))), [/more descriptors/])
  t.same(clientGrowth([300, 320, 290]), [])
  t.match(clientGrowth([300, 600, 900]), [/grew by 600 MiB/])
})

test('one finding fails the run, and the lines say what was tried', async (t) => {
  const said: string[] = []
  const tally = new Tally((line) => said.push(line))
  for (let count = 1; count <= 100; count += 1) tally.answered('PutObject', count)
  tally.cut('PutObject')
  tally.slowDown('PutObject')
  tally.happened(EVENTS.kill)
  t.ok(tally.has('PutObject') && tally.has(EVENTS.kill) && !tally.has('GetObject'))
  t.match(resultOf(60, tally, 3), {
    passed: true,
    summary: /^60 seconds, 100 requests, 3 restarts, 0 errors, 0 lost, no gr/,
  })
  t.same(tally.lines(), ['PutObject: 100 answered, 1 cut, 1 SlowDown, 100 ms at most'])
  for (let count = 0; count < 100; count += 1) tally.finding('lost', 'a key')
  t.match(resultOf(120, tally, 3), { passed: false, summary: /100 lost/ })
  t.equal(said.length, 41)
})
