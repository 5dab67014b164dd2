/** Multipart uploads as the engine has them: lists of parts, the largest of them, uploads of buckets that are no more. */
import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import * as fc from 'fast-check'
import { test } from 'tap'
import { decide } from '../../engine/domain/decide.ts'
import { PART_NUMBER_MAXIMUM, partNumbers } from '../../engine/domain/part-set.ts'
import { PART_BYTES_MINIMUM } from '../../engine/domain/upload.ts'
import { DomainError } from '../../engine/errors.ts'
import type { AuditContext } from '../../engine/events/audit.ts'
import type { UploadCompleted } from '../../engine/events/changes.ts'
import { encodeEntry } from '../../engine/events/entry-codec.ts'
import { RECORD_BODY_BYTES_MAXIMUM } from '../../engine/journal/format.ts'
import type { PartState, StateReader } from '../../engine/state-ports.ts'
import { checkProjections } from '../../projections/check.ts'
import { auditOf, createBucket, deleteBucket, md5Of, write } from '../support/commands.ts'
import { NO_STATE } from '../support/no-state.ts'
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

const NAME: UploadName = { bucket: 'b', key: 'k', upload: 50 }
const FULL = PART_BYTES_MINIMUM
const EMPTY = md5Of(Buffer.alloc(0))

/** A bucket `b` with one upload of `k`, whose parts have these sizes. */
function stateWith(sizes: ReadonlyMap<number, number>, headers: readonly string[] = []): StateReader {
  const parts = [...sizes]
    .toSorted(([left], [right]) => left - right)
    .map(
      ([part, size]): PartState => ({ part, size, md5: md5Bytes(part), modifiedMicroseconds: 1, payload: 60 + part }),
    )
  const bucket = {
    id: 1,
    name: 'b',
    region: 'eu',
    createdMicroseconds: 1,
    versioning: 'off' as const,
    lockEnabled: false,
    defaultRetention: undefined,
    quota: { bytes: undefined, objects: undefined },
  }
  const upload = { upload: 50, createdMicroseconds: 1, headers, metadata: [], lock: undefined }
  return { ...NO_STATE, bucket: () => bucket, upload: () => upload, parts: () => parts }
}

function md5Bytes(part: number): Buffer {
  return Buffer.from(md5Of(Buffer.from(String(part))), 'hex')
}

/** As the client lists a part; `wrong` has another MD5. */
function listed(part: number, wrong = false): ListedPart {
  return { part, etag: wrong ? 'd'.repeat(32) : md5Bytes(part).toString('hex') }
}

function decideOn(state: StateReader, list: readonly ListedPart[], name = NAME) {
  const placement = {
    place: () => {
      throw new Error('a completion places nothing')
    },
  }
  const context = { state, sequence: 100, placement, now: 1, clockIsBehind: false }
  return decide(completeUpload(name, list), context)
}

/** The numbers of the object and of what is dropped, or the refusal and what it is about. */
function outcomeOf(state: StateReader, list: readonly ListedPart[]): string {
  try {
    const [completed, written] = decideOn(state, list).changes
    const { listed: taken, dropped } = completed as UploadCompleted
    const size = written?.name === 'object.written' ? written.size : Number.NaN
    return `${[...partNumbers(taken)].join()} of ${size} bytes, dropped ${[...partNumbers(dropped)].join()}`
  } catch (error) {
    if (error instanceof DomainError) return `${error.code} ${error.subject ?? ''}`
    throw error
  }
}

test('each fault of a list of parts is named with the part that it is in', async (t) => {
  const state = stateWith(
    new Map([
      [2, FULL],
      [3, 7],
      [5, FULL],
      [9, 0],
      [10_000, FULL],
    ]),
  )
  const cases: readonly (readonly [readonly ListedPart[], string])[] = [
    [[listed(2)], `2 of ${FULL} bytes, dropped 3,5,9,10000`],
    [[listed(3)], '3 of 7 bytes, dropped 2,5,9,10000'],
    [[listed(9)], '9 of 0 bytes, dropped 2,3,5,10000'],
    [[listed(2), listed(5), listed(9)], `2,5,9 of ${2 * FULL} bytes, dropped 3,10000`],
    [[listed(2), listed(5), listed(10_000)], `2,5,10000 of ${3 * FULL} bytes, dropped 3,9`],
    [[listed(1)], 'part-not-found 1'],
    [[listed(4)], 'part-not-found 4'],
    [[listed(9999)], 'part-not-found 9999'],
    [[listed(2), listed(4)], 'part-not-found 4'],
    [[listed(1), listed(2)], 'part-not-found 1'],
    [[listed(2), listed(6), listed(10_000)], 'part-not-found 6'],
    [[listed(2, true)], 'part-not-found 2'],
    [[listed(2), listed(10_000, true)], 'part-not-found 10000'],
    [[listed(2), listed(3, true), listed(4)], 'part-not-found 3'],
    [[listed(2), listed(3), listed(5)], 'part-too-small 3'],
    [[listed(2), listed(3), listed(9), listed(10_000)], 'part-too-small 3'],
    [[listed(9), listed(10_000)], 'part-too-small 9'],
    [[listed(3), listed(4)], 'part-not-found 4'],
    [[listed(3), listed(5, true)], 'part-not-found 5'],
  ]
  for (const [list, expected] of cases) {
    const title = list.map(({ part }) => part).join()
    t.equal(outcomeOf(state, list), expected, title)
  }
  t.equal(outcomeOf(stateWith(new Map()), [listed(1)]), 'part-not-found 1', 'an upload without parts')
  const least = stateWith(
    new Map([
      [1, FULL - 1],
      [2, FULL],
    ]),
  )
  t.equal(outcomeOf(least, [listed(1), listed(2)]), 'part-too-small 1', 'one byte less than the minimum')
  const huge = stateWith(
    new Map([
      [1, 5 * 1024 ** 4],
      [2, 1],
    ]),
  )
  t.equal(outcomeOf(huge, [listed(1)]), `1 of ${5 * 1024 ** 4} bytes, dropped 2`, '5 TiB')
  t.equal(outcomeOf(huge, [listed(1), listed(2)]), `object-too-large ${5 * 1024 ** 4 + 1}`, 'and a byte')
})

test('whatever parts there are and whatever is listed: taken, dropped or refused as it must be', async (t) => {
  const sizes = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 12 }), fc.constantFrom(FULL, FULL, FULL, 9)), {
    selector: ([part]) => part,
  })
  const list = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 12 }), fc.nat({ max: 9 })), {
    selector: ([part]) => part,
    minLength: 1,
  })
  let done = 0
  fc.assert(
    fc.property(sizes, list, (there, wanted) => {
      const present = new Map(there)
      const ascending = wanted.toSorted(([left], [right]) => left - right)
      const missing = ascending.find(([part, luck]) => !present.has(part) || luck === 0)
      const small = ascending.slice(0, -1).find(([part]) => (present.get(part) ?? 0) < FULL)
      const numbers = ascending.map(([part]) => part)
      const dropped = [...present.keys()]
        .filter((part) => !numbers.includes(part))
        .toSorted((left, right) => left - right)
      const size = numbers.reduce((total, part) => total + (present.get(part) ?? 0), 0)
      const expected =
        missing === undefined
          ? small === undefined
            ? `${numbers.join()} of ${size} bytes, dropped ${dropped.join()}`
            : `part-too-small ${small[0]}`
          : `part-not-found ${missing[0]}`
      const found = outcomeOf(
        stateWith(present),
        ascending.map(([part, luck]) => listed(part, luck === 0)),
      )
      if (found !== expected) throw new Error(`${found} instead of ${expected}`)
      if (missing === undefined && small === undefined) done += 1
    }),
    { numRuns: 2000 },
  )
  t.ok(done > 20, `${done} of them succeed`)
})

test('the entry of a completion fits a record, whatever is listed and however long its names are', async (t) => {
  const key = 'ü'.repeat(512)
  const resource = `bucket:${'b'.repeat(63)}/${key}`
  const audit: AuditContext = {
    ...auditOf('s3:POST', resource),
    requestId: 'F'.repeat(16),
    metadata: ['api', 'CompleteMultipartUpload'],
  }
  const headers = ['content-disposition', 'x'.repeat(16_384)]
  const every = new Map(Array.from({ length: PART_NUMBER_MAXIMUM }, (_, index) => [index + 1, FULL]))
  const state = stateWith(every, headers)
  for (const [title, wanted] of Object.entries({
    'odd numbers only': (part: number) => part % 2 === 1,
    'even numbers only': (part: number) => part % 2 === 0,
    'all of them': () => true,
    'the last alone': (part: number) => part === PART_NUMBER_MAXIMUM,
  })) {
    const list = [...every.keys()].filter(wanted).map((part) => listed(part))
    const { changes } = decideOn(state, list, { ...NAME, key })
    const bytes = encodeEntry(audit, 'success', 2 ** 52, changes).length
    t.ok(bytes < RECORD_BODY_BYTES_MAXIMUM - 4096, `${title}: ${bytes} bytes`)
  }
})

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
  await t.rejects(store.client.execute(completeUpload(name, [first, listed(3)])), {
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
