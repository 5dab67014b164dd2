/** Which objects a payload belongs to, when it is shared by copies, by parts, and by objects of parts. */
import { test } from 'tap'
import { bucketIdOf, type PayloadId, sequenceOf } from '../../engine/brands.ts'
import { HolderSearch } from '../../projections/catalog/payload-holders.ts'
import { copyObject, createBucket, md5Of, write } from '../support/commands.ts'
import { openTestStore, type TestStore } from '../support/test-store.ts'
import { completeUpload, copyPart, createUpload, writePart } from '../support/upload-commands.ts'

/** What holds a payload, as `key` or `key (upload)`; reads one row at a time. */
function holdersOf(store: TestStore, payload: PayloadId, each: number): string[] {
  const row = store.catalog
    .snapshot()
    .storedPayloads(-1, 100)
    .find((one) => one.payload === payload)
  if (row === undefined) throw new Error(`payload ${payload} is not there`)
  const search = new HolderSearch([row], each)
  while (store.catalog.snapshot().searchHolders(search, 1));
  return search.holdersOf(payload).map(({ key, version }) => (version === undefined ? `${key} (upload)` : key))
}

test('every object that has the payload is named, whole or as a part', async (t) => {
  const store = await openTestStore(t.testdir())
  const bucket = await store.client.execute(createBucket('b'))
  const bytes = Buffer.from('bytes that many things share')
  const { sequence } = await store.client.execute(write('b', 'a', bytes))
  const from = { bucket: 'b', key: 'a', sequence }
  const { payload } = store.catalog.snapshot().object(bucketIdOf(bucket.sequence), 'a') ?? {}
  if (payload === undefined) throw new Error('no payload')
  t.same(holdersOf(store, payload, 10), ['a'])

  await store.client.execute(copyObject(from, { bucket: 'b', key: 'copy' }))
  const upload = { bucket: 'b', key: 'made', upload: (await store.client.execute(createUpload('b', 'made'))).sequence }
  await store.client.execute(copyPart(upload, 1, from))
  await store.client.execute(writePart(upload, 2, Buffer.from('bytes of its own')))
  t.same(holdersOf(store, payload, 10), ['a', 'copy', 'made (upload)'])
  await store.client.execute(copyPart(upload, 2, from))
  t.same(holdersOf(store, payload, 10), ['a', 'copy', 'made (upload)'], 'once, though two parts have it')
  await store.client.execute(writePart(upload, 2, Buffer.from('bytes of its own')))

  const { sequence: made } = await store.client.execute(completeUpload(upload, [{ part: 1, etag: md5Of(bytes) }]))
  await store.client.execute(copyObject({ bucket: 'b', key: 'made', sequence: made }, { bucket: 'b', key: 'remade' }))
  const open = { bucket: 'b', key: 'open', upload: (await store.client.execute(createUpload('b', 'open'))).sequence }
  await store.client.execute(copyPart(open, 7, from))
  t.same(holdersOf(store, payload, 10), ['a', 'copy', 'made', 'remade', 'open (upload)'])
  t.same(holdersOf(store, payload, 3), ['a', 'copy', 'made'], 'no more than were asked for')
  await t.rejects(
    store.client.execute(copyPart(open, 8, { bucket: 'b', key: 'made', sequence: made })),
    { code: 'command-failed' },
    'an object of parts has no MD5 that a part could have',
  )
  await t.rejects(
    store.client.execute(copyPart(open, 8, { ...from, sequence: sequenceOf(sequence + 1) })),
    { code: 'source-changed' },
    'another version is there',
  )
  await store.close(true)
})
