/** Proves: RES-AUD-17, STA-AUD-01, STA-AUD-02, EVT-AUD-01. */
import { oneTime } from '../../engine/journal/record-times.ts'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { test } from 'tap'
import {
  bucketIdOf,
  microsecondsOf,
  millisecondsOf,
  type PayloadId,
  payloadIdOf,
  sequenceOf,
  volumeNumberOf,
} from '../../engine/brands.ts'
import type { DecidableCommand } from '../../engine/commands/commands.ts'
import { decide } from '../../engine/loop/decide.ts'
import { ruleHelpers } from '../../engine/loop/rule-helpers.ts'
import { DomainError } from '../../engine/errors.ts'
import type { Change } from '../../engine/events/changes.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import type { BucketState, ObjectState } from '../../engine/state-ports.ts'
import type { StoreState } from '../../engine/state-store.ts'
import { PayloadFileSweep } from '../../workers/sweep-payload-files.ts'
import { auditOf, copyObject, createBucket, deleteBucket, deleteObject, md5Of, write } from '../support/commands.ts'
import { FaultDisk } from '../support/disks/fault-disk.ts'
import { journalEntries } from '../support/journal-entries.ts'
import { differences } from '../support/model/model-differences.ts'
import { NO_STATE, NO_USAGE } from '../support/no-state.ts'
import { StoreModel } from '../support/model/store-model.ts'
import { history } from '../support/model/store-steps.ts'
import { runsOf } from '../support/share-of-cases.ts'
import { openTestStore, readObject, type TestStore } from '../support/test-store.ts'

const BYTES = Buffer.from('bytes')
const RUNS = runsOf(30, 10)
/** Segments are so large that several commands share a batch. */
const SIZES = { segmentBytes: 1 << 20, volumeBytes: 8192 }
const CURRENT: ObjectState = {
  sequence: sequenceOf(40),
  isNull: true,
  isMarker: false,
  lock: undefined,
  checksum: undefined,
  modifiedMicroseconds: microsecondsOf(1),
  size: 5,
  etag: md5Of(BYTES),
  digest: Buffer.alloc(32, 4),
  headers: ['content-type', 'image/png'],
  metadata: ['name', 'value'],
  payload: payloadIdOf(39),
}
/** Its row has zeros where a version has its ETag. */
const MARKER: ObjectState = {
  ...CURRENT,
  sequence: sequenceOf(50),
  isMarker: true,
  size: 0,
  payload: undefined,
  etag: '0'.repeat(32),
}
const PHOTOS: BucketState = {
  id: bucketIdOf(7),
  name: 'photos',
  region: 'eu',
  createdMicroseconds: microsecondsOf(1),
  versioning: 'off',
  lockEnabled: false,
  defaultRetention: undefined,
  quota: { bytes: undefined, objects: undefined },
}
const EMPTY: BucketState = { ...PHOTOS, id: bucketIdOf(9), name: 'empty' }

/** A store with `photos/there`, a delete marker on `hidden`, and the empty bucket `empty`. */
const STATE: StoreState = {
  ...NO_STATE,
  bucket: (name) => [PHOTOS, EMPTY].find((bucket) => bucket.name === name),
  object: (bucketId, key) => (bucketId === PHOTOS.id && key === 'there' ? CURRENT : undefined),
  version: (bucketId, key, version) =>
    bucketId === PHOTOS.id && key === 'there' && version === 'null' ? CURRENT : undefined,
  newestVersion: (_bucketId, key) => (key === 'hidden' ? MARKER : undefined),
  bucketIsEmpty: (bucketId) => bucketId === EMPTY.id,
  logicalUsage: (bucketId) => (bucketId === PHOTOS.id ? { ...NO_USAGE, objects: 1, bytes: 5 } : NO_USAGE),
}

/** When, and the changes or the code of the refusal. */
type Rule = readonly [when: string, command: DecidableCommand, outcome: readonly Partial<Change>[] | string]

const there = { bucket: 'photos', key: 'there', sequence: 40 }
const matches = (...etags: string[]) => ({ kind: 'matches', etags }) as const
const written = { name: 'object.written', bucketId: PHOTOS.id, key: 'there', etag: md5Of(BYTES) } as const

const RULES: readonly Rule[] = [
  ['a bucket is created', createBucket('new'), [{ name: 'bucket.created', bucketId: bucketIdOf(100) }]],
  ['a bucket is there', createBucket('photos'), 'bucket-exists'],
  [
    'the same bucket is there, in another region than the lenient one',
    { ...createBucket('photos'), region: 'eu' },
    'bucket-exists',
  ],
  ['an empty bucket is deleted', deleteBucket('empty'), [{ name: 'bucket.deleted', bucketId: EMPTY.id }]],
  ['a bucket holds objects', deleteBucket('photos'), 'bucket-not-empty'],
  ['no bucket is deleted', deleteBucket('none'), 'bucket-not-found'],
  ['an object is replaced', write('photos', 'there', BYTES), [{ ...written, replaced: true }]],
  ['an object is new', write('photos', 'new', BYTES), [{ key: 'new', replaced: false }]],
  ['there is no bucket', write('none', 'there', BYTES), 'bucket-not-found'],
  ['it has no bytes', write('photos', 'new', Buffer.alloc(0)), [{ payload: undefined, size: 0 }]],
  ['it must be absent', write('photos', 'there', BYTES, { kind: 'absent' }), 'precondition-failed'],
  ['it is absent', write('photos', 'new', BYTES, { kind: 'absent' }), [{ key: 'new' }]],
  ['it must exist', write('photos', 'new', BYTES, { kind: 'exists' }), 'object-not-found'],
  ['it exists', write('photos', 'there', BYTES, { kind: 'exists' }), [written]],
  ['another ETag', write('photos', 'there', BYTES, matches('f')), 'precondition-failed'],
  ['one of the ETags', write('photos', 'there', BYTES, matches('f', md5Of(BYTES))), [written]],
  ['an ETag of nothing', write('photos', 'new', BYTES, matches('f')), 'object-not-found'],
  [
    'an object is copied',
    copyObject(there, { bucket: 'empty', key: 'copy' }),
    [
      {
        name: 'object.written',
        bucketId: EMPTY.id,
        key: 'copy',
        size: 5,
        etag: CURRENT.etag,
        headers: CURRENT.headers,
        metadata: CURRENT.metadata,
        payload: { kind: 'shared', payload: payloadIdOf(39) },
        replaced: false,
      },
    ],
  ],
  [
    'a copy replaces the metadata',
    copyObject(there, there, { headers: ['a', 'b'], metadata: [] }),
    [{ headers: ['a', 'b'], metadata: [], payload: { kind: 'shared', payload: payloadIdOf(39) }, replaced: true }],
  ],
  ['a copy onto itself changes nothing', copyObject(there, there), 'copy-onto-itself'],
  ['the source changed', copyObject({ ...there, sequence: 39 }, there), 'source-changed'],
  ['the source is gone', copyObject({ ...there, key: 'x' }, there), 'object-not-found'],
  ['no source bucket', copyObject({ ...there, bucket: 'none' }, there), 'bucket-not-found'],
  ['no bucket to copy to', copyObject(there, { ...there, bucket: 'none' }), 'bucket-not-found'],
  ['an object is deleted', deleteObject('photos', 'there'), [{ name: 'object.deleted', bucketId: PHOTOS.id }]],
  ['nothing is deleted', deleteObject('photos', 'new'), []],
  ['the version is null', { ...deleteObject('photos', 'there'), version: 'null' }, [{ bucketId: PHOTOS.id }]],
  ['another version', { ...deleteObject('photos', 'there'), version: sequenceOf(1) }, []],
  ['a delete has a condition', deleteObject('photos', 'there', matches('f')), 'precondition-failed'],
  [
    'a delete marker has no ETag to match',
    deleteObject('photos', 'hidden', matches('0'.repeat(32))),
    'precondition-failed',
  ],
  [
    'a delete marker has no ETag to differ from',
    deleteObject('photos', 'hidden', { kind: 'differs', etags: ['0'.repeat(32)] }),
    [],
  ],
  ['no bucket to delete from', deleteObject('none', 'there'), 'bucket-not-found'],
]

test('the rules: a bucket "photos" with the object "there", an empty bucket "empty"', async (t) => {
  const placement = {
    place: (payload: PayloadId, bytes: Uint8Array, checksum: number, sealed: boolean) =>
      ({
        kind: 'volume',
        payload,
        volume: volumeNumberOf(1),
        offset: 64,
        length: bytes.length,
        checksum,
        sealed,
      }) as const,
  }
  const context = {
    state: STATE,
    ...STATE.features,
    sequence: sequenceOf(100),
    placement,
    ...ruleHelpers,
    referenceRatioMaximum: 1000,
    now: millisecondsOf(1),
    host: microsecondsOf(1000),
    last: oneTime(microsecondsOf(1000)),
    clockIsBehind: false,
  }
  for (const [when, command, expected] of RULES) {
    let outcome: readonly Change[] | string
    try {
      outcome = decide(command, context).changes
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      outcome = error.code
    }
    if (typeof expected === 'string' || typeof outcome === 'string') t.equal(outcome, expected, when)
    else {
      t.equal(outcome.length, expected.length, when)
      for (const [index, change] of expected.entries()) t.match(outcome[index], change, when)
    }
  }
})

async function sweep(store: TestStore): Promise<void> {
  const worker = new PayloadFileSweep(store.disk, store.paths, store.start, (name) =>
    store.catalog.snapshot().payloadFileIsUsed(name),
  )
  while ((await worker.step()) === 'more');
}

function filesOnDisk(paths: StorePaths): string[] {
  const directories = readdirSync(paths.files)
  return directories.flatMap((directory) => readdirSync(join(paths.files, directory))).toSorted()
}

test('J14 J20 the store answers and holds what a model does, whatever is asked of it', async (t) => {
  const root = t.testdir()
  let runs = 0
  await fc.assert(
    fc.asyncProperty(history, async (groups) => {
      const directory = join(root, String((runs += 1)))
      const model = new StoreModel()
      const store = await openTestStore(directory, { ...SIZES, clock: model.clock })
      const wrong: string[] = []
      for (const group of groups) {
        wrong.push(...(await model.run(store, group)), ...(await differences(store, model.state)))
        if (wrong.length > 0) break
      }
      await store.close(runs % 2 === 0)
      const again = await openTestStore(directory, { clock: model.clock })
      wrong.push(...(await differences(again, model.state)))
      await sweep(again)
      const files = filesOnDisk(again.paths)
      const needed = [...model.state.references.keys()].filter(({ kind }) => kind === 'file')
      await again.close(true)
      if (files.length !== needed.length) wrong.push(`files ${files.join()}`)
      if (wrong.length > 0) throw new Error(wrong.join('\n'))
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
  t.equal(runs, RUNS)
})

test('every change has its attempt before it, refusals are recorded, and nothing else is', async (t) => {
  const store = await openTestStore(t.testdir())
  await store.client.execute(createBucket('photos'))
  const other = { ...createBucket('photos'), lockEnabled: true }
  await t.rejects(store.client.execute(other), { name: 'DomainError', code: 'bucket-exists' })
  await store.client.execute(deleteObject('photos', 'nothing'))
  const { sequence: intent } = await store.client.execute({ kind: 'record-attempt', audit: auditOf('s3:PUT', 'long') })
  await store.client.execute({ ...write('photos', 'long', BYTES), intent })
  await store.client.execute({ kind: 'record-failed-change', audit: auditOf('s3:PUT', 'denied'), result: 'denied' })
  store.client.record(auditOf('s3:GET', 'read'), 'success')
  store.client.record(auditOf('s3:GET', 'short'), 'failure', intent)
  await store.close(true)
  const told = journalEntries(store.paths.root).map((entry) => {
    const { sequence, result, operation, intent: attempt, changes, metadata } = entry
    return [sequence, operation, result, attempt, changes.map(({ name }) => name).join(), metadata.join()]
  })
  t.same(told, [
    [1, 'server.start', 'success', undefined, 'server.started', ''],
    [2, 's3:PUT', 'attempted', undefined, '', ''],
    [3, 's3:PUT', 'success', 2, 'bucket.created', ''],
    [4, 's3:PUT', 'attempted', undefined, '', ''],
    [5, 's3:PUT', 'failure', 4, '', 'error,bucket-exists'],
    [6, 's3:DELETE', 'attempted', undefined, '', ''],
    [7, 's3:DELETE', 'success', 6, '', ''],
    [8, 's3:PUT', 'attempted', undefined, '', ''],
    [9, 's3:PUT', 'success', 8, 'object.written', ''],
    [10, 's3:PUT', 'attempted', undefined, '', ''],
    [11, 's3:PUT', 'denied', 10, '', ''],
    [12, 's3:GET', 'success', undefined, '', ''],
    [13, 's3:GET', 'failure', intent, '', ''],
    [14, 'server.stop', 'success', undefined, 'server.stopped', ''],
  ])
})

test('an attempt without an outcome stays one, also after a restart', async (t) => {
  const directory = t.testdir()
  const store = await openTestStore(directory)
  const { sequence } = await store.client.execute({ kind: 'record-attempt', audit: auditOf('s3:PUT', 'cut off') })
  await store.kill()
  await (await openTestStore(directory)).close(true)
  const entries = journalEntries(directory)
  t.match(
    entries.filter((entry) => entry.sequence === sequence || entry.intent === sequence),
    [{ result: 'attempted', resource: 'cut off', intent: undefined }],
  )
})

test('J12 below the reserve writes are refused and recorded, deletes go on, and writes return with the space', async (t) => {
  const disk = new FaultDisk()
  const reservedBytes = 16 * 1024 ** 2
  const store = await openTestStore(t.testdir(), { reservedBytes }, disk)
  await store.client.execute(createBucket('photos'))
  await store.client.execute(write('photos', 'old', BYTES))
  disk.freeBytes = reservedBytes + 10
  await new Promise((resolve) => setTimeout(resolve, 150))
  const results = await Promise.allSettled([
    store.client.execute(write('photos', 'new', BYTES)),
    store.client.execute(write('photos', 'empty', Buffer.alloc(0))),
    store.client.execute(deleteObject('photos', 'old')),
  ])
  t.match(results, [{ reason: { code: 'storage-full' } }, { status: 'fulfilled' }, { status: 'fulfilled' }])
  t.match(journalEntries(store.paths.root).find(({ result }) => result === 'failure')?.metadata, [
    'error',
    'storage-full',
  ])
  disk.freeBytes = undefined
  await new Promise((resolve) => setTimeout(resolve, 150))
  await store.client.execute(write('photos', 'new', BYTES))
  t.same(await readObject(store, 'photos', 'new'), BYTES)
  t.equal(await readObject(store, 'photos', 'old'), undefined)
  await store.close(true)
})
