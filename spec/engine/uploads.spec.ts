/** Multipart uploads in a store: the largest of them, completions asked for again, uploads of buckets that are no more. */
import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { test } from 'tap'
import { PART_NUMBER_MAXIMUM } from '../../engine/domain/part-set.ts'
import { PART_BYTES_MINIMUM } from '../../engine/domain/upload.ts'
import { checkProjections } from '../../projections/check.ts'
import { createBucket, deleteBucket, md5Of, write } from '../support/commands.ts'
import { openTestStore, readObject, roomyDisk, storeFile, type TestStore } from '../support/test-store.ts'
import {
  abortUpload,
  completeUpload,
  createUpload,
  type ListedPart,
  reclaimUpload,
  recordDigest,
  type UploadName,
  writePart,
} from '../support/upload-commands.ts'
import { deleteVersion, setVersioning } from '../support/version-commands.ts'

const FULL = PART_BYTES_MINIMUM
const EMPTY = md5Of(Buffer.alloc(0))

/** Writes parts by the thousand, as fast as the engine takes them. Gives the list of them. */
async function writeParts(store: TestStore, name: UploadName, numbers: readonly number[]): Promise<ListedPart[]> {
  return Promise.all(
    numbers.map(async (part) => {
      const { etag = '' } = await store.client.execute(writePart(name, part, Buffer.from(`part ${part}.`), FULL))
      return { part, etag }
    }),
  )
}

function bytesOf(numbers: readonly number[]): Buffer {
  return Buffer.from(numbers.map((part) => `part ${part}.`).join(''))
}

const ALL = Array.from({ length: PART_NUMBER_MAXIMUM }, (_, index) => index + 1)
const LARGE = { segmentBytes: 16 << 20, volumeBytes: 4 << 20 }

async function uploadOf(store: TestStore, key: string): Promise<UploadName> {
  const { sequence } = await store.client.execute(createUpload('b', key))
  return { bucket: 'b', key, upload: sequence }
}

test('10,000 parts are completed, those of odd numbers alone too, and aborted', async (t) => {
  t.setTimeout(240_000)
  const store = await openTestStore(t.testdir(), LARGE)
  const { sequence: bucketId } = await store.client.execute(createBucket('b'))

  const whole = await uploadOf(store, 'whole')
  const parts = await writeParts(store, whole, ALL)
  t.same(
    store.catalog.parts(whole.upload, 0, 20_000).map(({ part }) => part),
    ALL,
  )
  t.match(store.catalog.uploadUsage(), { uploads: 1, parts: 10_000, bytes: 10_000 * FULL })
  const done = await store.client.execute(completeUpload(whole, parts))
  t.match(done.etag, /^[0-9a-f]{32}-10000$/)
  t.match(store.catalog.object(bucketId, 'whole'), { size: 10_000 * FULL, etag: done.etag })
  t.same(await readObject(store, 'b', 'whole'), bytesOf(ALL))
  t.same(store.catalog.digestsPending(10), [whole.upload])

  const odd = ALL.filter((part) => part % 2 === 1)
  const half = await uploadOf(store, 'half')
  const listedParts = (await writeParts(store, half, ALL)).filter(({ part }) => part % 2 === 1)
  await store.client.execute(completeUpload(half, listedParts))
  t.same(await readObject(store, 'b', 'half'), bytesOf(odd))

  const none = await uploadOf(store, 'none')
  await writeParts(store, none, ALL)
  await store.client.execute(abortUpload(none))
  t.same(store.catalog.uploadUsage(), { uploads: 0, parts: 0, bytes: 0 })
  t.equal(store.catalog.storedPayloads(0, 40_000).length, 10_000 + 1 + 5000 + 1, 'what was dropped is gone')
  await store.close(true)
  t.match(await checkProjections(roomyDisk, store.paths), { differenceCount: 0 }, 'replay makes the same rows')
})

test('a completion is answered alike when it is asked for again, and only then', async (t) => {
  const store = await openTestStore(t.testdir())
  await store.client.execute(createBucket('b'))
  await store.client.execute(setVersioning('b', 'enabled'))
  const name = await uploadOf(store, 'k')
  const [first, second] = (await writeParts(store, name, [1, 2])) as [ListedPart, ListedPart]
  await t.rejects(store.client.execute(completeUpload(name, [first, { part: 3, etag: EMPTY }])), {
    code: 'part-not-found',
    subject: '3',
  })
  const done = await store.client.execute(completeUpload(name, [first, second]))
  const again = await store.client.execute(completeUpload(name, [first, second]))
  t.match(again, { etag: done.etag, version: done.version })
  t.equal(store.catalog.listVersions(store.catalog.bucket('b')?.id ?? 0, EVERYTHING).entries.length, 1)
  const gone = { code: 'upload-not-found' }
  await t.rejects(store.client.execute(completeUpload(name, [first])), gone, 'another list')
  await t.rejects(store.client.execute(completeUpload({ ...name, key: 'other' }, [first, second])), gone, 'another key')
  await t.rejects(store.client.execute(writePart(name, 3, Buffer.from('late'))), gone)
  await t.rejects(store.client.execute(abortUpload(name)), gone)
  await store.client.execute(deleteVersion('b', 'k', done.version ?? 'null'))
  await t.rejects(store.client.execute(completeUpload(name, [first, second])), gone, 'what it made is deleted')
  await store.close(true)
})

const EVERYTHING = { prefix: Buffer.alloc(0), delimiter: undefined, after: undefined, entriesMaximum: 100 }

test('the digest of a multipart payload is noted once, and never for one that is gone', async (t) => {
  const store = await openTestStore(t.testdir())
  const { sequence: bucketId } = await store.client.execute(createBucket('b'))
  const name = await uploadOf(store, 'k')
  const parts = await writeParts(store, name, [1, 2])
  await store.client.execute(completeUpload(name, parts))
  const digest = Buffer.alloc(32, 7)
  await store.client.execute(recordDigest(name.upload, digest))
  await store.client.execute(recordDigest(name.upload, Buffer.alloc(32, 8)))
  const { payload = 0 } = store.catalog.object(bucketId, 'k') ?? {}
  t.equal(payload, name.upload)
  t.match(store.catalog.payload(payload), { kind: 'parts', digest })
  t.same(store.catalog.digestsPending(10), [])
  await store.client.execute(recordDigest(payload + 1, digest))
  t.notMatch(store.catalog.payload(payload + 1), { digest }, 'what is no multipart payload has no digest')
  await store.client.execute(write('b', 'k', Buffer.from('over it')))
  await store.client.execute(recordDigest(payload, digest))
  t.equal(store.catalog.payload(payload), undefined)
  await store.close(true)
  t.match(await checkProjections(roomyDisk, store.paths), { differenceCount: 0 })
})

test('uploads outlive their bucket until they are reclaimed, and are none of the next one of its name', async (t) => {
  const root = t.testdir()
  const store = await openTestStore(root)
  const { sequence: bucketId } = await store.client.execute(createBucket('b'))
  const name = await uploadOf(store, 'k')
  await writeParts(store, name, [1])
  const bytes = Buffer.from('a part in a file of its own')
  const file = await storeFile(store, bytes)
  const inFile = writePart(name, 2, bytes)
  await store.client.execute({ ...inFile, body: { kind: 'file', name: file, sealed: false } })
  await store.client.execute(deleteBucket('b'))
  const { sequence: next } = await store.client.execute(createBucket('b'))
  const gone = { code: 'upload-not-found' }
  await t.rejects(store.client.execute(writePart(name, 3, bytes)), gone)
  await t.rejects(store.client.execute(completeUpload(name, [{ part: 2, etag: md5Of(bytes) }])), gone)
  await t.rejects(store.client.execute(abortUpload(name)), gone)
  t.equal(store.catalog.upload(next, 'k', name.upload), undefined)
  t.same(store.catalog.listUploads(next, EVERYTHING).entries, [])
  t.match(store.catalog.uploadsInProgress(undefined, 10), [{ bucketId, key: 'k', upload: name.upload }])
  t.match(store.catalog.uploadUsage(), { uploads: 1, parts: 2 })
  await store.close(false)

  const again = await openTestStore(root)
  t.ok(existsSync(again.paths.file(file)))
  await again.client.execute(reclaimUpload(next, 'k', name.upload))
  t.match(again.catalog.uploadUsage(), { uploads: 1, parts: 2 }, 'named by another bucket it is not there')
  await again.client.execute(reclaimUpload(bucketId, 'k', name.upload))
  await again.client.execute(reclaimUpload(bucketId, 'k', name.upload))
  t.same(again.catalog.uploadUsage(), { uploads: 0, parts: 0, bytes: 0 })
  t.same(again.catalog.storedPayloads(0, 10), [])
  while (existsSync(again.paths.file(file))) await setTimeout(5)
  t.pass('and its files are removed')
  await again.close(true)
  t.match(await checkProjections(roomyDisk, again.paths), { differenceCount: 0 })
})

test('an object of empty parts alone has no bytes, and gives back what it holds', async (t) => {
  const store = await openTestStore(t.testdir())
  const { sequence: bucketId } = await store.client.execute(createBucket('b'))
  const name = await uploadOf(store, 'k')
  await store.client.execute(writePart(name, 7, Buffer.alloc(0)))
  await store.client.execute(completeUpload(name, [{ part: 7, etag: EMPTY }]))
  t.match(store.catalog.object(bucketId, 'k'), { size: 0, etag: /-1$/ })
  t.same(await readObject(store, 'b', 'k'), Buffer.alloc(0))
  await store.client.execute(write('b', 'k', Buffer.from('x')))
  t.equal(store.catalog.storedPayloads(0, 10).length, 1)
  t.same(store.catalog.digestsPending(10), [])
  await store.close(true)
})
