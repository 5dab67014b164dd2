/**
 * Quotas of buckets: no writes pass them together, however many are decided in one batch (specification, Storage accounting).
 * Proves: DO-CAP-16, DO-ACC-01, DO-ACC-02.
 */
import { join } from 'node:path'
import * as fc from 'fast-check'
import { test } from 'tap'
import { bucketIdOf } from '../../engine/brands.ts'
import type { Command } from '../../engine/commands/commands.ts'
import type { Quota } from '../../engine/events/values.ts'
import { copyObject, createBucket, deleteObject, write } from '../support/commands.ts'
import { openTestStore, type TestStore } from '../support/test-store.ts'
import { completeUpload, createUpload, writePart } from '../support/upload-commands.ts'
import { deleteVersion, setQuota, setVersioning } from '../support/version-commands.ts'

/** Segments are so large that many commands share a batch. */
const SIZES = { segmentBytes: 1 << 20 }
const EVERYTHING = { prefix: Buffer.alloc(0), delimiter: undefined, after: undefined, entriesMaximum: 1000 }
const RUNS = 20

/** Of the current objects as they are listed; the counters have no part in it. */
function listedUsage(store: TestStore): { readonly objects: number; readonly bytes: number } {
  const { objects } = store.catalog
    .snapshot()
    .list(bucketIdOf(store.catalog.snapshot().bucket('b')?.id ?? 0), EVERYTHING)
  return { objects: objects.length, bytes: objects.reduce((total, { size }) => total + size, 0) }
}

function codeOf(error: { readonly code?: string }): string {
  return error.code ?? String(error)
}

/** Sends all at once; gives the codes of those that were refused and `done` for the others. */
function outcomes(store: TestStore, commands: readonly Command[]): Promise<string[]> {
  return Promise.all(commands.map((command) => store.client.execute(command).then(() => 'done', codeOf)))
}

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
type Step = readonly ['write' | 'copy' | 'delete' | 'complete', key: string, size: number, from: string]
const step: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom('write', 'write', 'copy', 'complete', 'delete'),
  key,
  fc.nat({ max: 400 }),
  key,
)
const quota: fc.Arbitrary<Quota> = fc.record({
  bytes: fc.option(fc.nat({ max: 1500 }), { nil: undefined }),
  objects: fc.option(fc.nat({ max: 5 }), { nil: undefined }),
})

/** A completion's upload and part are made before the batch. */
async function commandOf(store: TestStore, [kind, name, size, from]: Step): Promise<Command> {
  const bytes = Buffer.alloc(size, 1)
  switch (kind) {
    case 'write':
      return write('b', name, bytes)
    case 'delete':
      return deleteObject('b', name)
    case 'copy': {
      const { sequence = 1 } =
        store.catalog.snapshot().object(bucketIdOf(store.catalog.snapshot().bucket('b')?.id ?? 0), from) ?? {}
      return copyObject({ bucket: 'b', key: from, sequence }, { bucket: 'b', key: name }, { headers: [], metadata: [] })
    }
    case 'complete': {
      const { sequence: upload } = await store.client.execute(createUpload('b', name))
      const { etag = '' } = await store.client.execute(writePart({ bucket: 'b', key: name, upload }, 1, bytes))
      return completeUpload({ bucket: 'b', key: name, upload }, [{ part: 1, etag }])
    }
  }
}

test('no batch of writes passes a quota', async (t) => {
  const root = t.testdir()
  let runs = 0
  let refused = 0
  const versioning = fc.constantFrom('off' as const, 'enabled' as const, 'suspended' as const)
  const batches = fc.array(fc.array(step, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(versioning, quota, batches, async (state, limits, all) => {
      const store = await openTestStore(join(root, String((runs += 1))), SIZES)
      await store.client.execute(createBucket('b'))
      if (state !== 'off') await store.client.execute(setVersioning('b', state))
      await store.client.execute(setQuota('b', limits))
      const { bytes = Number.POSITIVE_INFINITY, objects = Number.POSITIVE_INFINITY } = limits
      for (const steps of all) {
        const commands: Command[] = []
        // Parts count too, and what is judged here are completions.
        await store.client.execute(setQuota('b', {}))
        for (const one of steps) commands.push(await commandOf(store, one))
        await store.client.execute(setQuota('b', limits))
        const codes = await outcomes(store, commands)
        refused += codes.filter((code) => code === 'quota-exceeded').length
        const usage = listedUsage(store)
        const counted = store.catalog.snapshot().bucketUsage(bucketIdOf(store.catalog.snapshot().bucket('b')?.id ?? 0))
        if (usage.bytes > bytes || usage.objects > objects) throw new Error(`${JSON.stringify(usage)} passes the quota`)
        if (counted.bytes !== usage.bytes || counted.objects !== usage.objects) throw new Error('counted otherwise')
      }
      await store.close(true)
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
  t.equal(runs, RUNS)
  t.ok(refused > RUNS, `${refused} refused`)
})

function sized(name: string, size: number): Command {
  return write('b', name, Buffer.alloc(size, 1))
}

test('exactly as many writes of a batch succeed as have room', async (t) => {
  const store = await openTestStore(t.testdir(), SIZES)
  await store.client.execute(createBucket('b'))
  await store.client.execute(setQuota('b', { objects: 7 }))
  const twenty = Array.from({ length: 20 }, (_, index) => write('b', `key-${index}`, Buffer.from('x')))
  const codes = await outcomes(store, twenty)
  t.same(codes, [...Array.from({ length: 7 }, () => 'done'), ...Array.from({ length: 13 }, () => 'quota-exceeded')])
  t.same(await outcomes(store, twenty.slice(0, 7)), codes.slice(0, 7), 'what is there may be written over')
  t.same(
    await outcomes(store, [deleteObject('b', 'key-0'), ...twenty.slice(7, 9)]),
    ['done', 'done', 'quota-exceeded'],
    'a deletion makes room for one in the same batch',
  )
  await store.client.execute(setQuota('b', { bytes: 10 }))
  t.same(listedUsage(store), { objects: 7, bytes: 7 })
  const mixed = [sized('key-1', 5), sized('new', 0), sized('key-2', 1), sized('key-1', 4), sized('key-3', 2)]
  t.same(await outcomes(store, mixed), ['quota-exceeded', 'done', 'done', 'done', 'quota-exceeded'])
  t.same(listedUsage(store), { objects: 8, bytes: 10 }, 'up to the last byte')
  await store.close(true)
})

test('over its quota a bucket takes what makes it no larger, and lets go of everything', async (t) => {
  const store = await openTestStore(t.testdir(), SIZES)
  const { sequence: bucketId } = await store.client.execute(createBucket('b'))
  await store.client.execute(setVersioning('b', 'enabled'))
  const { version: large = 0 } = await store.client.execute(write('b', 'k', Buffer.alloc(100, 1)))
  await store.client.execute(write('b', 'k', Buffer.alloc(10, 1)))
  t.match(store.catalog.snapshot().bucketUsage(bucketIdOf(bucketId)), {
    objects: 1,
    bytes: 10,
    noncurrent: 1,
    noncurrentBytes: 100,
  })
  await store.client.execute(setQuota('b', { bytes: 5, objects: 0 }))
  const codes = await outcomes(store, [
    write('b', 'k', Buffer.alloc(11, 1)),
    write('b', 'k', Buffer.alloc(10, 2)),
    write('b', 'k', Buffer.alloc(9, 2)),
    write('b', 'k', Buffer.alloc(10, 2)),
    write('b', 'other', Buffer.alloc(0)),
    deleteObject('b', 'k'),
    write('b', 'k', Buffer.alloc(0)),
  ])
  const over = 'quota-exceeded'
  t.same(codes, [over, 'done', 'done', over, over, 'done', over])
  const newest = store.catalog.snapshot().newestVersion(bucketIdOf(bucketId), 'k')
  t.match(newest, { isMarker: true })
  t.match(store.catalog.snapshot().bucketUsage(bucketIdOf(bucketId)), { objects: 0, bytes: 0, markers: 1 })
  await store.client.execute(deleteVersion('b', 'k', newest?.sequence ?? 0))
  t.match(
    store.catalog.snapshot().bucketUsage(bucketIdOf(bucketId)),
    { objects: 1, bytes: 9, markers: 0 },
    'what comes back is not refused',
  )
  await store.client.execute(setQuota('b', {}))
  t.same(await outcomes(store, [write('b', 'other', Buffer.alloc(1000, 1))]), ['done'], 'unlimited again')
  await store.client.execute(deleteVersion('b', 'k', large))
  await store.close(true)
})
