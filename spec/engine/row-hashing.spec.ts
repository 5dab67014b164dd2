/** Rows of both trees, hashed four nodes at a time, against node:crypto one by one. */
import { createHash } from 'node:crypto'
import { test } from 'tap'
import { ROW_MAXIMUM, RowHashing } from '../../engine/checkpoints/row-hashing.ts'

const DOMAIN = { log: '', bundle: 'object-store/audit-merkle/v1' } as const

function digest(domain: string, prefix: number, ...parts: readonly Uint8Array[]): Buffer {
  const state = createHash('sha256').update(domain).update(Uint8Array.of(prefix))
  for (const part of parts) state.update(part)
  return state.digest()
}

function entriesOf(count: number): Buffer[] {
  return Array.from({ length: count }, (_, index) => createHash('sha256').update(`entry ${index}`).digest())
}

function naiveRows(domain: string, entries: readonly Buffer[], areRecords: boolean): Buffer[] {
  let row = areRecords ? entries.map((entry) => digest(domain, 0, entry)) : [...entries]
  const rows = [Buffer.concat(row)]
  while (row.length > 1) {
    const pairs = Math.floor(row.length / 2)
    row = Array.from({ length: pairs }, (_, at) => digest(domain, 1, row[2 * at] as Buffer, row[2 * at + 1] as Buffer))
    rows.push(Buffer.concat(row))
  }
  return rows
}

const hashing = new RowHashing()

for (const tree of ['log', 'bundle'] as const) {
  test(`${tree}: every row over up to 300 hashes is that of node:crypto`, async (t) => {
    let wrong = 0
    for (let count = 1; count <= 300; count += 1) {
      const entries = entriesOf(count)
      for (const areRecords of [true, false]) {
        const rows = hashing.rows(tree, Buffer.concat(entries), areRecords, 99)
        const expected = naiveRows(DOMAIN[tree], entries, areRecords)
        if (rows.length !== expected.length || rows.some((row, at) => !row.equals(expected[at] as Buffer))) wrong += 1
      }
    }
    t.equal(wrong, 0)
  })

  test(`${tree}: roots of subtrees of a full row, and bytes of every value`, async (t) => {
    const entries = entriesOf(ROW_MAXIMUM).map((entry, at) => (at % 3 === 0 ? Buffer.alloc(32, at % 256) : entry))
    const rows = naiveRows(DOMAIN[tree], entries, true)
    for (const height of [0, 1, 5, 8, 13]) {
      t.same(hashing.apexes(tree, Buffer.concat(entries), true, height), rows[height], `height ${height}`)
    }
  })
}

test('no hash gives no row, and what is not a row is refused', async (t) => {
  t.same(hashing.rows('log', Buffer.alloc(0), true, 9), [Buffer.alloc(0)])
  t.throws(() => hashing.rows('log', Buffer.alloc(31), true, 9), { name: 'RangeError' })
  t.throws(() => hashing.apexes('log', Buffer.alloc((ROW_MAXIMUM + 1) * 32), true, 8), { name: 'RangeError' })
})
