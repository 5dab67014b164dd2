/**
 * Rows of the projections that are not as they were written: none of them is an answer, the damage has a name in the answer, the
 * log, the metric and `/ready`, and the next start derives them again.
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { kernelBootId } from '../../cli/server/store/host.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import type { RowDamagedError } from '../../engine/errors.ts'
import { notedDamage } from '../../projections/damaged-note.ts'
import { DATA_FILE, ProjectionEnvironment, type RangeOptions, type Table } from '../../projections/lmdb-environment.ts'
import { tableWithoutRows } from '../../projections/row-walk.ts'
import { openTables, TABLES } from '../../projections/tables/table-list.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { flipByteInPlace } from '../support/journal-files.ts'
import { createBucket, write } from '../support/commands.ts'
import { startManaged } from '../support/management-server.ts'
import { sampleBytes } from '../support/sample-bytes.ts'
import { MASTER_KEY, openTestStore } from '../support/test-store.ts'

const KEY = Buffer.from('the key of a row')
const VALUE = Buffer.from(`a value ${'x'.repeat(150)}`)
const READERS: Readonly<Record<string, (table: Table) => unknown>> = {
  get: (table) => table.get(KEY),
  rows: (table) => [...table.rows({})],
  keys: (table) => [...table.keys({})],
  decoded: (table) => [...table.decoded({}, () => true)],
}

test('a row with a flipped bit in key, value or sum is read by no reader', async (t) => {
  const directory = join(t.testdir({ rows: {} }), 'rows')
  const told: RowDamagedError[] = []
  const open = (readOnly: boolean) =>
    ProjectionEnvironment.open(directory, { readOnly, damaged: (error) => told.push(error) })
  const made = open(false)
  made.write(() => made.table('rows').put(KEY, VALUE))
  t.same(made.table('rows').get(KEY), VALUE)
  await made.sync()
  await made.close()
  const path = join(directory, DATA_FILE)
  const whole = readFileSync(path)
  const row = whole.lastIndexOf(Buffer.concat([KEY, VALUE]))
  for (let at = row; at < row + KEY.length + VALUE.length + 4; at += 1) {
    const flipped = Buffer.from(whole)
    flipped[at] = (flipped[at] as number) ^ (1 << (at % 8))
    writeFileSync(path, flipped)
    const environment = open(true)
    const table = environment.table('rows')
    for (const [name, read] of Object.entries(READERS)) {
      t.throws(() => read(table), { code: 'row-damaged' }, `${name}, byte ${at - row}`)
      t.match(told.splice(0), [{ table: 'rows', code: 'row-damaged' }])
    }
    await environment.close()
  }
  writeFileSync(path, whole)
  const again = open(true)
  t.same([...again.table('rows').rows({})], [{ key: KEY, value: VALUE }])
  await again.close()
})

test('the sum is of the table too, and of the place where the key ends', async (t) => {
  const environment = ProjectionEnvironment.open(join(t.testdir({ rows: {} }), 'rows'), { readOnly: false })
  const stored = (name: string, key: string, value: string) => {
    environment.write(() => environment.table(name).put(Buffer.from(key), Buffer.from(value)))
    return environment.rawTable(name).get(Buffer.from(key))?.subarray(-4).toString('hex')
  }
  const sums = [
    stored('one', 'key', 'value'),
    stored('two', 'key', 'value'),
    stored('one', 'keyv', 'alue'),
    stored('one', 'key-of-eight-more', ''),
    stored('one', 'k', 'ey-of-eight-more'),
    stored('one', 'zeros', '\0'.repeat(8)),
    stored('one', 'zeros', '\0'.repeat(16)),
  ]
  t.equal(new Set(sums).size, sums.length)
  await environment.close()
})

/** Flips a bit of each stored copy of some bytes: pages that are no longer in use have copies. */
function damage({ projections }: StorePaths, bytes: Buffer, after: number): void {
  const path = join(projections, DATA_FILE)
  const file = readFileSync(path)
  for (let at = file.indexOf(bytes); at >= 0; at = file.indexOf(bytes, at + 1)) flipByteInPlace(path, at + after, 1)
}

const BYTES = sampleBytes(100, 1)
/** The rows of `damaged` are about bytes that no other row has. */
const WRITES = ['a', 'damaged', 'other'].map((key) => ({
  ...write('rows', key, BYTES),
  headers: ['content-type', `text/${key}-of-the-row`],
}))
const ROW = Buffer.from('text/damaged-of-the-row')
const BUCKET = Buffer.from('0000000000000003', 'hex')
const ROW_KEY = Buffer.concat([BUCKET, Buffer.from('damaged')])

for (const [what, bytes, after] of [
  ['value', ROW, 0],
  ['key', ROW_KEY, BUCKET.length],
  ['bucket in a key', ROW_KEY, 0],
] as const) {
  test(`a ${what} that is damaged under a server: 503, a name, and rows that the next start derives again`, async (t) => {
    const server = await startManaged({ masterKey: MASTER_KEY })
    for (const command of [createBucket('rows'), ...WRITES]) await server.store.client.execute(command)
    damage(server.paths, bytes, after)
    const other = await server.wire.send('GET', '/rows/other')
    // The search for it may end at the other row.
    if (what === 'bucket in a key') t.equal(other.status, 503)
    else t.same([other.status, other.body], [200, BYTES])
    const changes = [
      ['DELETE', '/rows/damaged'],
      ['PUT', '/rows/damaged'],
    ] as const
    for (const [method, target] of [
      ['GET', '/rows/damaged'],
      ['GET', '/rows?list-type=2'],
      ...(what === 'value' ? changes : []),
    ] as const) {
      const { status, body } = await server.wire.send(method, target, method === 'PUT' ? { body: BYTES } : {})
      t.equal(status, 503, `${method} ${target}`)
      t.match(body.toString(), /<Code>ServiceUnavailable<.*A row of the state/s, `${method} ${target}`)
    }
    t.match(notedDamage(nodeDisk, server.paths), /^table objects, key [0-9a-f]{30}$/)
    const root = server.paths.root
    const kept = join(t.testdir(), 'data')
    cpSync(root, kept, { recursive: true })
    await server.stop()

    const again = await openTestStore(kept, { bootId: kernelBootId() })
    t.match(again.report.discardedProjections, /^a row of them was found damaged: table objects, key/)
    t.equal(notedDamage(nodeDisk, again.paths), undefined)
    const snapshot = again.catalog.snapshot()
    const bucket = snapshot.bucket('rows')?.id
    t.ok(bucket && snapshot.object(bucket, 'damaged'), 'nothing was deleted')
    await again.close(true)
  })

  test(`a ${what} that is damaged after a kill is found by the start`, async (t) => {
    const store = await openTestStore(join(t.testdir(), 'data'))
    for (const command of [createBucket('rows'), ...WRITES]) await store.client.execute(command)
    await store.kill()
    damage(store.paths, bytes, after)
    const again = await openTestStore(store.paths.root)
    t.equal(again.report.discardedProjections, 'a row of them is damaged')
    const snapshot = again.catalog.snapshot()
    const bucket = snapshot.bucket('rows')?.id
    t.ok(bucket && snapshot.object(bucket, 'damaged'))
    await again.close(true)
  })
}

test('a table whose rows are fewer than LMDB counts is found by the start', async (t) => {
  const directory = join(t.testdir({ rows: {} }), 'rows')
  const environment = ProjectionEnvironment.open(directory, { readOnly: false })
  const tables = openTables(environment)
  environment.write(() => tables.objects.put(KEY, VALUE))
  t.equal(tableWithoutRows(environment, 10), undefined)
  const lacking = {
    table: (name: string) => {
      const table = environment.table(name)
      const count = () => table.count() + (name === TABLES.objects ? 1 : 0)
      return { ...table, keys: (options: RangeOptions) => table.keys(options), count }
    },
  } as unknown as ProjectionEnvironment
  t.equal(tableWithoutRows(lacking, 10), 'objects')
  t.equal(tableWithoutRows(lacking, 1), undefined, 'too large to be read')
  await environment.close()
})
