/** Uploads in the engine: lists of parts, sets of them, and digests. */
import * as fc from 'fast-check'
import { oneTime } from '../../engine/journal/record-times.ts'
import { test } from 'tap'
import { bucketIdOf, microsecondsOf, millisecondsOf, payloadIdOf, sequenceOf, uploadIdOf } from '../../engine/brands.ts'
import { decide } from '../../engine/loop/decide.ts'
import { PART_NUMBER_MAXIMUM, partNumbers, PartSet } from '../../engine/domain/part-set.ts'
import { PART_BYTES_MINIMUM } from '../../engine/domain/upload.ts'
import { ruleHelpers } from '../../engine/loop/rule-helpers.ts'
import { DomainError } from '../../engine/errors.ts'
import type { AuditContext } from '../../engine/events/audit.ts'
import type { ChangeNamed } from '../../engine/events/changes.ts'
import { encodeEntry } from '../../engine/events/entry-codec.ts'
import { RECORD_BODY_BYTES_MAXIMUM } from '../../engine/journal/format.ts'
import type { BucketState, PartState } from '../../engine/state-ports.ts'
import type { StoreState } from '../../engine/state-store.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { auditOf, createBucket, md5Of, partBits, write } from '../support/commands.ts'
import { NO_STATE } from '../support/no-state.ts'
import { openTestStore, roomyDisk, type TestStore } from '../support/test-store.ts'
import {
  completeUpload,
  createUpload,
  type ListedPart,
  recordDigest,
  type UploadName,
  writePart,
} from '../support/upload-commands.ts'

const FULL = PART_BYTES_MINIMUM

/** Writes parts by the thousand, as fast as the engine takes them. Gives the list of them. */
async function writeParts(store: TestStore, name: UploadName, numbers: readonly number[]): Promise<ListedPart[]> {
  return Promise.all(
    numbers.map(async (part) => {
      const { etag = '' } = await store.client.execute(writePart(name, part, Buffer.from(`part ${part}.`), FULL))
      return { part, etag }
    }),
  )
}

async function uploadOf(store: TestStore, key: string): Promise<UploadName> {
  const { sequence } = await store.client.execute(createUpload('b', key))
  return { bucket: 'b', key, upload: sequence }
}

test('the digest of a multipart payload is noted once, and never for one that is gone', async (t) => {
  const store = await openTestStore(t.testdir())
  const { sequence: bucketId } = await store.client.execute(createBucket('b'))
  const name = await uploadOf(store, 'k')
  const parts = await writeParts(store, name, [1, 2])
  await store.client.execute(completeUpload(name, parts))
  const digest = Buffer.alloc(32, 7)
  await store.client.execute(recordDigest(name.upload, digest))
  await store.client.execute(recordDigest(name.upload, Buffer.alloc(32, 8)))
  const { payload = 0 } = store.catalog.snapshot().object(bucketIdOf(bucketId), 'k') ?? {}
  t.equal(payload, name.upload)
  t.match(store.catalog.snapshot().payload(payloadIdOf(payload)), { kind: 'parts', digest })
  t.same(store.catalog.snapshot().digestsPending(10), [])
  await store.client.execute(recordDigest(payload + 1, digest))
  t.notMatch(
    store.catalog.snapshot().payload(payloadIdOf(payload + 1)),
    { digest },
    'what is no multipart payload has no digest',
  )
  await store.client.execute(write('b', 'k', Buffer.from('over it')))
  await store.client.execute(recordDigest(payload, digest))
  t.equal(store.catalog.snapshot().payload(payloadIdOf(payload)), undefined)
  await store.close(true)
  t.match(await checkProjections(roomyDisk, store.paths), { differenceCount: 0 })
})

const NAME: UploadName = { bucket: 'b', key: 'k', upload: 50 }
/** A bucket `b` with one upload of `k`, whose parts have these sizes. */
function stateWith(sizes: ReadonlyMap<number, number>, headers: readonly string[] = []): StoreState {
  const parts = [...sizes]
    .toSorted(([left], [right]) => left - right)
    .map(
      ([part, size]): PartState => ({
        part,
        size,
        md5: md5Bytes(part),
        checksum: undefined,
        modifiedMicroseconds: microsecondsOf(1),
        payload: payloadIdOf(60 + part),
      }),
    )
  const bucket: BucketState = {
    id: bucketIdOf(1),
    name: 'b',
    region: 'eu',
    createdMicroseconds: microsecondsOf(1),
    versioning: 'off',
    lockEnabled: false,
    defaultRetention: undefined,
    quota: { bytes: undefined, objects: undefined },
  }
  const upload = {
    upload: uploadIdOf(50),
    createdMicroseconds: microsecondsOf(1),
    headers,
    metadata: [],
    lock: undefined,
    given: undefined,
    checksum: undefined,
  }
  return { ...NO_STATE, bucket: () => bucket, upload: () => upload, parts: () => parts }
}

function md5Bytes(part: number): Buffer {
  return Buffer.from(md5Of(Buffer.from(String(part))), 'hex')
}

/** As the client lists a part; `wrong` has another MD5. */
function listed(part: number, wrong = false): ListedPart {
  return { part, etag: wrong ? 'd'.repeat(32) : md5Bytes(part).toString('hex') }
}

function decideOn(state: StoreState, list: readonly ListedPart[], name = NAME) {
  const placement = {
    place: () => {
      throw new Error('a completion places nothing')
    },
  }
  const context = {
    state,
    ...state.features,
    sequence: sequenceOf(100),
    placement,
    ...ruleHelpers,
    referenceRatioMaximum: 1000,
    now: millisecondsOf(1),
    host: microsecondsOf(1000),
    last: oneTime(microsecondsOf(1000)),
    clockIsBehind: false,
  }
  return decide(completeUpload(name, list), context)
}

/** The numbers of the object and of what is dropped, or the refusal and what it is about. */
function outcomeOf(state: StoreState, list: readonly ListedPart[]): string {
  try {
    const [completed, written] = decideOn(state, list).changes
    const { listed: taken, dropped } = completed as ChangeNamed<'upload.completed'>
    const size = written?.name === 'object.written' ? written.size : Number.NaN
    return `${[...partNumbers(taken)].join()} of ${size} bytes, dropped ${[...partNumbers(dropped)].join()}`
  } catch (error) {
    if (error instanceof DomainError) return `${error.code} ${error.subject ?? ''}`
    throw error
  }
}

/** What lists of few small numbers get is tried by chance below. */
test('each fault of a list of parts is named with the part that it is in: empty parts, great numbers, bounds', async (t) => {
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
    [[listed(9)], '9 of 0 bytes, dropped 2,3,5,10000'],
    [[listed(2), listed(5), listed(9)], `2,5,9 of ${2 * FULL} bytes, dropped 3,10000`],
    [[listed(2), listed(5), listed(10_000)], `2,5,10000 of ${3 * FULL} bytes, dropped 3,9`],
    [[listed(9999)], 'part-not-found 9999'],
    [[listed(2), listed(6), listed(10_000)], 'part-not-found 6'],
    [[listed(2), listed(10_000, true)], 'part-not-found 10000'],
    [[listed(2), listed(3), listed(9), listed(10_000)], 'part-too-small 3'],
    [[listed(9), listed(10_000)], 'part-too-small 9'],
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

const number = fc.oneof(
  fc.integer({ min: 1, max: PART_NUMBER_MAXIMUM }),
  fc.integer({ min: 1, max: 40 }),
  fc.integer({ min: PART_NUMBER_MAXIMUM - 20, max: PART_NUMBER_MAXIMUM }),
)

test('a set gives its numbers back, ascending, and equal sets are equal bytes', async (t) => {
  fc.assert(
    fc.property(fc.array(number), (numbers) => {
      const bits = partBits(numbers)
      const expected = [...new Set(numbers)].toSorted((left, right) => left - right)
      if ([...partNumbers(bits)].join() !== expected.join()) throw new Error(bits.toString('hex'))
      if (!bits.equals(partBits(expected.toReversed()))) throw new Error('the order of adding tells')
      if (bits.length > 0 && bits.at(-1) === 0) throw new Error('a zero at the end')
    }),
    { numRuns: 500 },
  )
  t.same([...partNumbers(new PartSet().bytes)], [])
})

test('no set of part numbers takes more than 1,251 bytes', async (t) => {
  const all = Array.from({ length: PART_NUMBER_MAXIMUM }, (_, index) => index + 1)
  t.equal(partBits(all).length, 1251)
  t.equal(partBits([PART_NUMBER_MAXIMUM]).length, 1251)
  t.equal(partBits(all.filter((part) => part % 2 === 1)).length, 1250)
  t.equal([...partNumbers(partBits(all))].length, PART_NUMBER_MAXIMUM)
})

test('what a set was is not changed by numbers that are added later', async (t) => {
  const set = new PartSet()
  set.add(3)
  const before = Buffer.from(set.bytes)
  set.add(9000)
  t.same([...partNumbers(before)], [3])
  t.same([...partNumbers(set.bytes)], [3, 9000])
})
