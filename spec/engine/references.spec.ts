/**
 * How much a bucket may hold by references, and that its counters are those of its history (spec/decisions/0020).
 * Proves: DO-ACC-02.
 */
import { test } from 'tap'
import { bucketIdOf } from '../../engine/brands.ts'
import { REFERENCES_ALWAYS_ALLOWED_BYTES } from '../../engine/domain/quota.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { appendObject, copyObject, createBucket, deleteBucket, deleteObject, write } from '../support/commands.ts'
import { openTestStore, roomyDisk, type TestStore } from '../support/test-store.ts'
import {
  abortUpload,
  completeUpload,
  copyPart,
  createUpload,
  reclaimUpload,
  writePart,
} from '../support/upload-commands.ts'
import { setQuota, setVersioning } from '../support/version-commands.ts'

const MEBIBYTE = 1024 ** 2
/** Of one copy in the tests: the commands say so, and send few bytes. */
const HALF = REFERENCES_ALWAYS_ALLOWED_BYTES / 2
const BYTES = Buffer.from('0123456789')
/** The name of a payload file that nobody reads. */
const FILE = '0'.repeat(28)
const REFUSED = { code: 'too-many-references' }

function usage(store: TestStore, bucket: string) {
  const snapshot = store.catalog.snapshot()
  return snapshot.bucketUsage(bucketIdOf(snapshot.bucket(bucket)?.id ?? 0))
}

/** An object that says it has so many bytes, with few that are stored. */
async function putClaimed(store: TestStore, bucket: string, key: string, size: number) {
  const { sequence } = await store.client.execute({ ...write(bucket, key, BYTES), size })
  return { bucket, key, sequence }
}

test('copies grow a bucket to the bytes that are always allowed, and beyond them by the ratio', async (t) => {
  const store = await openTestStore(t.testdir(), { referenceRatioMaximum: 2 })
  await store.client.execute(createBucket('b'))
  const from = await putClaimed(store, 'b', 'source', HALF)
  const copyTo = (key: string) => store.client.execute(copyObject(from, { bucket: 'b', key }))
  await copyTo('one')
  t.match(usage(store, 'b'), { bytes: 2 * HALF, receivedBytes: BYTES.length })
  await t.rejects(copyTo('two'), REFUSED)
  await copyTo('one')
  await store.client.execute(deleteObject('b', 'one'))
  await copyTo('two')
  await t.rejects(copyTo('three'), REFUSED)
  await store.client.execute(write('b', 'written', BYTES))
  t.match(usage(store, 'b'), { bytes: 2 * HALF + 10, receivedBytes: 20 }, 'writes are never refused')
  await store.close(true)
})

test('versions, parts and appends that share bytes count, and what they replace does not', async (t) => {
  const store = await openTestStore(t.testdir())
  await store.client.execute(createBucket('b'))
  const from = await putClaimed(store, 'b', 'source', HALF)
  const { sequence: upload } = await store.client.execute(createUpload('b', 'parts'))
  const name = { bucket: 'b', key: 'parts', upload }
  await store.client.execute(copyPart(name, 1, from))
  await store.client.execute(copyPart(name, 1, from))
  t.match(usage(store, 'b'), { bytes: HALF, uploadBytes: HALF })
  await t.rejects(store.client.execute(copyPart(name, 2, from)), REFUSED)
  await store.client.execute(appendObject('b', 'source', HALF, BYTES))
  t.match(
    usage(store, 'b'),
    { bytes: HALF + 10, receivedBytes: 20 },
    'an append that replaces the object shares nothing',
  )
  await store.client.execute(setVersioning('b', 'enabled'))
  await t.rejects(store.client.execute(appendObject('b', 'source', HALF + 10, BYTES)), REFUSED)
  await store.client.execute(abortUpload(name))
  const before = store.catalog.snapshot().object(bucketIdOf(store.catalog.snapshot().bucket('b')?.id ?? 0), 'source')
  t.equal(before?.size, HALF + 10)
  await t.rejects(store.client.execute(appendObject('b', 'source', HALF + 10, BYTES)), REFUSED)
  t.match(usage(store, 'b'), { bytes: HALF + 10, noncurrentBytes: 0, uploadBytes: 0, receivedBytes: 20 })
  await store.close(true)
})

test('a bucket that has copies of another one may share as much as that one', async (t) => {
  const store = await openTestStore(t.testdir(), { referenceRatioMaximum: 2 })
  for (const bucket of ['a', 'b', 'c']) await store.client.execute(createBucket(bucket))
  // Received in full: a file's length is what the command says.
  const body = { kind: 'file', name: FILE, sealed: false } as const
  const size = 3 * HALF
  const { sequence } = await store.client.execute({ ...write('a', 'k', BYTES), size, body })
  const copied = await store.client.execute(copyObject({ bucket: 'a', key: 'k', sequence }, { bucket: 'b', key: 'k' }))
  t.match(usage(store, 'b'), { bytes: size, receivedBytes: size })
  await store.client.execute(deleteObject('a', 'k'))
  await store.client.execute(deleteBucket('a'))
  const from = { bucket: 'b', key: 'k', sequence: copied.sequence }
  await store.client.execute(copyObject(from, { bucket: 'b', key: 'moved' }))
  await t.rejects(store.client.execute(copyObject(from, { bucket: 'b', key: 'again' })), REFUSED)
  for (const key of ['one', 'two']) await store.client.execute(copyObject(from, { bucket: 'c', key }))
  await t.rejects(store.client.execute(copyObject(from, { bucket: 'c', key: 'three' })), REFUSED)
  t.match(usage(store, 'c'), { receivedBytes: size }, 'to and fro adds nothing')
  await store.client.execute(copyObject({ ...from, bucket: 'b' }, { bucket: 'c', key: 'one' }))
  t.match(usage(store, 'c'), { receivedBytes: size })
  await store.kill()
  t.match(await checkProjections(roomyDisk, store.paths), { differenceCount: 0 })
})

test('parts count against the quota when they are stored, and are given back by completion and abort', async (t) => {
  const store = await openTestStore(t.testdir())
  const { sequence: bucketId } = await store.client.execute(createBucket('b'))
  await store.client.execute(setQuota('b', { bytes: 20 * MEBIBYTE }))
  const start = async (key: string) => ({
    bucket: 'b',
    key,
    upload: (await store.client.execute(createUpload('b', key))).sequence,
  })
  const put = (name: Awaited<ReturnType<typeof start>>, part: number, mebibytes: number) =>
    store.client.execute(writePart(name, part, BYTES, mebibytes * MEBIBYTE))
  const over = { code: 'quota-exceeded' }
  const one = await start('one')
  const { etag = '' } = await put(one, 1, 8)
  await put(one, 2, 8)
  t.match(usage(store, 'b'), { bytes: 0, uploadBytes: 16 * MEBIBYTE })
  await t.rejects(put(one, 3, 8), over)
  const two = await start('two')
  await t.rejects(put(two, 1, 8), over, 'parts of other uploads count')
  await put(one, 2, 12)
  await t.rejects(put(one, 2, 13), over, 'up to the last byte, a part that is replaced does not count')
  await store.client.execute({ ...write('b', 'k', BYTES), size: 10 * MEBIBYTE })
  await store.client.execute(completeUpload(one, [{ part: 1, etag }]))
  t.match(usage(store, 'b'), { bytes: 18 * MEBIBYTE, uploadBytes: 0 }, 'writes are judged by current versions alone')
  const again = await start('one')
  await put(again, 1, 10)
  await t.rejects(put(again, 2, 5), over, 'but for the object that is to be replaced')
  await store.client.execute(abortUpload(again))
  t.match(usage(store, 'b'), { bytes: 18 * MEBIBYTE, uploadBytes: 0 })
  const last = await start('last')
  await put(last, 1, 2)
  for (const key of ['k', 'one']) await store.client.execute(deleteObject('b', key))
  await store.client.execute(deleteBucket('b'))
  await store.client.execute(reclaimUpload(bucketId, 'last', last.upload))
  t.match(store.catalog.snapshot().bucketUsage(bucketIdOf(bucketId)), { uploadBytes: 0, receivedBytes: 0 })
  await store.kill()
  t.match(await checkProjections(roomyDisk, store.paths), { differenceCount: 0 })
})
