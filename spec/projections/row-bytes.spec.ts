/** Rows come out of LMDB as copies that stay, or as what is made of them while they are lent. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'tap'
import { ProjectionEnvironment, type Row, type Table } from '../../projections/lmdb-environment.ts'

/** Around the length from which values are copied by the platform, around that of a page, and several pages. */
const LENGTHS = [0, 1, 86, 255, 256, 257, 4000, 8192, 70_000] as const

/** Keys begin with small bytes, as numbers do. */
const ROWS: readonly Row[] = LENGTHS.map((length, index) => ({
  key: Buffer.concat([Buffer.of(0, 0, index), Buffer.from('é'.repeat(index * 20))]),
  value: Buffer.alloc(length, index + 1),
}))

async function withTable(work: (table: Table, environment: ProjectionEnvironment) => void): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'row-bytes-'))
  const environment = ProjectionEnvironment.open(directory, { readOnly: false })
  try {
    const table = environment.table('rows')
    environment.write(() => {
      for (const { key, value } of ROWS) table.put(key, value)
    })
    work(table, environment)
  } finally {
    await environment.close()
    rmSync(directory, { recursive: true })
  }
}

/** A copy of a lent row. */
function copied(keys: Buffer, start: number, end: number, value: Buffer, length: number): Row {
  return {
    key: Buffer.from(keys.toString('hex', start, end), 'hex'),
    value: Buffer.from(value.toString('hex', 0, length), 'hex'),
  }
}

test('rows, keys and values are copies: what is read later does not change them', async (t) => {
  await withTable((table) => {
    const rows = [...table.rows({})]
    const keys = [...table.keys({})]
    const values = ROWS.map(({ key }) => table.get(key))
    table.get((ROWS[1] as Row).key)
    t.same(rows, ROWS)
    t.same(
      keys,
      ROWS.map(({ key }) => key),
    )
    t.same(
      values,
      ROWS.map(({ value }) => value),
    )
    t.equal(table.get(Buffer.of(0, 0, 99)), undefined)
    t.same([...table.rows({ reverse: true })], ROWS.toReversed(), 'also backwards, to the smallest key')
  })
})

test('what is decoded is made of the same rows', async (t) => {
  await withTable((table) => {
    t.same([...table.decoded({}, copied)], ROWS)
    t.same([...table.decoded({ reverse: true, limit: 2 }, copied)], ROWS.slice(-2).toReversed())
    const [, second, third, fourth] = ROWS as [Row, Row, Row, Row]
    t.same([...table.decoded({ start: second.key, end: fourth.key }, copied)], [second, third])
  })
})

test('between two steps other reads of the table get copies', async (t) => {
  await withTable((table) => {
    const seen: Row[] = []
    for (const row of table.decoded({}, copied)) {
      seen.push(row)
      t.same([...table.rows({})], ROWS)
      t.same(table.get(row.key), row.value)
    }
    t.same(seen, ROWS)
  })
})

function broken(): never {
  throw new RangeError('not a row')
}

test('a decoder that throws and a loop that is left end the iteration alone', async (t) => {
  await withTable((table, environment) => {
    t.throws(() => [...table.decoded({}, broken)], new RangeError('not a row'))
    for (const row of table.decoded({}, copied)) {
      t.same(row, ROWS[0])
      break
    }
    t.same([...table.rows({})], ROWS)
    // A cursor that was left open would go on in the old state.
    environment.write(() => table.remove((ROWS[0] as Row).key))
    environment.refresh()
    t.same([...table.decoded({}, copied)], ROWS.slice(1))
  })
})
