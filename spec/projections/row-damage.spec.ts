/**
 * Rows of the projections that are not as they were written: none of them is an answer, the damage has a name in the answer, the
 * log, the metric and `/ready`, and the next start derives them again.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { kernelBootId } from '../../cli/server/store/host.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import type { RowDamagedError } from '../../engine/errors.ts'
import { notedDamage } from '../../projections/damaged-note.ts'
import { DATA_FILE, ProjectionEnvironment, type Table } from '../../projections/lmdb-environment.ts'
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
  const open = () => ProjectionEnvironment.open(directory, { readOnly: false, damaged: (error) => told.push(error) })
  const made = open()
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
    const environment = open()
    const table = environment.table('rows')
    for (const [name, read] of Object.entries(READERS)) {
      // A search for a flipped key finds nothing.
      if (name === 'get' && at < row + KEY.length) continue
      t.throws(() => read(table), { code: 'row-damaged' }, `${name}, byte ${at - row}`)
      t.match(told.splice(0), [{ table: 'rows', code: 'row-damaged' }])
    }
    await environment.close()
  }
  writeFileSync(path, whole)
  const again = open()
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

/** Flips a bit of each stored copy of the row's value; pages that are no longer in use have copies. */
function damage(path: string, bytes: Buffer): void {
  const file = readFileSync(path)
  for (let at = file.indexOf(bytes); at >= 0; at = file.indexOf(bytes, at + 1)) file[at] = (file[at] as number) ^ 1
  writeFileSync(path, file)
}

test('requests that meet a damaged row get 503, the damage is named, and a start derives the rows again', async (t) => {
  const root = join(t.testdir(), 'data')
  const bootId = kernelBootId()
  const made = await openTestStore(root, { bootId })
  await made.client.execute(createBucket('rows'))
  const bytes = sampleBytes(100, 1)
  // A start reads the first row of each table.
  for (const key of ['a', 'damaged', 'other']) {
    await made.client.execute({ ...write('rows', key, bytes), headers: ['content-type', `text/${key}-of-the-row`] })
  }
  // Without a clean stop no digest of the file shows the damage to the start.
  await made.kill()
  damage(join(made.paths.projections, DATA_FILE), Buffer.from('text/damaged-of-the-row'))

  const server = await startManaged({ dataDirectory: root, masterKey: MASTER_KEY })
  t.equal(notedDamage(nodeDisk, server.paths), undefined)
  const other = await server.wire.send('GET', '/rows/other')
  t.same([other.status, other.body], [200, bytes])
  for (const [method, target] of [
    ['GET', '/rows/damaged'],
    ['GET', '/rows?list-type=2'],
    ['DELETE', '/rows/damaged'],
    ['PUT', '/rows/damaged'],
  ] as const) {
    const { status, body } = await server.wire.send(method, target, method === 'PUT' ? { body: bytes } : {})
    t.equal(status, 503, `${method} ${target}`)
    t.match(body.toString(), /<Code>ServiceUnavailable<.*A row of the state/s, `${method} ${target}`)
  }
  t.match(notedDamage(nodeDisk, server.paths), /^table objects, key [0-9a-f]{16}64616d61676564$/)
  await server.stop()

  const again = await openTestStore(root, { bootId })
  t.match(again.report.discardedProjections, /^a row of them was found damaged: table objects, key/)
  t.equal(notedDamage(nodeDisk, again.paths), undefined)
  const snapshot = again.catalog.snapshot()
  const bucket = snapshot.bucket('rows')?.id
  t.ok(bucket && snapshot.object(bucket, 'damaged'), 'nothing was deleted')
  await again.close(true)
})
