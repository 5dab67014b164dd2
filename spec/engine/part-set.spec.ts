import * as fc from 'fast-check'
import { test } from 'tap'
import { PART_NUMBER_MAXIMUM, PartSet, partNumbers } from '../../engine/domain/part-set.ts'
import { partBits } from '../support/commands.ts'

const number = fc.oneof(
  fc.integer({ min: 1, max: PART_NUMBER_MAXIMUM }),
  fc.integer({ min: 1, max: 40 }),
  fc.integer({ min: PART_NUMBER_MAXIMUM - 20, max: PART_NUMBER_MAXIMUM }),
)

test('a set gives its numbers back, ascending, and equal sets are equal bytes', async (t) => {
  fc.assert(
    fc.property(fc.array(number), (numbers) => {
      const bits = partBits(numbers)
      const expected = [...new Set(numbers)].toSorted((left, right) => left - right)
      if ([...partNumbers(bits)].join() !== expected.join()) throw new Error(bits.toString('hex'))
      if (!bits.equals(partBits(expected.toReversed()))) throw new Error('the order of adding tells')
      if (bits.length > 0 && bits.at(-1) === 0) throw new Error('a zero at the end')
    }),
    { numRuns: 500 },
  )
  t.same([...partNumbers(new PartSet().bytes)], [])
})

test('no set of part numbers takes more than 1,251 bytes', async (t) => {
  const all = Array.from({ length: PART_NUMBER_MAXIMUM }, (_, index) => index + 1)
  t.equal(partBits(all).length, 1251)
  t.equal(partBits([PART_NUMBER_MAXIMUM]).length, 1251)
  t.equal(partBits(all.filter((part) => part % 2 === 1)).length, 1250)
  t.equal([...partNumbers(partBits(all))].length, PART_NUMBER_MAXIMUM)
})

test('what a set was is not changed by numbers that are added later', async (t) => {
  const set = new PartSet()
  set.add(3)
  const before = Buffer.from(set.bytes)
  set.add(9000)
  t.same([...partNumbers(before)], [3])
  t.same([...partNumbers(set.bytes)], [3, 9000])
})
