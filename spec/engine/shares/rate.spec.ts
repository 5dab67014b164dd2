/** Rates and pauses that grow, by a clock of their own. */
import { test } from 'tap'
import { Backoff, backoffMilliseconds } from '../../../engine/shares/backoff.ts'
import { Rate } from '../../../engine/shares/rate.ts'

test('a rate is kept, and not saved up over a pause', async (t) => {
  let now = 0
  const rate = new Rate({ perSecond: 1000, saved: 1000, initial: 0, now: () => now })
  t.equal(rate.allowed, 0, 'nothing at first')
  now = 100
  t.equal(rate.allowed, 100)
  rate.spend(600)
  t.equal(rate.allowed, -500)
  t.equal(rate.waitMilliseconds, 501)
  now = 599
  t.ok(rate.allowed < 0, '100 allowed, 600 spent')
  now = 601
  t.equal(rate.waitMilliseconds, 0)
  now = 1_000_000
  t.equal(rate.allowed, 1000, 'at most a second of it is saved')
  t.ok(rate.isFull)
  rate.spend(1001)
  t.notOk(rate.isFull)
  rate.empty()
  t.equal(rate.allowed, 0)
})

test('a rate begins with what may be saved', async (t) => {
  const rate = new Rate({ perSecond: 1, saved: 3, now: () => 0 })
  for (let count = 0; count < 3; count += 1) {
    t.equal(rate.waitMilliseconds, 0)
    rate.spend(1)
  }
  t.equal(rate.waitMilliseconds, 1000)
})

test('pauses double, up to the longest, until a success', async (t) => {
  let now = 0
  const backoff = new Backoff({ firstMilliseconds: 2000, longestMilliseconds: 10_000, timer: () => now })
  const pause = (isLasting?: boolean) => {
    backoff.failed(isLasting)
    let waited = 0
    for (; !backoff.isDue; now += 500) waited += 500
    return waited
  }
  t.ok(backoff.isDue)
  t.same([pause(), pause(), pause(), pause(), pause()], [2000, 4000, 8000, 10_000, 10_000])
  backoff.succeeded()
  t.same([pause(), pause(true), pause()], [2000, 10_000, 8000])
  t.equal(backoff.failures, 8)
  t.equal(backoffMilliseconds(2000, 2000, 10_000), 10_000, 'whatever the number of failures')
})
