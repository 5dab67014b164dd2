/** Uploads that nobody completes are aborted by the system after some days (spec/decisions/0020). */
import { test } from 'tap'
import { bucketIdOf } from '../../engine/brands.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { UploadReclaim } from '../../workers/reclaim-uploads.ts'
import { createBucket, deleteBucket } from '../support/commands.ts'
import { journalEntries } from '../support/journal-entries.ts'
import { openTestStore, roomyDisk, type TestStore } from '../support/test-store.ts'
import { completeUpload, createUpload, writePart } from '../support/upload-commands.ts'

const DAY = 86_400_000
const BEGIN = Date.UTC(2026, 0, 1)
const uploadIds = { encode: (id: number) => `upload-${id}` }

async function upload(store: TestStore, key: string) {
  const { sequence } = await store.client.execute(createUpload('b', key))
  const name = { bucket: 'b', key, upload: sequence }
  const { etag = '' } = await store.client.execute(writePart(name, 1, Buffer.from(key)))
  return { name, listed: [{ part: 1, etag }] }
}

function left(store: TestStore): string[] {
  return store.catalog
    .snapshot()
    .uploadsInProgress(undefined, 1000)
    .map(({ key }) => key)
}

test('an upload is dropped so many days after it was created, as an abort that the system records', async (t) => {
  const root = t.testdir()
  let now = BEGIN
  const store = await openTestStore(root, { clock: () => now * 1000 })
  const { sequence: bucketId } = await store.client.execute(createBucket('b'))
  const worker = new UploadReclaim(store.client, store.catalog, { afterDays: 7, clock: () => now, uploadIds })
  await upload(store, 'old')
  const kept = await upload(store, 'completed')
  now += 3 * DAY
  await upload(store, 'young')
  now = BEGIN + 7 * DAY - 60_001
  t.equal(await worker.step(), 'idle')
  t.same(left(store), ['completed', 'old', 'young'])
  await store.client.execute(completeUpload(kept.name, kept.listed))
  now = BEGIN + 7 * DAY + 1
  await worker.step()
  t.same(left(store), ['young'])
  t.match(worker.status, /1 old/)
  const usage = store.catalog.snapshot().bucketUsage(bucketIdOf(bucketId))
  t.match(usage, { objects: 1, uploadBytes: 5 }, 'its parts are given back')
  now += 30_000
  await upload(store, 'other')
  await store.client.execute({ ...createUpload('b', 'third') })
  now = BEGIN + 30 * DAY
  await worker.step()
  t.same(left(store), [])
  await store.kill()
  const entries = journalEntries(root).filter(({ operation }) => operation === 'upload.reclaim')
  t.match(entries.slice(0, 2), [
    { principal: 'system:uploads', result: 'attempted', resource: 'bucket:b/old' },
    { principal: 'system:uploads', result: 'success', changes: [{ name: 'upload.aborted', key: 'old', bytes: 3 }] },
  ])
  t.equal(entries.at(1)?.details.get('reason'), 'abandoned')
  t.match(entries.at(1)?.details.get('upload_id'), /^upload-\d+$/)
  t.match(await checkProjections(roomyDisk, store.paths), { differenceCount: 0 })
})

test('with 0 days only those of deleted buckets are dropped', async (t) => {
  let now = BEGIN
  const root = t.testdir()
  const store = await openTestStore(root, { clock: () => now * 1000 })
  await store.client.execute(createBucket('b'))
  const worker = new UploadReclaim(store.client, store.catalog, { afterDays: 0, clock: () => now, uploadIds })
  for (let index = 0; index < 120; index += 1) await store.client.execute(createUpload('b', `key-${index}`))
  now += 1000 * DAY
  await worker.step()
  t.equal(left(store).length, 120)
  await store.client.execute(deleteBucket('b'))
  t.equal(left(store).length, 20, 'a hundred end with their bucket, in its entry')
  await worker.step()
  t.same(left(store), [])
  await store.kill()
  const [, outcome] = journalEntries(root).filter(({ operation }) => operation === 'upload.reclaim')
  t.match(outcome, { result: 'success', resource: /^bucket:b\/key-\d+$/ }, 'under the name that the bucket had')
  t.equal(outcome?.details.get('reason'), 'bucket-deleted')
  t.match(await checkProjections(roomyDisk, store.paths), { differenceCount: 0 })
})
