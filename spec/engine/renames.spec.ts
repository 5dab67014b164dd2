/** An object that gets another key, in one entry and without a byte that moves (spec/decisions/0143). */
import { rmSync } from 'node:fs'
import { type Test, test } from 'tap'
import { bucketIdOf } from '../../engine/brands.ts'
import type { DomainErrorCode } from '../../engine/domain/error-table.ts'
import { DomainError } from '../../engine/errors.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { copyObject, createBucket, deleteObject, renameObject, write, writeFile } from '../support/commands.ts'
import { eventLogOf, readAllEvents } from '../support/model/event-differences.ts'
import { journalEntries } from '../support/journal-entries.ts'
import { temporaryDirectory } from '../support/test-clients.ts'
import { openTestStore, readObject, roomyDisk, someBytes, storeFile, type TestStore } from '../support/test-store.ts'
import { setQuota, setVersioning } from '../support/version-commands.ts'

const LARGE = someBytes(100_000)

async function storeFor(t: Test): Promise<TestStore> {
  const root = temporaryDirectory()
  const store = await openTestStore(root)
  t.teardown(async () => {
    await store.close(true)
    rmSync(root, { recursive: true })
  })
  await store.client.execute(createBucket('b'))
  return store
}

function objectOf({ catalog }: TestStore, key: string) {
  const snapshot = catalog.snapshot()
  return snapshot.object(snapshot.bucket('b')?.id ?? bucketIdOf(0), key)
}

/** Renames what is there. */
function rename(store: TestStore, from: string, to: string, token?: string) {
  return store.client.execute(renameObject('b', from, to, objectOf(store, from)?.sequence, token))
}

function isRefused(t: Test, done: Promise<unknown>, code: DomainErrorCode, subject?: string): Promise<unknown> {
  return t.rejects(done, new DomainError(code, subject), code)
}

test('everything of an object but its key and its version stays, and no byte moves', async (t) => {
  const store = await storeFor(t)
  const checksum = { algorithm: 'sha1', value: Buffer.alloc(20, 7), composite: false } as const
  const name = await storeFile(store, LARGE)
  const described = { headers: ['content-type', 'text/plain'], metadata: ['colour', 'red'], checksum }
  await store.client.execute({ ...writeFile('b', 'old', LARGE, name), ...described })
  await store.client.execute(write('b', 'new', Buffer.from('what was there')))
  const before = objectOf(store, 'old')
  const { physicalBytes } = store.catalog.snapshot().totals()
  const done = await rename(store, 'old', 'new')
  t.equal(done.version, undefined)
  const { sequence, modifiedMicroseconds, ...after } = objectOf(store, 'new') ?? {}
  t.match({ sequence, modifiedMicroseconds }, { sequence: done.sequence, modifiedMicroseconds: done.timeMicroseconds })
  t.match(after, { ...described, size: LARGE.length, etag: before?.etag, payload: before?.payload })
  t.same(await readObject(store, 'b', 'new'), LARGE)
  t.equal(objectOf(store, 'old'), undefined)
  t.ok(store.catalog.snapshot().totals().physicalBytes < physicalBytes, 'what was there under the new key is gone')

  const entries = journalEntries(store.paths.root).filter((entry) => entry.sequence === done.sequence)
  t.match(entries, [{ result: 'success', changes: [{ name: 'object.written' }, { name: 'object.deleted' }] }])
  const environment = ProjectionEnvironment.open(store.paths.projections, { readOnly: true })
  const events = (await readAllEvents(eventLogOf(store, environment))).slice(-2)
  await environment.close()
  t.match(events, [
    { type: 'object.updated', object: 'new', size: LARGE.length, metadata: { source_bucket: 'b', source_key: 'old' } },
    { type: 'object.deleted', object: 'old', versionId: 'null', size: LARGE.length, metadata: { permanent: true } },
  ])
  t.equal(new Set(events.map((event) => `${event.sequence} ${event.index}`)).size, 2)
})

test('an object of no bytes, a chain of names, and back', async (t) => {
  const store = await storeFor(t)
  await store.client.execute(write('b', 'a', Buffer.alloc(0)))
  for (const [from, to] of [
    ['a', 'a/b'],
    ['a/b', 'c'],
    ['c', 'a'],
  ] as const)
    await rename(store, from, to)
  t.match(objectOf(store, 'a'), { size: 0, payload: undefined })
  await store.client.execute(write('b', 'x', Buffer.from('shared')))
  const x = { bucket: 'b', key: 'x', sequence: objectOf(store, 'x')?.sequence ?? 0 }
  await store.client.execute(copyObject(x, { bucket: 'b', key: 'y' }))
  await rename(store, 'y', 'x')
  t.same(await readObject(store, 'b', 'x'), Buffer.from('shared'), 'over the object that it shares its bytes with')
  t.equal(store.catalog.snapshot().bucketUsage(store.catalog.snapshot().bucket('b')?.id ?? bucketIdOf(0)).objects, 2)
})

test('what is refused, and changes nothing', async (t) => {
  const store = await storeFor(t)
  await store.client.execute(write('b', 'a', Buffer.from('a')))
  await store.client.execute(write('b', 'c', Buffer.from('c')))
  await isRefused(t, rename(store, 'a', 'a'), 'rename-onto-itself')
  await isRefused(t, rename(store, 'missing', 'a'), 'object-not-found', 'missing')
  await isRefused(t, store.client.execute(renameObject('none', 'a', 'd', 1)), 'bucket-not-found', 'none')
  await isRefused(t, store.client.execute(renameObject('b', 'a', 'd', 1)), 'source-changed')
  const sequence = objectOf(store, 'a')?.sequence
  const onto = (condition: object) => ({ ...renameObject('b', 'a', 'c', sequence), ...condition })
  const refusals = [
    [{ kind: 'absent' }, 'precondition-failed', 'If-None-Match'],
    [{ kind: 'matches', etags: ['e'] }, 'precondition-failed', 'If-Match'],
  ] as const
  for (const [condition, code, subject] of refusals)
    await isRefused(t, store.client.execute(onto({ condition })), code, subject)
  const missing = { ...renameObject('b', 'a', 'd', sequence), condition: { kind: 'exists' } as const }
  await isRefused(t, store.client.execute(missing), 'object-not-found')
  for (const versioning of ['enabled', 'suspended'] as const) {
    await store.client.execute(setVersioning('b', versioning))
    await isRefused(t, rename(store, 'a', 'd'), 'rename-of-versions', 'b')
  }
  t.same(await readObject(store, 'b', 'a'), Buffer.from('a'))
  t.same(await readObject(store, 'b', 'c'), Buffer.from('c'))
})

test('a token makes a repeat a success that changes nothing, also after a restart and a replay', async (t) => {
  const root = temporaryDirectory()
  t.teardown(() => rmSync(root, { recursive: true }))
  let store = await openTestStore(root)
  await store.client.execute(createBucket('b'))
  await store.client.execute(write('b', 'a', Buffer.from('first')))
  await rename(store, 'a', 'c', 'token')
  await store.client.execute(write('b', 'a', Buffer.from('another')))
  for (const after of ['nothing', 'a restart', 'a replay']) {
    if (after !== 'nothing') {
      await store.close(true)
      if (after === 'a replay') rmSync(store.paths.projections, { recursive: true })
      store = await openTestStore(root)
    }
    await rename(store, 'a', 'c', 'token')
    t.same(await readObject(store, 'b', 'c'), Buffer.from('first'), `after ${after}`)
    t.same(await readObject(store, 'b', 'a'), Buffer.from('another'))
    await isRefused(t, rename(store, 'other', 'c', 'token'), 'rename-token-reused')
  }
  await rename(store, 'a', 'c', 'next')
  t.same(await readObject(store, 'b', 'c'), Buffer.from('another'), 'another token is another rename')
  await rename(store, 'c', 'd')
  await isRefused(t, rename(store, 'a', 'c', 'next'), 'object-not-found', 'a')
  t.equal(objectOf(store, 'd')?.renamed, undefined, 'the object went on, and the token with what it named')
  const from = { bucket: 'b', key: 'd', sequence: objectOf(store, 'd')?.sequence ?? 0 }
  await rename(store, 'd', 'e', 'last')
  await isRefused(t, store.client.execute(copyObject(from, { bucket: 'b', key: 'f' })), 'object-not-found', 'd')
  await store.client.execute(
    copyObject({ ...from, key: 'e', sequence: objectOf(store, 'e')?.sequence ?? 0 }, { bucket: 'b', key: 'f' }),
  )
  t.equal(objectOf(store, 'f')?.renamed, undefined, 'a copy was not renamed')
  const { paths } = store
  await store.close(true)
  t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 })
})

test('a bucket at its limits can rename: it never holds more', async (t) => {
  const store = await storeFor(t)
  await store.client.execute(write('b', 'large', Buffer.alloc(100, 1)))
  await store.client.execute(write('b', 'small', Buffer.alloc(1, 1)))
  await store.client.execute(setQuota('b', { bytes: 1, objects: 1 }))
  await rename(store, 'large', 'other')
  await rename(store, 'other', 'small')
  const snapshot = store.catalog.snapshot()
  t.match(snapshot.bucketUsage(snapshot.bucket('b')?.id ?? bucketIdOf(0)), { objects: 1, bytes: 100 })
  await store.client.execute(deleteObject('b', 'small'))
  t.equal(store.catalog.snapshot().totals().physicalBytes, 0, 'no reference to the bytes is left')
})
