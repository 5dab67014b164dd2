/** A batch of the engine is bounded by the rows that it changes, so that what costs much comes alone (spec/decisions/0174). */
import { test } from 'tap'
import type { Command } from '../../engine/commands/commands.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { auditOf, createBucket, deleteObject, write } from '../support/commands.ts'
import { openTestStore, readObject, roomyDisk, type TestStore } from '../support/test-store.ts'
import { abortUpload, completeUpload, createUpload, writePart } from '../support/upload-commands.ts'

const PARTS = 1200
const PART_BYTES = 5 * 1024 ** 2
const KEYS = ['a', 'b', 'c', 'd', 'e']
const SIZES = { segmentBytes: 32 << 20, volumeBytes: 32 << 20 }

/** An upload of parts that say they are large. */
async function upload(store: TestStore, key: string) {
  const { sequence } = await store.client.execute(createUpload('b', key))
  const name = { bucket: 'b', key, upload: sequence }
  const parts = Array.from({ length: PARTS }, (_, index) => index + 1)
  const written = await Promise.all(
    parts.map((part) => store.client.execute(writePart(name, part, Buffer.from(`${key} ${part}`), PART_BYTES))),
  )
  return { name, listed: written.map(({ etag = '' }, index) => ({ part: index + 1, etag })) }
}

async function objectsOfParts(store: TestStore): Promise<void> {
  await store.client.execute(createBucket('b'))
  for (const key of KEYS) {
    const { name, listed } = await upload(store, key)
    await store.client.execute(completeUpload(name, listed))
  }
}

function deletionOf(keys: readonly string[]): Extract<Command, { kind: 'delete-objects' }> {
  const deletions = keys.map((key) => ({ key, condition: { kind: 'none' }, metadata: [] }) as const)
  const audit = auditOf('s3:DELETE', 'bucket:b')
  return { kind: 'delete-objects', audit, bucket: 'b', bypassGovernance: false, deletions }
}

test('a list of keys with many parts goes on in later batches, and others come in between', async (t) => {
  const store = await openTestStore(t.testdir(), SIZES)
  await objectsOfParts(store)
  const { batches } = store.journal.statistics
  const first = await store.client.execute(deletionOf(KEYS))
  t.equal(first.deletions?.length, 2, 'what a batch does not take is not carried out')
  const [second, between] = await Promise.all([
    store.client.execute(deletionOf(KEYS.slice(2))),
    store.client.execute(write('b', 'between', Buffer.from('bytes'))),
  ])
  t.equal(second.deletions?.length, 2)
  t.ok(between.sequence > second.sequence)
  const third = await store.client.execute(deletionOf(KEYS.slice(4)))
  t.equal(third.deletions?.length, 1)
  t.equal(store.journal.statistics.batches, batches + 4, 'the write began a batch of its own')
  t.same(await readObject(store, 'b', 'between'), Buffer.from('bytes'))
  t.equal(store.catalog.snapshot().totals().physicalBytes, 5)
  await store.kill()
  t.match(await checkProjections(roomyDisk, store.paths), { differenceCount: 0 })
})

test('deletions, completions and aborts of many parts share a batch as far as it takes their rows', async (t) => {
  const store = await openTestStore(t.testdir(), SIZES)
  await objectsOfParts(store)
  const uploads = [await upload(store, 'f'), await upload(store, 'g')]
  const { batches } = store.journal.statistics
  await Promise.all([
    ...KEYS.map((key) => store.client.execute(deleteObject('b', key))),
    ...uploads.map(({ name }) => store.client.execute(abortUpload(name))),
    store.client.execute(write('b', 'last', Buffer.from('x'))),
  ])
  // a and b; c and d; e and the abort of f; the abort of g, which changes parts and payloads; the write.
  t.equal(store.journal.statistics.batches, batches + 5)
  t.equal(store.catalog.snapshot().totals().physicalBytes, 1)
  await store.kill()
  t.match(await checkProjections(roomyDisk, store.paths), { differenceCount: 0 })
})
