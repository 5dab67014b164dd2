import { test } from 'tap'
import { Random } from './random.ts'
import { everyNth, runsOf, shareOfCases, strideOf } from './share-of-cases.ts'

const CASES = Array.from({ length: 40 }, (_, row) =>
  Array.from({ length: 25 }, (_each, column) => ({ row: `row ${row}`, column: `column ${column}` })),
).flat()
const kindsOf = ({ row, column }: (typeof CASES)[number]) => [row, column]

test('a share has every kind, the same from the same seed, and others from another', (t) => {
  for (const seed of [1, 2, 3]) {
    const share = shareOfCases(CASES, 1 / 8, new Random(seed), kindsOf)
    t.equal(new Set(share.flatMap(kindsOf)).size, 65, 'each row and each column')
    t.ok(share.length > 80 && share.length < 250, `${share.length} of 1000`)
    t.same(shareOfCases(CASES, 1 / 8, new Random(seed), kindsOf), share)
    t.same(
      share,
      CASES.filter((one) => share.includes(one)),
      'in their order',
    )
    t.notSame(shareOfCases(CASES, 1 / 8, new Random(seed + 1), kindsOf), share)
  }
  t.equal(new Set(shareOfCases(CASES, 0, new Random(1), kindsOf).flatMap(kindsOf)).size, 65, 'whatever the share is')
  t.end()
})

test('the whole is the whole, and takes nothing from chance', (t) => {
  const random = new Random(1)
  t.equal(shareOfCases(CASES, 1, random, kindsOf), CASES)
  t.equal(random.below(1000), new Random(1).below(1000))
  t.end()
})

test('every nth case, the last one, and the first of every kind; all of them when a run is full', (t) => {
  const numbers = Array.from({ length: 20 }, (_, index) => index)
  t.same(everyNth(numbers, 7, undefined, false), [0, 7, 14, 19])
  t.same(
    everyNth(numbers, 7, (one) => [one === 9 ? 'odd' : 'plain', one < 15], false),
    [0, 7, 9, 14, 15, 19],
  )
  t.same(everyNth([], 7, undefined, false), [])
  t.equal(everyNth(numbers, 7, undefined, true), numbers)
  t.same([strideOf(7, false), strideOf(7, true), runsOf(12, 3, false), runsOf(12, 3, true)], [7, 1, 3, 12])
  t.end()
})
