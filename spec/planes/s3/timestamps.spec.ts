import * as fc from 'fast-check'
import { test } from 'tap'
import { isoMilliseconds, isoTimestamp } from '../../../planes/s3/timestamps.ts'

/** The first and the last moment that the platform knows (ECMA-262, time values). */
const LIMIT = 8.64e15
const DAY = 86_400_000

test('times are written as the platform writes them', async (t) => {
  const moments = [0, 1, -1, DAY - 1, DAY, -DAY, Date.UTC(9999, 11, 31, 23, 59, 59, 999), Date.UTC(10_000, 0), LIMIT]
  for (const moment of moments) t.equal(isoMilliseconds(moment), new Date(moment).toISOString())
  fc.assert(
    fc.property(fc.integer({ min: -LIMIT, max: LIMIT }), (moment) => {
      return isoMilliseconds(moment) === new Date(moment).toISOString()
    }),
  )
})

test('times of one day and of the next, one after the other', async () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 3 * DAY })), (moments) => {
      return moments.every((moment) => isoTimestamp(moment * 1000 + 999) === new Date(moment).toISOString())
    }),
  )
})

test('a time that the platform does not know', async (t) => {
  for (const moment of [LIMIT + DAY, Number.NaN]) t.throws(() => isoMilliseconds(moment), RangeError)
  t.equal(isoMilliseconds(5), '1970-01-01T00:00:00.005Z')
})
