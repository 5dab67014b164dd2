/** All rows are read, some in a step and all of them once a day, and the first that is damaged ends it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { RowDamagedError } from '../../engine/errors.ts'
import { DATA_FILE, ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { RowWalk } from '../../projections/row-walk.ts'
import { openTables } from '../../projections/tables/table-list.ts'
import { RowCheck } from '../../workers/check-rows.ts'

const HOUR = 60 * 60 * 1000
/** Of LMDB: pages, what a page has for each row, and where the header says how far that goes. */
const PAGE_BYTES = 8192
const PLACE_BYTES = 2
const LOWER_AT = 20

test('a pass a day, until a row is damaged', async (t) => {
  let now = 5
  const answers: (boolean | Error)[] = [true, true, false, false, new RowDamagedError('objects', '61')]
  const limits: number[] = []
  const walk = {
    next(limit: number): boolean {
      limits.push(limit)
      const answer = answers.shift()
      if (answer instanceof Error) throw answer
      return answer === true
    },
  }
  const damage: RowDamagedError[] = []
  const worker = new RowCheck(walk, { timer: () => now, onDamage: (error) => damage.push(error) })
  for (let step = 0; step < 3; step += 1) t.equal(await worker.step(), 'idle')
  t.equal(worker.status, '1 passes over all rows')
  now += 23 * HOUR
  t.equal(await worker.step(), 'idle')
  t.equal(answers.length, 2, 'nothing is read before a day is over')
  now += HOUR
  t.equal(await worker.step(), 'idle')
  now += 24 * HOUR
  t.equal(await worker.step(), 'done')
  t.match(damage, [{ table: 'objects', key: '61' }])
  t.ok(limits.every((limit) => limit === limits[0]))
})

test('the walk meets each row of each table, whatever its steps are, and a key that changed', async (t) => {
  const directory = join(t.testdir({ rows: {} }), 'rows')
  const made = ProjectionEnvironment.open(directory, { readOnly: false })
  const tables = openTables(made)
  made.write(() => {
    for (let row = 0; row < 7; row += 1) tables.objects.put(Buffer.from(`object-${row}`), Buffer.from('x'))
    for (let row = 0; row < 5; row += 1) tables.ages.put(Buffer.of(0, row), Buffer.alloc(0))
  })
  for (const limit of [1, 2, 3, 7, 100]) {
    const walk = new RowWalk(made)
    for (const pass of [1, 2]) {
      let steps = 1
      while (walk.next(limit)) steps += 1
      t.ok(steps >= Math.floor(12 / limit) && steps <= 12 / limit + 3, `steps of ${limit}, pass ${pass}: ${steps}`)
    }
  }
  await made.sync()
  await made.close()
  const path = join(directory, DATA_FILE)
  const bytes = readFileSync(path)
  for (let at = bytes.indexOf('object-5'); at >= 0; at = bytes.indexOf('object-5', at + 1)) bytes[at + 7] = 0x3f
  writeFileSync(path, bytes)
  const environment = ProjectionEnvironment.open(directory, { readOnly: true })
  const walk = new RowWalk(environment)
  t.throws(
    () => {
      while (walk.next(2));
    },
    { code: 'row-damaged', table: 'objects', key: Buffer.from('object-?').toString('hex') },
  )
  await environment.close()
})

test('rows that the count of a page hides are found in tables that are read in one step, and the next start knows', async (t) => {
  const directory = join(t.testdir({ rows: {} }), 'rows')
  const made = ProjectionEnvironment.open(directory, { readOnly: false })
  const tables = openTables(made)
  made.write(() => {
    for (let row = 0; row < 9; row += 1) tables.objects.put(Buffer.from(`object-${row}`), Buffer.from('x'))
  })
  await made.sync()
  await made.close()
  const path = join(directory, DATA_FILE)
  const bytes = readFileSync(path)
  // The header of a page has its number, its flags, and where the places of its rows end: two bytes for each row.
  const row = bytes.indexOf('object-0')
  const page = row - (row % PAGE_BYTES)
  const end = bytes.readUInt16LE(page + LOWER_AT)
  t.equal(bytes.readUInt16LE(page + LOWER_AT - 2) & 2, 2, 'a page of rows')
  bytes.writeUInt16LE(end - 4 * PLACE_BYTES, page + LOWER_AT)
  writeFileSync(path, bytes)
  const found: unknown[] = []
  const environment = ProjectionEnvironment.open(directory, { readOnly: true, damaged: (error) => found.push(error) })
  const rows = Array.from(openTables(environment).objects.keys({}))
  t.not(rows.length, 9, 'rows are hidden')
  t.doesNotThrow(() => new RowWalk(environment, 8).next(100), 'a table that is larger')
  const walk = new RowWalk(environment, 9)
  t.throws(() => walk.next(100), { code: 'row-damaged', table: 'objects', key: '' })
  t.equal(found.length, 1)
  await environment.close()
})
