/**
 * Pages of versions, of uploads and of objects, against a look at everything there is.
 * Proves: DO-CAP-02.
 */
import { bucketIdOf, microsecondsOf, sequenceOf, uploadIdOf } from '../../engine/brands.ts'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { type Test, test } from 'tap'
import { listObjects } from '../../projections/catalog/object-listing.ts'
import type { OrderedPage, OrderedPosition, OrderedRequest } from '../../projections/catalog/ordered-listing.ts'
import { orderOfSequence } from '../../projections/tables/version-keys.ts'
import { listUploads } from '../../projections/catalog/upload-listing.ts'
import { listVersions } from '../../projections/catalog/version-listing.ts'
import { byUtf8, groupByKey, listEntries, pageOf } from '../model/naive-listing.ts'
import { oneTime } from '../../engine/journal/record-times.ts'
import { emptyObject, VersionFixture, type VersionStep } from '../support/version-tables.ts'
import { runsOf } from '../support/share-of-cases.ts'

const BUCKET = 5
const RUNS = runsOf(40, 15)
const REQUESTS_PER_RUN = 60

/** Pieces that make keys with common beginnings, NULs, and delimiters of one and of several bytes. */
const PIECES = ['a', 'b', '/', '//', '\u0000', '\u0001', 'é', '\u{10FFFF}', '-'] as const
const key = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''))
const keys = fc.uniqueArray(key, { minLength: 1, maxLength: 12, size: 'max' })

const step: fc.Arbitrary<Omit<VersionStep, 'key'> & { readonly at: number }> = fc.record({
  kind: fc.constantFrom('version', 'version', 'marker', 'delete'),
  isNull: fc.boolean(),
  pick: fc.nat({ max: 9 }),
  at: fc.nat({ max: 11 }),
})

/** A request but for its position; texts are used as far as they are there. */
const question = fc.record({
  prefix: fc.oneof(fc.constant(''), fc.constantFrom(...PIECES), key),
  delimiter: fc.option(fc.constantFrom('/', '//', 'a', '\u0000', '/a', 'é', '\u{10FFFF}'), { nil: undefined }),
  entriesMaximum: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constant(1000)),
})

type Question = typeof question extends fc.Arbitrary<infer Q> ? Q : never

/** Any place at all: of what is there, of what was there, of what never was. */
function position(known: readonly string[], orders: readonly number[]): fc.Arbitrary<OrderedPosition | undefined> {
  const bytes = fc.oneof(fc.constantFrom(...known), key).map((text) => Buffer.from(text))
  const order = fc.oneof(
    fc.constantFrom(0, ...orders),
    fc.constantFrom(0, ...orders).map((one) => one + 1),
  )
  return fc.option(
    fc.oneof(
      fc.record({ kind: fc.constant('after-entry' as const), bytes, order }),
      fc.record({ kind: fc.constantFrom('after-key' as const, 'after-prefix' as const), bytes }),
    ),
    { nil: undefined, freq: 6 },
  )
}

function requestOf(
  { prefix, delimiter, entriesMaximum }: Question,
  after: OrderedPosition | undefined,
): OrderedRequest {
  return {
    prefix: Buffer.from(prefix),
    delimiter: delimiter === undefined ? undefined : Buffer.from(delimiter),
    after,
    entriesMaximum,
  }
}

function show(value: unknown): string {
  return JSON.stringify(value, (_name, one: unknown) =>
    typeof one === 'object' && one !== null && 'type' in one && one.type === 'Buffer' && 'data' in one
      ? Buffer.from(one.data as number[]).toString()
      : one,
  )
}

/** What is listed; `order` ascends within a key. */
interface NaiveEntry {
  readonly key: string
  readonly order: number
}

function isAfter({ key: name, order }: NaiveEntry, after: OrderedPosition | undefined): boolean {
  if (after === undefined) return true
  const text = after.bytes.toString()
  if (after.kind === 'after-entry' && name === text) return order > after.order
  return byUtf8(name, text) > 0 && !(after.kind === 'after-prefix' && name.startsWith(text))
}

/** One page of `all`, in any order, as the request has it. */
function naivePage<E extends NaiveEntry>(all: readonly E[], request: OrderedRequest): unknown {
  const { prefix, delimiter, after, entriesMaximum } = request
  const rest = all.filter((entry) => isAfter(entry, after)).toSorted((left, right) => left.order - right.order)
  const filter = { prefix: prefix.toString(), delimiter: delimiter?.toString() ?? '' }
  const { items, prefixes, isTruncated } = pageOf(listEntries(groupByKey(rest), filter), entriesMaximum)
  return { entries: items.map(({ item }) => item), prefixes, hasNext: isTruncated }
}

/** Holds one page against everything there is; gives where the next one begins. */
function comparePage<E extends NaiveEntry>(
  list: (request: OrderedRequest) => OrderedPage<E>,
  all: readonly E[],
  request: OrderedRequest,
): OrderedPosition | undefined {
  const page = list(request)
  const expected = naivePage(all, request)
  const found = { entries: page.entries, prefixes: page.prefixes, hasNext: page.next !== undefined }
  if (show(found) !== show(expected)) throw new Error(`${show(request)}: ${show(found)} instead of ${show(expected)}`)
  return page.next
}

/** All pages from one position on; together they are what one large page shows. */
function comparePages<E extends NaiveEntry>(
  list: (request: OrderedRequest) => OrderedPage<E>,
  all: readonly E[],
  request: OrderedRequest,
): void {
  let after = comparePage(list, all, request)
  for (let pages = 0; after !== undefined; pages += 1) {
    if (pages > all.length) throw new Error(`${show(request)}: pages without end`)
    after = comparePage(list, all, { ...request, after })
  }
}

/** Rows of other buckets, next to these on both sides. */
function addNeighbours(fixture: VersionFixture, names: readonly string[]): void {
  fixture.write((transaction) => {
    for (const bucketId of [BUCKET - 1, BUCKET + 1]) {
      for (const [index, name] of names.entries()) {
        const sequence = 1000 * bucketId + index
        transaction.apply(sequenceOf(sequence), oneTime(microsecondsOf(1)), [
          { ...emptyObject(bucketId, name), version: { isNull: false, replacesNull: undefined } },
          {
            name: 'upload.created',
            bucketId: bucketIdOf(bucketId),
            key: name,
            headers: [],
            metadata: [],
            lock: undefined,
            given: undefined,
            checksum: undefined,
          },
        ])
        const marker = {
          name: 'marker.written',
          bucketId: bucketIdOf(bucketId),
          key: name,
          version: { isNull: false, replacesNull: undefined },
        } as const
        transaction.apply(sequenceOf(sequence + 500), oneTime(microsecondsOf(1)), [marker])
      }
    }
  })
}

async function property(
  t: Test,
  look: (fixture: VersionFixture, ask: (known: readonly number[]) => readonly OrderedRequest[]) => void,
  prepare: (fixture: VersionFixture, names: readonly string[], steps: readonly VersionStep[]) => void,
): Promise<void> {
  const root = t.testdir()
  let runs = 0
  const questions = fc.array(question, { minLength: REQUESTS_PER_RUN, maxLength: REQUESTS_PER_RUN, size: 'max' })
  const steps = fc.array(step, { maxLength: 60, size: 'max' })
  await fc.assert(
    fc.asyncProperty(keys, steps, questions, fc.integer(), async (names, recipes, asked, seed) => {
      const fixture = new VersionFixture(join(root, String((runs += 1))))
      try {
        addNeighbours(fixture, names)
        prepare(
          fixture,
          names,
          recipes.map(({ at, ...recipe }) => ({ ...recipe, key: names[at % names.length] ?? '' })),
        )
        look(fixture, (orders) => {
          const places = fc.sample(position(names, orders), { numRuns: asked.length, seed })
          return asked.map((one, index) => requestOf(one, places[index]))
        })
      } finally {
        await fixture.close()
      }
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
  t.equal(runs, RUNS)
}

test('pages of versions: every prefix, delimiter and position, with the newest of each key', async (t) => {
  await property(
    t,
    (fixture, ask) => {
      const all = fixture.versions.map((one) => ({
        ...one,
        order: orderOfSequence(sequenceOf(one.sequence)),
        lastModifiedMicroseconds: one.sequence,
      }))
      const list = (request: OrderedRequest) => {
        const page = listVersions(fixture.tables, bucketIdOf(BUCKET), request)
        const entries = page.entries.map(
          ({ key: name, sequence, isNull, isMarker, isLatest, order, lastModifiedMicroseconds }) => {
            return { key: name, sequence, isNull, isMarker, isLatest, order, lastModifiedMicroseconds }
          },
        )
        return { ...page, entries }
      }
      const orders = Array.from({ length: fixture.sequence }, (_, index) => orderOfSequence(sequenceOf(index + 1)))
      for (const request of ask(orders)) comparePages(list, all, request)
    },
    (fixture, _names, steps) => fixture.apply(BUCKET, steps),
  )
})

test('pages of objects show the current ones alone', async (t) => {
  await property(
    t,
    (fixture, ask) => {
      const all = fixture.versions
        .filter(({ isLatest, isMarker }) => isLatest && !isMarker)
        .map(({ key: name }) => ({ key: name, order: 0 }))
      const list = ({ after, ...request }: OrderedRequest): OrderedPage<NaiveEntry> => {
        if (after?.kind === 'after-entry') throw new Error('objects have no entries within a key')
        const { objects, ...page } = listObjects(fixture.tables.objects, bucketIdOf(BUCKET), {
          ...request,
          after: after && { kind: after.kind, bytes: after.bytes },
        })
        return { ...page, entries: objects.map(({ key: name }) => ({ key: name, order: 0 })) }
      }
      for (const { after, ...request } of ask([])) {
        const place = after?.kind === 'after-entry' ? ({ kind: 'after-key', bytes: after.bytes } as const) : after
        comparePages(list, all, { ...request, after: place })
      }
    },
    (fixture, _names, steps) => fixture.apply(BUCKET, steps),
  )
})

test('pages of uploads: several of a key, oldest first', async (t) => {
  let all: NaiveEntry[] = []
  await property(
    t,
    (fixture, ask) => {
      const list = (request: OrderedRequest) => {
        const page = listUploads(fixture.tables.uploads, bucketIdOf(BUCKET), request)
        return { ...page, entries: page.entries.map(({ key: name, order }) => ({ key: name, order })) }
      }
      for (const request of ask(all.map(({ order }) => order))) comparePages(list, all, request)
    },
    (fixture, _names, steps) => {
      all = []
      fixture.write((transaction) => {
        for (const [index, { key: name, kind, pick }] of steps.entries()) {
          const gone = kind === 'delete' ? all[pick] : undefined
          if (gone === undefined) {
            const change = {
              name: 'upload.created',
              bucketId: bucketIdOf(BUCKET),
              key: name,
              headers: [],
              metadata: [],
              lock: undefined,
              given: undefined,
              checksum: undefined,
            } as const
            transaction.apply(sequenceOf(index + 1), oneTime(microsecondsOf(1)), [change])
            all.push({ key: name, order: index + 1 })
          } else {
            const dropped = Buffer.alloc(0)
            transaction.apply(sequenceOf(index + 1), oneTime(microsecondsOf(1)), [
              {
                name: 'upload.aborted',
                bucketId: bucketIdOf(BUCKET),
                key: gone.key,
                upload: uploadIdOf(gone.order),
                dropped,
                bytes: 0,
              },
            ])
            all = all.filter((one) => one !== gone)
          }
        }
      })
    },
  )
})
