/** Reading a version whose bytes were moved, removed or damaged after it was found. */
import { payloadIdOf, volumeNumberOf } from '../../../engine/brands.ts'
import { rmSync, writeFileSync } from 'node:fs'
import { type Test, test } from 'tap'
import { PayloadDamagedError } from '../../../engine/payloads/payload-errors.ts'
import { findObject, type FoundObject } from '../../../planes/objects/find-object.ts'
import { BodyRemovedError, type BodySource } from '../../../planes/http/exchange.ts'
import { piecesOf, readObject, retryIfRemoved } from '../../../planes/objects/read-object.ts'
import type { CatalogSnapshot } from '../../../projections/catalog/catalog-snapshot.ts'
import { createBucket, deleteObject, write, writeFile } from '../../support/commands.ts'
import { temporaryDirectory } from '../../support/test-clients.ts'
import { openTestStore, someBytes, storeFile, type TestStore } from '../../support/test-store.ts'
import { completeUpload, createUpload, moveOf, movePayloads, writePart } from '../../support/upload-commands.ts'

/** Volumes of two small objects each, so that the first is full when the third is written. */
const SIZES = { segmentBytes: 1 << 20, volumeBytes: 4096 }
const SMALL = Buffer.alloc(1500, 'bytes of a small object ')
const LARGE = someBytes(300_000)
const PART_SIZE = 5 * 1024 ** 2

/** A store with the small objects `a`, `b`, `c`, and the large one `large`. */
async function storeFor(t: Test): Promise<TestStore> {
  const root = temporaryDirectory()
  const store = await openTestStore(root, SIZES)
  t.teardown(async () => {
    await store.close(true)
    rmSync(root, { recursive: true })
  })
  await store.client.execute(createBucket('b'))
  for (const key of ['a', 'b', 'c']) await store.client.execute(write('b', key, SMALL))
  await store.client.execute(writeFile('b', 'large', LARGE, await storeFile(store, LARGE)))
  return store
}

/** A version with the place where its bytes are now, to be read after they went. */
function find(store: TestStore, key: string): FoundObject {
  const snapshot = store.catalog.snapshot()
  const bucket = snapshot.bucket('b')
  const found = bucket && findObject(snapshot, bucket, key, undefined)
  if (found?.kind !== 'found') throw new Error(`${key} is not there`)
  const location = found.object.payload && snapshot.payload(found.object.payload)
  return { ...found, snapshot: { payload: () => location } as unknown as CatalogSnapshot }
}

async function read(store: TestStore, found: FoundObject, start = 0, end = found.object.size): Promise<Buffer> {
  return collect(await readObject(store, found, start, end))
}

async function collect(body: Buffer | BodySource): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of piecesOf(body)) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}

/** Moves the payloads of keys and removes the volume they were in, as compaction does. */
async function compact(store: TestStore, ...keys: string[]): Promise<void> {
  const moves = keys.map((key) => {
    const { object, snapshot } = find(store, key)
    const payload = object.payload ?? payloadIdOf(0)
    const location = snapshot.payload(payload)
    if (location?.kind !== 'volume') throw new Error(`${key} is in no volume`)
    return moveOf(store, payload, location)
  })
  await store.client.execute(movePayloads(moves))
  removeFiles(store)
}

/** Removes the first volume and every payload file, which the engine does in its own time once nothing lives in them. */
function removeFiles({ payloads, paths }: TestStore): void {
  payloads.close()
  rmSync(paths.volume(volumeNumberOf(0)))
  rmSync(paths.files, { recursive: true })
}

test('a small object is returned at once, whole or in part', async (t) => {
  const store = await storeFor(t)
  const found = find(store, 'a')
  t.same(readObject(store, found, 0, SMALL.length), SMALL)
  t.same(readObject(store, found, 10, 20), SMALL.subarray(10, 20))
  t.same(readObject(store, found, 7, 7), Buffer.alloc(0))
  t.same(await read(store, find(store, 'large'), 1000, 200_000), LARGE.subarray(1000, 200_000))
})

test('a small object that compaction moved after it was found is read from its new place', async (t) => {
  const store = await storeFor(t)
  const found = find(store, 'a')
  await compact(store, 'a', 'b')
  t.same(await read(store, found), SMALL)
  t.same(await read(store, found, 100, 200), SMALL.subarray(100, 200))
})

test('what was deleted or replaced after it was found is reported as removed', async (t) => {
  const store = await storeFor(t)
  const [deleted, replaced, large] = [find(store, 'a'), find(store, 'b'), find(store, 'large')]
  await store.client.execute(deleteObject('b', 'a'))
  await store.client.execute(write('b', 'b', Buffer.from('another')))
  await store.client.execute(deleteObject('b', 'large'))
  removeFiles(store)
  for (const found of [deleted, replaced, large]) await t.rejects(read(store, found), BodyRemovedError)
})

test('bytes that are damaged where they should be are reported as damaged', async (t) => {
  const store = await storeFor(t)
  const found = find(store, 'a')
  writeFileSync(store.paths.volume(volumeNumberOf(0)), Buffer.alloc(8192))
  await t.rejects(read(store, found), PayloadDamagedError)
  const lost: FoundObject = { ...found, snapshot: { payload: () => undefined } as unknown as CatalogSnapshot }
  t.throws(() => readObject(store, lost, 0, 1), PayloadDamagedError, 'no row beside an object')
})

async function storeParts(store: TestStore): Promise<void> {
  const { sequence: upload = 0 } = await store.client.execute(createUpload('b', 'parts'))
  const name = { bucket: 'b', key: 'parts', upload }
  const listed: { part: number; etag: string }[] = []
  for (const part of [1, 2]) {
    const { etag = '' } = await store.client.execute(writePart(name, part, SMALL, part === 1 ? PART_SIZE : undefined))
    listed.push({ part, etag })
  }
  await store.client.execute(completeUpload(name, listed))
}

test('parts that go with their object while it is sent end the body as removed', async (t) => {
  const store = await storeFor(t)
  await storeParts(store)
  const found = find(store, 'parts')
  // The second part begins where the first says it ends, which has fewer bytes here than it says.
  const body = await readObject(store, found, 0, 10)
  t.same(await collect(body), SMALL.subarray(0, 10))
  const late = await readObject(store, found, 0, found.object.size)
  await store.client.execute(deleteObject('b', 'parts'))
  await t.rejects(collect(late), BodyRemovedError)
  await t.rejects(read(store, found), BodyRemovedError)
})

function removed(): Promise<string> {
  return Promise.reject(new BodyRemovedError('removed'))
}

function noSuchKey(): string {
  throw new Error('no such key')
}

test('a read begins again while its version is removed, and not for ever', async (t) => {
  t.equal(await retryIfRemoved(removed(), () => 'there'), 'there')
  let reads = 0
  const never = () => {
    reads += 1
    return removed()
  }
  await t.rejects(retryIfRemoved(never(), never), BodyRemovedError)
  t.equal(reads, 5)
  await t.rejects(retryIfRemoved(removed(), noSuchKey), { message: 'no such key' })
  await t.rejects(retryIfRemoved(Promise.reject(new PayloadDamagedError('damaged')), never), PayloadDamagedError)
  t.equal(reads, 5)
})
