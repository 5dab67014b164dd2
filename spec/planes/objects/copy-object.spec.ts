/** Copies whose source is replaced between the look and the copy. */
import { rmSync } from 'node:fs'
import { type Test, test } from 'tap'
import type { VersionSelector } from '../../../engine/commands/version-name.ts'
import { DomainError } from '../../../engine/errors.ts'
import { RequestJournal } from '../../../planes/exchange/request-journal.ts'
import { copyVersion } from '../../../planes/objects/copy-object.ts'
import { findObject, type FoundObject } from '../../../planes/objects/find-object.ts'
import { auditOf, createBucket, deleteObject, write } from '../../support/commands.ts'
import { temporaryDirectory } from '../../support/test-clients.ts'
import { openTestStore, readObject, type TestStore } from '../../support/test-store.ts'

async function storeFor(t: Test): Promise<TestStore> {
  const root = temporaryDirectory()
  const store = await openTestStore(root)
  t.teardown(async () => {
    await store.close(true)
    rmSync(root, { recursive: true })
  })
  await store.client.execute(createBucket('b'))
  await store.client.execute(write('b', 'source', Buffer.from('bytes 0')))
  return store
}

function find(store: TestStore, version?: VersionSelector): FoundObject {
  const snapshot = store.catalog.snapshot()
  const bucket = snapshot.bucket('b')
  const found = bucket && findObject(snapshot, bucket, 'source', version)
  if (found?.kind !== 'found') throw new Error('no source')
  return found
}

/** Copies the source; `meanwhile` is called each time it has been found, before the copy reaches the engine. */
function copy(store: TestStore, meanwhile: (reads: number) => void, version?: VersionSelector) {
  const journal = new RequestJournal(store.client, { audit: () => auditOf('s3:PUT', 'bucket:b/copy') })
  const target = { bucket: 'b', key: 'copy', replacement: undefined, condition: { kind: 'none' } } as const
  let reads = 0
  const findThen = () => {
    const found = find(store, version)
    reads += 1
    meanwhile(reads)
    return found
  }
  return copyVersion(journal, target, findThen, () => []).then(
    ({ source }) => ({ source, reads }),
    (error: unknown) => ({ error, reads }),
  )
}

function replace(store: TestStore, text: string): void {
  void store.client.execute(write('b', 'source', Buffer.from(text)))
}

test('a copy reads its source again when it was replaced meanwhile', async (t) => {
  const store = await storeFor(t)
  const done = await copy(store, (reads) => {
    if (reads < 5) replace(store, `bytes ${reads}`)
  })
  t.match(done, { reads: 5, source: { object: { size: 7 } } })
  t.same(await readObject(store, 'b', 'copy'), Buffer.from('bytes 4'))
})

test('a copy of the version null is one of the version that was found', async (t) => {
  const store = await storeFor(t)
  const done = await copy(store, (reads) => void (reads === 1 && replace(store, 'another')), 'null')
  t.match(done, { reads: 2 })
  t.same(await readObject(store, 'b', 'copy'), Buffer.from('another'))
})

test('a copy gives up when its source is replaced each time', async (t) => {
  const store = await storeFor(t)
  const { reads, ...rest } = await copy(store, (count) => replace(store, `bytes ${count}`))
  t.equal(reads, 5)
  t.match(rest, { error: new DomainError('source-changed') })
  t.equal(await readObject(store, 'b', 'copy'), undefined)
})

test('a copy whose source is deleted meanwhile is refused, and not tried again', async (t) => {
  const store = await storeFor(t)
  const gone = await copy(store, () => void store.client.execute(deleteObject('b', 'source')))
  t.match(gone, { reads: 1, error: new DomainError('object-not-found', 'source') })
})
