/** Counters of rows: exact up to 2^63, with whole numbers of any size as the judge, and never a reason to fail. */
import * as fc from 'fast-check'
import { test } from 'tap'
import { Tally } from '../../projections/tables/tally.ts'

const FIELDS = ['first', 'second'] as const
const LIMITS = [0, 2 ** 32, 2 ** 52, 2 ** 53 - 1]
/** Near every limit of a number. */
const difference = fc
  .tuple(fc.constantFrom(...LIMITS), fc.integer({ min: -3, max: 3 }), fc.boolean())
  .map(([limit, near, isLess]) => Math.min(limit + near, Number.MAX_SAFE_INTEGER) * (isLess ? -1 : 1))
const steps = fc.array(fc.tuple(fc.constantFrom(...FIELDS), difference, fc.boolean()), { maxLength: 60 })

test('what is added to counters is their exact sum, however far it leads, and through any row', (t) => {
  let wide = 0
  fc.assert(
    fc.property(steps, (some) => {
      let tally = new Tally(FIELDS, undefined)
      const sums = { first: 0n, second: 0n }
      for (const [field, added, isWritten] of some) {
        tally.add(field, added)
        sums[field] += BigInt(added)
        if (isWritten) tally = new Tally(FIELDS, tally.encode())
        for (const name of FIELDS) {
          const sum = sums[name]
          if (tally.exactly(name) !== sum) throw new Error(`${name}: ${tally.exactly(name)} is not ${sum}`)
          if (tally.counts[name] !== Number(sum)) throw new Error(`${name}: not the nearest number to ${sum}`)
          if (!Number.isSafeInteger(Number(sum))) wide += 1
        }
        if (tally.isWrong !== FIELDS.some((name) => sums[name] < 0n)) throw new Error('wrong or not?')
      }
    }),
    { numRuns: 500 },
  )
  t.ok(wide > 500, `${wide} sums were beyond 2^53`)
  t.end()
})

test('a counter of a row is 8 bytes in two-complement; what was counted and does not fit is the greatest', (t) => {
  const tally = new Tally(FIELDS, undefined)
  t.equal(tally.encode().toString('hex'), '0'.repeat(32))
  tally.add('first', 2 ** 52 + 5)
  tally.add('second', -1)
  t.equal(tally.encode().toString('hex'), '0010000000000005ffffffffffffffff')
  tally.recount('first', 2n ** 70n)
  t.equal(tally.exactly('first'), 2n ** 63n - 1n)
  for (const sum of [1, -5, 2 ** 53]) {
    tally.add('first', sum)
    t.equal(new Tally(FIELDS, tally.encode()).exactly('first'), -(2n ** 63n), 'what has passed it stays marked')
  }
  tally.raise('second', 7)
  tally.raise('second', 5)
  t.equal(tally.counts.second, 7)
  t.end()
})
