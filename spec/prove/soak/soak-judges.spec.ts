/** What judges a soak: kinds of requests, growth, and counts. Each is shown to find what it is there to find. */
import { test } from 'tap'
import { growthOf, type LifeGauges, levelOf, median, type Reading, slopeOf } from './growth.ts'
import { EVENTS, REQUIRED_KINDS, s3KindOf } from './soak-kinds.ts'
import { clientGrowth, resultOf } from './soak-report.ts'
import { Tally, tableOf } from './tally.ts'

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
  return { number, seconds: 300, requests: 0, anonymous, residentMaximum: 0, descriptorsMaximum: 0, descriptorsQuiet }
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

test('one finding fails the run, and the table tells of what was tried', async (t) => {
  const said: string[] = []
  const tally = new Tally((line) => said.push(line))
  for (let count = 1; count <= 100; count += 1) tally.answered('PutObject', count)
  tally.cut('PutObject')
  tally.slowDown('PutObject')
  tally.happened(EVENTS.kill)
  t.ok(tally.has('PutObject') && tally.has(EVENTS.kill) && !tally.has('GetObject'))
  t.match(resultOf(1, tally, 3), {
    passed: true,
    summary: /^1 minute, 100 requests, 3 restarts, 0 errors, 0 lost, no gr/,
  })
  const [row] = tally.rows()
  t.match(row, { answered: 100, cut: 1, slowDowns: 1, longestMilliseconds: 100 })
  t.ok(Math.abs((row?.medianMilliseconds ?? 0) - 50) < 6)
  t.match(tableOf(tally.rows()), [/^kind +answered/, /^PutObject +100 +1 +1 /])
  for (let count = 0; count < 100; count += 1) tally.finding('lost', 'a key')
  t.match(resultOf(2, tally, 3), { passed: false, summary: /100 lost/ })
  t.equal(said.length, 41)
})
