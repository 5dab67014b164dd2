/** Lists of parts that complete an upload: what the rules take, drop and refuse, without a store. */
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
import { auditOf, md5Of } from '../support/commands.ts'
import { NO_STATE } from '../support/no-state.ts'
import { completeUpload, type ListedPart, type UploadName } from '../support/upload-commands.ts'

const NAME: UploadName = { bucket: 'b', key: 'k', upload: 50 }
const FULL = PART_BYTES_MINIMUM

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
