import { test } from 'tap'
import { Random } from '../../support/random.ts'
import { shareOfCases } from './share-of-cases.ts'

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
