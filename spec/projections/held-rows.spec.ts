import { randomBytes, randomInt } from 'node:crypto'
import { test } from 'tap'
import { HeldRows } from '../../projections/apply/held-rows.ts'

/** What is held, in the order of the keys, in hexadecimal; without a value where a row is to be removed. */
function dump(held: HeldRows): (readonly [string, string | undefined])[] {
  return Array.from(held.sorted(), (row) => [held.key(row).toString('hex'), held.value(row)?.toString('hex')] as const)
}

function inOrder(rows: ReadonlyMap<string, string | undefined>): (readonly [string, string | undefined])[] {
  return [...rows].sort(([left], [right]) => Buffer.compare(Buffer.from(left, 'hex'), Buffer.from(right, 'hex')))
}

/** Keys that share beginnings of many lengths, are beginnings of each other, and are alike in any four bytes. */
const KEYS: readonly (readonly [string, () => Buffer])[] = [
  ['of random bytes', () => randomBytes(randomInt(1, 12))],
  ['of few letters', () => Buffer.from(Array.from({ length: randomInt(1, 9) }, () => 'ab\0'[randomInt(3)]).join(''))],
  ['with a long beginning', () => Buffer.from(`${'folder/'.repeat(randomInt(20, 23))}${randomInt(500)}`)],
  ['of two numbers', () => Buffer.from(`${'x'.repeat(8)}${String(randomInt(20)).padStart(4, '0')}/${randomInt(500)}`)],
]

for (const [name, keyOf] of KEYS) {
  test(`held rows with keys ${name} are found and sorted as a map has them`, async (t) => {
    const held = new HeldRows()
    for (let round = 0; round < 3; round += 1) {
      const expected = new Map<string, string | undefined>()
      for (let step = 0; step < 3000; step += 1) {
        const key = keyOf()
        const value = randomInt(4) === 0 ? undefined : randomBytes(randomInt(0, 300))
        held.put(key, value)
        expected.set(key.toString('hex'), value?.toString('hex'))
        const other = keyOf()
        const row = held.find(other)
        const found = row === undefined ? 'none' : (held.value(row)?.toString('hex') ?? 'removed')
        const hex = other.toString('hex')
        if (found !== (expected.has(hex) ? (expected.get(hex) ?? 'removed') : 'none')) t.fail(`key ${hex}: ${found}`)
      }
      t.same(dump(held), inOrder(expected))
      t.equal(held.count, expected.size)
      held.clear()
      t.match(held, { count: 0, bytes: 0 })
      t.same(dump(held), [])
    }
  })
}

test('held rows in ascending order, and one key alone, stay as they are', async (t) => {
  const held = new HeldRows()
  held.put(Buffer.from('only'), Buffer.from('value'))
  t.same(dump(held), [[Buffer.from('only').toString('hex'), Buffer.from('value').toString('hex')]])
  for (let row = 1000; row < 1500; row += 1) held.put(Buffer.from(`row ${row}`), Buffer.alloc(0))
  t.same(
    Array.from(held.sorted(), (row) => held.key(row).toString()),
    ['only', ...Array.from({ length: 500 }, (_, row) => `row ${row + 1000}`)],
  )
  t.equal(held.value(held.find(Buffer.from('row 1499')) as number)?.length, 0, 'no bytes are not a removal')
})

test('a value that is replaced by shorter, longer or no bytes is the last one that was put', async (t) => {
  const held = new HeldRows()
  const key = Buffer.from('key')
  for (const value of [
    Buffer.from('some bytes'),
    Buffer.from('few'),
    undefined,
    Buffer.from('more bytes than before'),
  ]) {
    held.put(key, value)
    t.same(held.value(held.find(key) as number), value)
  }
  t.equal(held.count, 1)
})

test('rows of many pages, values longer than a page and empty ones, before and after the memory is used again', (t) => {
  const rows = new HeldRows()
  for (const round of [1, 2, 3]) {
    const expected = new Map<string, Buffer | undefined>()
    const put = (key: string, value: Buffer | undefined) => {
      rows.put(Buffer.from(key), value)
      expected.set(key, value)
    }
    for (let row = 0; row < 10_000; row += 1) put(`key-${(row * 7919) % 10_007}`, Buffer.alloc((row * round) % 90, row))
    put('long', Buffer.alloc(300_000 * round, round))
    put('after', Buffer.from('the long one'))
    put('longer', Buffer.alloc(5, 1))
    put('longer', Buffer.alloc(700_000, round))
    put('empty', Buffer.alloc(0))
    put('gone', undefined)
    for (const held of [rows, HeldRows.of(rows.shared)]) {
      t.equal(held.count, expected.size)
      const order = Array.from(held.sorted(), (row) => held.key(row).toString())
      t.same(order, [...expected.keys()].toSorted())
      const wrong = Array.from(held.sorted()).filter((row) => {
        const value = expected.get(held.key(row).toString())
        return value === undefined ? held.value(row) !== undefined : held.value(row)?.equals(value) !== true
      })
      t.same(wrong, [])
    }
    t.equal(rows.find(Buffer.from('none')), undefined)
    rows.clear()
    t.equal(rows.find(Buffer.from('long')), undefined)
  }
  t.end()
})
