/** Pages of LMDB that it cannot read, or that end the process, are damage by name, and rows are derived again. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import type { RowDamagedError } from '../../engine/errors.ts'
import { DATA_FILE, ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { openTables } from '../../projections/tables/table-list.ts'
import { createBucket, write } from '../support/commands.ts'
import { openTestStore, readObject } from '../support/test-store.ts'

const MINUTE = 60_000_000
/** Of a node of LMDB, whose key comes after its flags and the length of the key. */
const FLAGS_BEFORE_KEY = 4
const DUPLICATES = 4

/** Gives the node of a key a flag that no node of these tables has. */
function spoil(path: string, key: string): void {
  const bytes = readFileSync(path)
  for (let at = bytes.indexOf(key); at >= 0; at = bytes.indexOf(key, at + 1)) {
    const flags = at - FLAGS_BEFORE_KEY
    bytes[flags] = (bytes[flags] as number) ^ DUPLICATES
  }
  writeFileSync(path, bytes)
}

test('an error of LMDB about its pages is the damage of a row, for each way of reading and for a write', async (t) => {
  const directory = join(t.testdir({ rows: {} }), 'rows')
  const made = ProjectionEnvironment.open(directory, { readOnly: false })
  const { ages } = openTables(made)
  made.write(() => {
    for (let row = 0; row < 9; row += 1) ages.put(Buffer.from(`the-age-${row}`), Buffer.from('x'))
  })
  await made.sync()
  await made.close()
  spoil(join(directory, DATA_FILE), 'the-age-5')
  const found: RowDamagedError[] = []
  const damaged = (error: RowDamagedError) => found.push(error)
  const environment = ProjectionEnvironment.open(directory, { readOnly: false, damaged })
  const table = openTables(environment).ages
  t.throws(() => Array.from(table.keys({})), { code: 'row-damaged', table: 'ages', key: '', cause: /^MDB_|MDB_/ })
  environment.refresh()
  t.throws(() => table.get(Buffer.from('the-age-5')), { code: 'row-damaged', table: 'ages' })
  t.equal(found.length, 2)
  environment.refresh()
  t.ok(table.get(Buffer.from('the-age-4')), 'other rows are there')
  await environment.close()
})

test('rows that processes do not outlive are derived again after five of them', async (t) => {
  const root = join(t.testdir(), 'data')
  let now = Date.UTC(2126, 0, 1) * 1000
  const open = () => openTestStore(root, { clock: () => now })
  const made = await open()
  await made.client.execute(createBucket('kept'))
  await made.client.execute(write('kept', 'key', Buffer.from('value')))
  await made.kill()
  const kills = async (count: number, apart: number, last: RegExp | undefined) => {
    for (let start = 1; start <= count; start += 1) {
      now += apart
      const store = await open()
      t.match(store.report, { discardedProjections: start === count ? last : undefined }, `start ${start}`)
      t.same(await readObject(store, 'kept', 'key'), Buffer.from('value'))
      await store.kill()
    }
  }
  // The first start has nothing to note about rows that are not there yet.
  await kills(6, MINUTE, /^5 processes in a row ended soon after they had opened them$/)
  await kills(6, MINUTE, /^5 processes/)
  await kills(5, MINUTE, undefined)
  const orderly = await open()
  t.match(orderly.report, { discardedProjections: /^5 processes/ })
  await orderly.close(true)
  await kills(5, MINUTE, undefined)
  await kills(8, 11 * MINUTE, undefined)
  await kills(4, MINUTE, undefined)
  const note = join(root, 'projections', 'starts')
  t.ok(existsSync(note))
  writeFileSync(note, 'something else')
  await kills(5, MINUTE, undefined)
})
