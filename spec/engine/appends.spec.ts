/** Appends in the engine: many of them, what they share, what they are refused for. */
import { test } from 'tap'
import { bucketIdOf, type PayloadId, payloadIdOf, sequenceOf } from '../../engine/brands.ts'
import type { CommandOf } from '../../engine/commands/commands.ts'
import { appendRules } from '../../engine/domain/append.ts'
import type { DecisionContext } from '../../engine/domain/decision.ts'
import { PART_NUMBER_MAXIMUM } from '../../engine/domain/part-set.ts'
import { DomainError } from '../../engine/errors.ts'
import { HolderSearch } from '../../projections/catalog/payload-holders.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { appendObject, auditOf, copyObject, createBucket, deleteObject, md5Of, write } from '../support/commands.ts'
import { NO_STATE } from '../support/no-state.ts'
import { openTestStore, readObject, roomyDisk, type TestStore } from '../support/test-store.ts'
import { movePayloads, moveOf } from '../support/upload-commands.ts'

function append(key: string, offset: number, bytes: Buffer): CommandOf<'append-object'> {
  return appendObject('b', key, offset, bytes)
}

/** Payloads in use by their kind, and bytes in volumes and files. */
function usageOf(store: TestStore) {
  const rows = store.catalog.snapshot().storedPayloads(-1, 100_000)
  const of = (kind: string) => rows.filter(({ location }) => location.kind === kind).length
  return { small: of('volume'), parts: of('parts'), bytes: store.catalog.snapshot().totals().physicalBytes }
}

const LINE = Buffer.from('0123456789')

test('hundreds of appends share what is before them, and give it back when the last of them goes', async (t) => {
  const store = await openTestStore(t.testdir())
  await store.client.execute(createBucket('b'))
  const count = 512
  for (let index = 0; index < count; index += 1) await store.client.execute(append('plain', index * 10, LINE))
  t.same(usageOf(store), { small: count, parts: Math.floor((count - 1) / 100) + 1, bytes: count * 10 })
  t.ok((await readObject(store, 'b', 'plain'))?.equals(Buffer.alloc(count * 10, LINE)))

  const audit = auditOf('s3:PUT', 'bucket:b')
  await store.client.execute({ kind: 'set-versioning', audit, bucket: 'b', versioning: 'enabled' })
  for (let index = count; index < count + 120; index += 1) await store.client.execute(append('plain', index * 10, LINE))
  t.match(usageOf(store), { small: count + 120, bytes: (count + 120) * 10 })
  const bucket = store.catalog.snapshot().bucket('b')
  const every = { prefix: Buffer.alloc(0), delimiter: undefined, after: undefined, entriesMaximum: 1000 }
  const versions = store.catalog.snapshot().listVersions(bucketIdOf(bucket?.id ?? 0), every).entries
  t.equal(versions.length, 121)
  // From the middle to both ends, so that what others share goes before them and after them.
  const order = versions.toSorted(
    (left, right) => Math.abs(60 - versions.indexOf(left)) - Math.abs(60 - versions.indexOf(right)),
  )
  for (const { sequence, isNull } of order) {
    await store.client.execute({ ...deleteObject('b', 'plain'), version: isNull ? 'null' : sequence })
  }
  t.same(usageOf(store), { small: 0, parts: 0, bytes: 0 })
  t.same(store.catalog.snapshot().digestsPending(10), [])
  await store.close(true)
  t.match(await checkProjections(roomyDisk, store.paths), { differenceCount: 0 })
})

test('a copy of an appended object goes its own way', async (t) => {
  const store = await openTestStore(t.testdir())
  await store.client.execute(createBucket('b'))
  let last = 0
  for (let index = 0; index < 150; index += 1) {
    last = (await store.client.execute(append('one', index * 10, LINE))).sequence
  }
  await store.client.execute(copyObject({ bucket: 'b', key: 'one', sequence: last }, { bucket: 'b', key: 'two' }))
  await store.client.execute(append('two', 1500, Buffer.from('two')))
  await store.client.execute(append('one', 1500, Buffer.from('one')))
  await store.client.execute(deleteObject('b', 'one'))
  t.ok((await readObject(store, 'b', 'two'))?.equals(Buffer.concat([Buffer.alloc(1500, LINE), Buffer.from('two')])))
  await store.client.execute(deleteObject('b', 'two'))
  t.same(usageOf(store), { small: 0, parts: 0, bytes: 0 })
  await store.close(true)
})

test('parts of appended objects are moved by compaction and found by the search for what is damaged', async (t) => {
  const store = await openTestStore(t.testdir())
  await store.client.execute(createBucket('b'))
  let last = 0
  for (let index = 0; index < 230; index += 1) {
    last = (await store.client.execute(append('k', index * 10, Buffer.from(`line ${index}`.padEnd(10))))).sequence
  }
  await store.client.execute(copyObject({ bucket: 'b', key: 'k', sequence: last }, { bucket: 'b', key: 'copy' }))
  const before = await readObject(store, 'b', 'k')
  const rows = store.catalog.snapshot().storedPayloads(-1, 1000)
  const [first] = rows
  if (first?.location.kind !== 'volume') throw new Error('the first payload is not small')
  await store.client.execute(movePayloads([moveOf(store, first.payload, first.location)]))
  t.notSame(store.catalog.snapshot().payload(first.payload), first.location)
  t.ok((await readObject(store, 'b', 'k'))?.equals(before ?? LINE))
  const search = new HolderSearch([first], 10)
  while (store.catalog.snapshot().searchHolders(search, 7));
  t.same(
    search.holdersOf(first.payload).map(({ key }) => key),
    ['copy', 'k'],
  )
  await store.close(true)
  t.match(await checkProjections(roomyDisk, store.paths), { differenceCount: 0 })
})

test('of appends of one batch that name one offset, one is done', async (t) => {
  const store = await openTestStore(t.testdir())
  await store.client.execute(createBucket('b'))
  await store.client.execute(write('b', 'k', LINE))
  const tries = Array.from({ length: 8 }, (_, index) =>
    store.client.execute(append('k', 10, Buffer.from(`try ${index}`))).then(
      () => 'done',
      (error: unknown) => (error instanceof DomainError ? error.code : String(error)),
    ),
  )
  t.same((await Promise.all(tries)).toSorted(), ['done', ...Array.from({ length: 7 }, () => 'offset-is-not-size')])
  t.equal((await readObject(store, 'b', 'k'))?.toString(), '0123456789try 0')
  await store.close(true)
})

test('the quota counts what an object has after the append', async (t) => {
  const store = await openTestStore(t.testdir())
  await store.client.execute(createBucket('b'))
  const audit = auditOf('PUT quota', 'bucket:b')
  await store.client.execute({ kind: 'set-quota', audit, bucket: 'b', quota: { bytes: 25, objects: 1 } })
  await store.client.execute(append('k', 0, LINE))
  await store.client.execute(append('k', 10, LINE))
  await t.rejects(store.client.execute(append('k', 20, LINE)), { code: 'quota-exceeded' })
  await store.client.execute(append('k', 20, Buffer.from('12345')))
  await t.rejects(store.client.execute(append('other', 0, Buffer.alloc(0))), { code: 'quota-exceeded' })
  const { id } = store.catalog.snapshot().bucket('b') ?? {}
  t.match(store.catalog.snapshot().bucketUsage(bucketIdOf(id ?? 0)), { objects: 1, bytes: 25 })
  await store.close(true)
})

function md5(text: string): string {
  return md5Of(Buffer.from(text))
}

/** An object of so many parts that is asked to take one more. */
function decideAt(count: number, size = 10) {
  const object = { sequence: sequenceOf(5), isNull: true, isMarker: false, size, etag: 'e'.repeat(32) }
  const rest = { headers: ['content-type', 'text/a'], metadata: [], lock: undefined, checksum: undefined }
  const bytes = { payload: payloadIdOf(4), digest: Buffer.alloc(32), modifiedMicroseconds: 1 }
  const bucket = { id: bucketIdOf(1), name: 'b', versioning: 'off', lockEnabled: false, quota: {} }
  const parts = { count, payload: () => undefined as PayloadId | undefined, size: () => 0 }
  const state = {
    ...NO_STATE,
    bucket: () => bucket,
    object: () => ({ ...object, ...rest, ...bytes }),
    payload: () => ({ kind: 'parts', parts }),
  }
  const placement = { place: (payload: PayloadId) => ({ kind: 'volume', payload }) }
  // Only what the rule of appends asks for.
  const context: Partial<Record<keyof DecisionContext, unknown>> = {
    state,
    sequence: 100,
    attempt: 99,
    md5,
    placement,
    now: 1,
    clockIsBehind: false,
  }
  return appendRules['append-object'](append('k', size, LINE), context as DecisionContext)
}

test('an object has at most 10,000 parts and 5 TiB', async (t) => {
  t.throws(() => decideAt(PART_NUMBER_MAXIMUM), { code: 'too-many-parts' })
  t.throws(() => decideAt(2, 5 * 1024 ** 4 - 9), { code: 'object-too-large' })
  const { changes, etag } = decideAt(PART_NUMBER_MAXIMUM - 1, 5 * 1024 ** 4 - 10)
  t.equal(etag, `${md5Of(Buffer.from(`${'e'.repeat(32)}${md5Of(LINE)}`))}-10000`)
  t.match(changes, [
    { name: 'payload.appended', payload: 100, base: 4, part: { payload: 99 }, size: 10 },
    { name: 'object.written', size: 5 * 1024 ** 4, payload: { kind: 'shared', payload: 100 } },
  ])
})
