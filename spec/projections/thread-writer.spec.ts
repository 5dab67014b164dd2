import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { HeldRows } from '../../projections/apply/held-rows.ts'
import { RowDamagedError } from '../../engine/errors.ts'
import { DATA_FILE, ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { ThreadWriter } from '../../projections/replay/thread-writer.ts'

function held(rows: readonly (readonly [string, string | undefined])[]): HeldRows {
  const all = new HeldRows()
  for (const [key, value] of rows) all.put(Buffer.from(key), value === undefined ? undefined : Buffer.from(value))
  return all
}

test('another thread writes rows to the tables that are open here', async (t) => {
  const directory = join(t.testdir(), 'projections')
  mkdirSync(directory)
  const environment = ProjectionEnvironment.open(directory, { readOnly: false })
  const objects = environment.table('objects')
  const writer = new ThreadWriter(environment)
  writer.begin([{ name: 'objects', held: held(Array.from({ length: 3000 }, (_, row) => [`key ${row}`, 'first'])) }])
  writer.begin([
    { name: 'applied', held: held([['position', 'later']]) },
    {
      name: 'objects',
      held: held([
        ['key 7', undefined],
        ['key 8', 'second'],
        ['last', 'third'],
      ]),
    },
  ])
  writer.wait()
  environment.refresh()
  t.equal(objects.count(), 3000)
  t.equal(objects.get(Buffer.from('key 7')), undefined)
  t.equal(objects.get(Buffer.from('key 8'))?.toString(), 'second')
  t.equal(objects.get(Buffer.from('last'))?.toString(), 'third')
  t.equal(environment.table('applied').get(Buffer.from('position'))?.toString(), 'later')
  writer.end()
  environment.write(() => objects.put(Buffer.from('key 7'), Buffer.from('here again')))
  t.equal(objects.count(), 3001, 'when it has ended, this thread writes on')
  await environment.close()
})

test('what the other thread cannot write is an error of the wait', async (t) => {
  const file = join(t.testdir(), 'file')
  writeFileSync(file, 'no environment, and much too short for one')
  const writer = new ThreadWriter({ directory: join(file, 'within'), damaged: () => undefined })
  writer.begin([{ name: 'objects', held: held([['key', 'value']]) }])
  t.throws(() => writer.wait(), Error)
  writer.end()
  const unused = new ThreadWriter({ directory: join(file, 'within'), damaged: () => undefined })
  unused.wait()
  unused.end()
})

test('a damaged row that the other thread meets is told here, and is the error of the wait', async (t) => {
  const directory = join(t.testdir({ projections: {} }), 'projections')
  const made = ProjectionEnvironment.open(directory, { readOnly: false })
  made.write(() => made.table('objects').put(Buffer.from('key'), Buffer.from('the value of the row')))
  await made.sync()
  await made.close()
  const path = join(directory, DATA_FILE)
  writeFileSync(path, readFileSync(path, 'latin1').replaceAll('the value of', 'the valve of'), 'latin1')
  const told: RowDamagedError[] = []
  const environment = ProjectionEnvironment.open(directory, { readOnly: false, damaged: (error) => told.push(error) })
  const writer = new ThreadWriter(environment)
  writer.begin([{ name: 'objects', held: held([['later', 'value']]) }])
  t.throws(() => writer.wait(), { code: 'row-damaged', table: 'objects' })
  t.ok(told[0] instanceof RowDamagedError)
  t.match(told, [{ table: 'objects', key: Buffer.from('key').toString('hex') }])
  writer.end()
  await environment.close()
})
