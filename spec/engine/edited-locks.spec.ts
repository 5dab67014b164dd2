/**
 * Rows of locks and buckets that were edited while the store was stopped release nothing: the start derives them again, or the
 * deletion is refused.
 * Proves: STA-LCK-05.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { microsecondsOf, millisecondsOf, type Sequence } from '../../engine/brands.ts'
import type { LockState } from '../../engine/events/values.ts'
import { AccessSeal } from '../../projections/apply/access-seal.ts'
import { DATA_FILE, ProjectionEnvironment, type Table } from '../../projections/lmdb-environment.ts'
import { numberKey } from '../../projections/keys.ts'
import { getBucket, putBucket } from '../../projections/tables/buckets.ts'
import { putLock, removeLock } from '../../projections/tables/locks.ts'
import { getObject, putObject } from '../../projections/tables/objects.ts'
import { openTables, type Tables } from '../../projections/tables/table-list.ts'
import type { BucketState, ObjectState } from '../../engine/state-ports.ts'
import { createBucket, write } from '../support/commands.ts'
import { openTestStore, type TestStore } from '../support/test-store.ts'
import { deleteVersion, setLegalHold, setRetention } from '../support/version-commands.ts'

const NOW = Date.parse('2126-01-02T03:04:05Z')
const DAY = 24 * 60 * 60 * 1000
const clock = () => microsecondsOf(NOW * 1000)
const until = millisecondsOf(NOW + DAY)
const past = millisecondsOf(NOW - DAY)
const LOCK: LockState = { retention: { mode: 'COMPLIANCE', untilMilliseconds: until }, hold: undefined }
const RELEASED: LockState = { retention: { mode: 'COMPLIANCE', untilMilliseconds: past }, hold: undefined }

interface Edited {
  readonly tables: Tables<Table>
  readonly bucket: BucketState
  readonly object: ObjectState
}

/** A stopped store with a version under compliance. */
async function made(t: Test): Promise<{ readonly root: string; readonly version: Sequence }> {
  const root = join(t.testdir(), 'data')
  const store = await openTestStore(root, { clock })
  await store.client.execute({ ...createBucket('kept'), lockEnabled: true })
  const { sequence: version } = await store.client.execute({ ...write('kept', 'key', Buffer.from('x')), lock: LOCK })
  await store.close(true)
  return { root, version }
}

/** Edits rows as LMDB does, with the sums that they must have, and takes away what the stop left about their file. */
async function edit(root: string, change: (edited: Edited) => void): Promise<void> {
  const environment = ProjectionEnvironment.open(join(root, 'projections'), { readOnly: false })
  const tables = openTables(environment)
  const bucket = getBucket(tables.buckets, 'kept') as BucketState
  environment.write(() =>
    change({ tables, bucket, object: getObject(tables.objects, bucket.id, 'key') as ObjectState }),
  )
  await environment.sync()
  await environment.close()
  rmSync(join(root, 'projections', 'sums'))
}

async function isKept(t: Test, store: TestStore, version: Sequence): Promise<void> {
  await t.rejects(store.client.execute(deleteVersion('kept', 'key', version)), { code: 'compliance-retention' })
}

function double(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  return bytes
}

test('an end of a retention that is replaced in the file by an earlier one', async (t) => {
  const { root, version } = await made(t)
  const path = join(root, 'projections', DATA_FILE)
  const bytes = readFileSync(path)
  let replaced = 0
  for (const [found, other] of [
    [double(until), double(past)],
    [numberKey(until), numberKey(past)],
  ] as const) {
    for (let at = bytes.indexOf(found); at >= 0; at = bytes.indexOf(found, at + 1)) {
      bytes.set(other, at)
      replaced += 1
    }
  }
  t.ok(replaced >= 3, 'in the rows of the object, of the lock and of its end')
  writeFileSync(path, bytes)
  const store = await openTestStore(root, { clock })
  t.match(store.report.discardedProjections, /^their file changed since the store stopped/)
  await isKept(t, store, version)
  await store.close(true)
})

const EDITS: Readonly<Record<string, (edited: Edited) => void>> = {
  'an earlier end': ({ tables, bucket: { id }, object }) => {
    putLock(tables.locks, id, 'key', object.sequence, RELEASED)
    putObject(tables.objects, id, 'key', { ...object, lock: RELEASED })
  },
  'no lock': ({ tables, bucket: { id }, object }) => {
    removeLock(tables.locks, id, 'key', object.sequence)
    putObject(tables.objects, id, 'key', { ...object, lock: undefined })
  },
  'a bucket without Object Lock': ({ tables, bucket, object }) => {
    putBucket(tables.buckets, { ...bucket, lockEnabled: false, versioning: 'off' })
    putObject(tables.objects, bucket.id, 'key', { ...object, lock: undefined })
  },
}

for (const [name, change] of Object.entries(EDITS)) {
  test(`rows that say otherwise, with right sums: ${name}`, async (t) => {
    const { root, version } = await made(t)
    await edit(root, change)
    const store = await openTestStore(root, { clock })
    t.match(store.report.discardedProjections, /^their rows of access, buckets or locks are not those/)
    await isKept(t, store, version)
    await store.close(true)
  })
}

test('the row of the version alone says otherwise', async (t) => {
  const { root, version } = await made(t)
  await edit(root, ({ tables, bucket: { id }, object }) =>
    putObject(tables.objects, id, 'key', { ...object, lock: undefined }),
  )
  const store = await openTestStore(root, { clock })
  t.equal(store.report.discardedProjections, undefined)
  const retention = { mode: 'COMPLIANCE', untilMilliseconds: until + DAY } as const
  for (const command of [
    deleteVersion('kept', 'key', version),
    deleteVersion('kept', 'key', version, true),
    setRetention('kept', 'key', retention, version, true),
    setLegalHold('kept', 'key', true, version),
  ]) {
    await t.rejects(store.client.execute(command), { code: 'row-damaged' }, command.kind)
  }
  await store.client.execute(write('kept', 'other', Buffer.from('y')))
  t.same(store.failures, [], 'the engine answers others')
  await store.close(true)
  const again = await openTestStore(root, { clock })
  t.match(again.report.discardedProjections, /^a row of them was found damaged: table locks, key/)
  await isKept(t, again, version)
  await again.close(true)
})

test('a start reads the rows of locks once, unless replay has changed them', async (t) => {
  const { root } = await made(t)
  const { sealAll } = AccessSeal.prototype
  let sealed = 0
  t.teardown(() => {
    AccessSeal.prototype.sealAll = sealAll
  })
  AccessSeal.prototype.sealAll = function (this: AccessSeal) {
    sealed += 1
    sealAll.call(this)
  }
  const stopped = await openTestStore(root, { clock })
  t.equal(sealed, 0, 'the seal that was looked at is the seal from here on')
  t.match(stopped.report, { replayedRecords: 0, discardedProjections: undefined })
  await stopped.client.execute(createBucket('sealed-on'))
  await stopped.kill()
  const killed = await openTestStore(root, { clock })
  t.match(killed.report, { replayedRecords: 0, discardedProjections: undefined }, 'it was sealed as the rows changed')
  t.equal(sealed, 0)
  await killed.close(true)
  rmSync(join(root, 'projections'), { recursive: true })
  const replayed = await openTestStore(root, { clock })
  t.equal(sealed, 1)
  await replayed.close(true)
})
