/**
 * Pages and ranges of the audit log, held against a filter over all its records.
 * Proves: RES-EXP-05, API-AUD-02, API-AUD-06, API-AUD-07, LIM-VAL-08.
 */
import { rmSync } from 'node:fs'
import * as fc from 'fast-check'
import tap, { test } from 'tap'
import { microsecondsOf, sequenceOf } from '../../engine/brands.ts'
import { AUDIT_RESULT_NAMES } from '../../engine/events/audit.ts'
import type { AuditRange } from '../../projections/audit/audit-export.ts'
import type { AuditFilter } from '../../projections/audit/audit-filter.ts'
import { contextOf, matching, OPERATIONS, pick, PRINCIPALS, RESOURCES } from '../support/audit-samples.ts'
import { branded } from '../support/plain.ts'
import type { AuditCursor, AuditPage, AuditQuery } from '../../projections/audit/audit-query.ts'
import type { AuditRecord } from '../../projections/audit/audit-record.ts'
import { serverTurns } from '../../projections/audit/turns.ts'
import { AuditLog } from '../../projections/audit/audit-log.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { appliedJournal } from '../support/journals/applied-journal.ts'
import { compressJournal } from '../support/journals/cold-segments.ts'
import { createBucket } from '../support/commands.ts'
import { batchAt, bump, bytesOf, recordAt, removeSegment, sampleJournal } from '../support/journals/journal-damage.ts'
import { journalEntries, type JournalEntry } from '../support/journal-entries.ts'
import { runsOf } from '../support/share-of-cases.ts'
import { temporaryDirectory } from '../support/test-clients.ts'
import { openTestStore } from '../support/test-store.ts'

const root = temporaryDirectory()
const store = await openTestStore(root, { segmentBytes: 128 * 1024 })
const environment = ProjectionEnvironment.open(store.paths.projections, { readOnly: true })
const log = new AuditLog(store.disk, store.paths, environment)
tap.teardown(async () => {
  await environment.close()
  await store.close(true)
  rmSync(root, { recursive: true })
})

let written = 0

/** Appends records, some with changes, in several batches. */
async function append(count: number): Promise<void> {
  const end = written + count
  for (; written < end; written += 1) {
    const result = pick(['success', 'denied', 'failure'] as const, Math.floor(written / 5))
    void store.client.record(contextOf(written), result, written % 13 === 0 ? written : undefined)
    if (written % 200 === 0) await store.client.execute(createBucket(`bucket-${written}`))
  }
  await store.loop.drained()
}

await append(3000)
// All but the last two, so that pages go over from one kind of segment to the other.
await compressJournal(store.paths, 3)

function entries(): JournalEntry[] {
  return journalEntries(root)
}

const EVER = {
  sinceMicroseconds: microsecondsOf(0),
  untilMicroseconds: microsecondsOf(Number.POSITIVE_INFINITY),
} as const

/** All pages of a query, followed from cursor to cursor. */
async function follow(query: Omit<AuditQuery, 'after'>, scanMaximum?: number): Promise<AuditPage[]> {
  const pages: AuditPage[] = []
  let after: AuditCursor | undefined
  do {
    const page = await log.query({ ...query, after }, serverTurns, scanMaximum)
    pages.push(page)
    after = page.next
  } while (after !== undefined)
  return pages
}

function sequences(pages: readonly AuditPage[]): number[] {
  return pages.flatMap(({ records }) => records.map(({ sequence }) => sequence))
}

function maybe<T>(values: readonly T[]): fc.Arbitrary<T | undefined> {
  return fc.option(fc.constantFrom(...values), { nil: undefined })
}

const FILTER: fc.Arbitrary<AuditFilter> = fc.record({
  principal: maybe([...PRINCIPALS, 'anonym', 'service_account:root']),
  operation: maybe([...OPERATIONS, 's3:PUT', 's3']),
  resourcePrefix: maybe([...RESOURCES, '', 'bucket:', 'bucket:a/', 'bucket:é/\u{1f4be}!', 'x']),
  result: maybe(AUDIT_RESULT_NAMES),
  sourceAddress: maybe(['127.0.0.1', '2001:db8::1', '127.0.0.2']),
  requestId: maybe(['R1', 'R2', '']),
  bucket: maybe(['a', 'b', 'é', 'x']),
  key: maybe(['x', 'xy', '\u{1f4be}']),
  keyPrefix: maybe(['x', 'long/', 'y']),
})

test('pages tile, and hold what a filter over all records holds', async (t) => {
  const all = entries()
  const time = fc
    .oneof(
      fc.nat({ max: all.length - 1 }).map((index) => (all[index] as JournalEntry).timeMicroseconds),
      fc.constantFrom(0, Number.MAX_SAFE_INTEGER),
    )
    .map(microsecondsOf)
  const property = fc.asyncProperty(
    FILTER,
    time,
    time,
    fc.integer({ min: 4, max: 1000 }),
    fc.integer({ min: 50, max: 4000 }),
    fc.boolean(),
    async (filter, sinceMicroseconds, untilMicroseconds, limit, scanMaximum, newestFirst) => {
      const query = { ...filter, sinceMicroseconds, untilMicroseconds, limit, newestFirst }
      const pages = await follow(query, scanMaximum)
      const expected = newestFirst ? matching(all, query).toReversed() : matching(all, query)
      if (JSON.stringify(sequences(pages)) !== JSON.stringify(expected)) return false
      return pages.every(
        ({ records, scanTruncated, next, damaged }) =>
          !damaged &&
          records.length <= limit &&
          (scanTruncated ? next !== undefined : next === undefined || records.length === limit),
      )
    },
  )
  await fc.assert(property, { numRuns: runsOf(60, 15) })
  t.equal(sequences(await follow({ ...EVER, limit: 1000 })).length, all.length)
})

test('the ends of a range, and how many records are between them', async (t) => {
  const all = entries()
  const timeAt = (index: number) => (all[index] as JournalEntry).timeMicroseconds
  const ranges = [
    [0, Number.MAX_SAFE_INTEGER],
    [timeAt(700), timeAt(2900)],
    [timeAt(1), timeAt(2)],
    [timeAt(5), timeAt(5)],
  ] as const
  for (const [from, to] of ranges) {
    const range = branded<AuditRange>({ fromMicroseconds: from, toMicroseconds: to })
    const inside = all.filter(({ timeMicroseconds }) => timeMicroseconds >= from && timeMicroseconds < to)
    const ends = await log.rangeEnds(range, serverTurns)
    t.equal(ends === undefined ? 0 : log.entriesBetween(ends.firstSequence, ends.lastSequence), inside.length)
    if (ends !== undefined) t.equal(ends.lastSequence, inside.at(-1)?.sequence)
  }
})

test('a record is what the journal holds', async (t) => {
  const all = entries()
  const pages = await follow({ ...EVER, limit: 1000 })
  const records = pages.flatMap((page) => page.records)
  for (const [index, { entry, ...place }] of records.entries()) {
    const { changes: _, details: __, ...expected } = all[index] as JournalEntry
    if (JSON.stringify({ ...entry, ...place }) === JSON.stringify(expected)) continue
    t.same({ ...entry, ...place }, expected)
  }
  t.ok(all.some(({ changes }) => changes.length > 0))
})

function ids(records: readonly { readonly sequence: number }[]): number[] {
  return records.map(({ sequence }) => sequence)
}

test('the newest first: what is asked for most reads little', async (t) => {
  const all = entries().toReversed()
  const page = await log.query({ ...EVER, limit: 5, newestFirst: true }, serverTurns)
  t.same(ids(page.records), ids(all.slice(0, 5)))
  const middle = all[1500] as JournalEntry
  for (const timeMicroseconds of [Math.floor(middle.timeMicroseconds / 1000) * 1000, middle.timeMicroseconds]) {
    const after = branded<AuditCursor>({ timeMicroseconds, sequence: middle.sequence })
    const older = await log.query({ ...EVER, limit: 3, after, newestFirst: true }, serverTurns)
    t.same(ids(older.records), ids(all.slice(1501, 1504)), 'a cursor holds')
    const newer = await log.query({ ...EVER, limit: 3, after }, serverTurns)
    t.same(ids(newer.records), ids(all.slice(1497, 1500).toReversed()), 'the same cursor goes the other way')
  }
  const cut = await log.query({ ...EVER, principal: 'nobody', limit: 10, newestFirst: true }, serverTurns, 100)
  t.match(cut, { records: [], scanTruncated: true, damaged: false })
  t.ok(Number(cut.next?.sequence) < Number(all[99]?.sequence))
})

/** What a page examines is counted by 512 bytes that an entry has begun; all entries but those of one resource are shorter. */
function weight({ resource }: JournalEntry): number {
  return Math.max(1, Math.ceil(resource.length / 512))
}

/** How many of the first entries a page examines. */
function countOf(scanMaximum: number): number {
  let examined = 0
  return entries().findIndex((entry) => (examined += weight(entry)) >= scanMaximum) + 1
}

test('a scan is cut, and goes on at the cursor', async (t) => {
  const nobody = { ...EVER, principal: 'nobody', limit: 10 }
  const page = await log.query(nobody, serverTurns, 100)
  t.match(page, { records: [], scanTruncated: true, damaged: false })
  t.equal(page.next?.sequence, entries()[countOf(100) - 1]?.sequence, 'it moves on although nothing was found')
  const pages = await follow(nobody, 700)
  t.ok(pages.length > entries().length / 700, 'pages of long records have fewer')
  t.ok(pages.length < (2 * entries().reduce((sum, entry) => sum + weight(entry), 0)) / 700, 'and are not shorter')
  t.equal(pages.at(-1)?.scanTruncated, false)
})

test('a cursor holds whatever its time was cut to', async (t) => {
  const all = entries()
  const middle = all[1500] as JournalEntry
  for (const timeMicroseconds of [0, Math.floor(middle.timeMicroseconds / 1000) * 1000, middle.timeMicroseconds]) {
    const after = branded<AuditCursor>({ timeMicroseconds, sequence: middle.sequence })
    const { records } = await log.query({ ...EVER, limit: 3, after }, serverTurns)
    t.same(
      records.map(({ sequence }) => sequence),
      all.slice(1501, 1504).map(({ sequence }) => sequence),
    )
  }
  const last = all.at(-1) as JournalEntry
  const end = branded<AuditCursor>({ timeMicroseconds: last.timeMicroseconds, sequence: last.sequence })
  t.match(await log.query({ ...EVER, limit: 3, after: end }, serverTurns), {
    records: [],
    next: undefined,
    damaged: false,
  })
  t.match(await log.query({ ...EVER, limit: 3, after: { ...end, sequence: sequenceOf(1e15) } }, serverTurns), {
    records: [],
    damaged: false,
  })
})

const WHOLE = branded<AuditRange>({ fromMicroseconds: 0, toMicroseconds: Number.MAX_SAFE_INTEGER })

async function exported(range: AuditRange, from: AuditLog = log): Promise<AuditRecord[]> {
  const records = from.records(range, serverTurns)
  const all: AuditRecord[] = []
  try {
    for (let some = await records.next(); some !== undefined; some = await records.next()) all.push(...some)
  } finally {
    records.close()
  }
  return all
}

test('ranges of an export tile', async (t) => {
  const all = entries()
  const times = fc
    .array(fc.nat({ max: all.length - 1 }), { maxLength: 4 })
    .map((indexes) => indexes.map((index) => (all[index] as JournalEntry).timeMicroseconds).toSorted((a, b) => a - b))
  const property = fc.asyncProperty(times, async (cuts) => {
    const ends = [...cuts, Number.MAX_SAFE_INTEGER]
    const parts: number[] = []
    for (const [index, toMicroseconds] of ends.entries()) {
      const part = await exported({
        fromMicroseconds: microsecondsOf(ends[index - 1] ?? 0),
        toMicroseconds: microsecondsOf(toMicroseconds),
      })
      parts.push(...part.map(({ sequence }) => sequence))
    }
    return JSON.stringify(parts) === JSON.stringify(all.map(({ sequence }) => sequence))
  })
  await fc.assert(property, { numRuns: runsOf(12, 4) })
  t.same(await exported({ ...WHOLE, fromMicroseconds: WHOLE.toMicroseconds }), [])
})

test('everything holds while others write', async (t) => {
  const live = { writing: true }
  const writer = (async () => {
    for (let batch = 0; live.writing && batch < 100; batch += 1) await append(20)
  })()
  const untilMicroseconds = microsecondsOf((entries().at(-1) as JournalEntry).timeMicroseconds)
  try {
    for (let round = 0; round < runsOf(3, 1); round += 1) {
      const { nextFrom, problems, checked, verified } = await log.chain(sequenceOf(0), 10_000)
      t.same([problems, verified], [[], checked])
      if (nextFrom !== undefined) t.same((await log.chain(nextFrom, 10_000)).problems, [])
      const query = { ...EVER, untilMicroseconds, principal: 'anonymous', limit: 71 }
      const pages = await follow(query, 500)
      t.notOk(pages.some(({ damaged }) => damaged))
      t.same(sequences(pages), matching(entriesUntil(untilMicroseconds), query))
      t.ok((await exported(WHOLE)).length >= entriesUntil(untilMicroseconds).length)
    }
  } finally {
    live.writing = false
    await writer
  }
})

/** Nothing is written in this turn of the loop, so the journal is whole. */
function entriesUntil(untilMicroseconds: number): JournalEntry[] {
  return entries().filter(({ timeMicroseconds }) => timeMicroseconds < untilMicroseconds)
}

test('what was acknowledged is there', async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const { sequence } = await store.client.execute(createBucket(`seen-${round}`))
    t.equal(log.head.sequence, sequence)
    const { records } = await log.query(
      {
        ...EVER,
        limit: 1,
        after: { timeMicroseconds: microsecondsOf(0), sequence: sequenceOf(sequence - 1) },
      },
      serverTurns,
    )
    t.same(ids(records), [sequence])
  }
})

test('damage: pages and exports say so and go on', async (t) => {
  const whole = sampleJournal()
  const edited = sampleJournal()
  bump(edited, 0, recordAt(4) + 100)
  const zeroed = sampleJournal()
  bytesOf(zeroed, 1).fill(0, batchAt(1, 0), batchAt(1, 1))
  const shorter = sampleJournal()
  removeSegment(shorter, 2)
  const copied = sampleJournal()
  bytesOf(copied, 0).copy(bytesOf(copied, 0), batchAt(0, 2), batchAt(0, 1), batchAt(0, 2))
  const cases = [
    { bytes: copied, readable: [1, 2, 6, 8, 9, 11, 12, 13, 14, 15], missing: [3, 5] },
    { bytes: edited, readable: [1, 2, 6, 8, 9, 11, 12, 13, 14, 15], missing: [3, 5] },
    { bytes: zeroed, readable: [1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15], missing: [8, 9] },
    { bytes: shorter, readable: [1, 2, 3, 4, 5, 6, 8, 9], missing: [11, 15] },
  ]
  for (const { bytes, readable, missing } of cases) {
    const journal = await appliedJournal(whole, bytes)
    t.teardown(() => journal.close())
    const page = await journal.log.query({ ...EVER, limit: 100 }, serverTurns)
    t.same(sequences([page]), readable)
    t.equal(page.damaged, true)
    const shown = await exported(WHOLE, journal.log)
    t.same(
      shown.filter(({ isUnreadable }) => isUnreadable !== true).map(({ sequence }) => sequence),
      readable,
    )
    const { damage, count, ends } = await journal.log.survey(WHOLE, serverTurns)
    const [sequence = 0, lastSequence = 0] = missing
    t.match(damage, { count: 1, records: lastSequence - sequence + 1, entries: [{ sequence, lastSequence }] })
    t.match([count, ends?.firstSequence], [readable.length, 0])
  }
})

test('a store that has applied nothing', async (t) => {
  const directory = temporaryDirectory()
  const empty = ProjectionEnvironment.open(directory, { readOnly: false })
  t.teardown(async () => {
    await empty.close()
    rmSync(directory, { recursive: true })
  })
  const nothing = new AuditLog(store.disk, store.paths, empty)
  t.match(await nothing.query({ ...EVER, limit: 10 }, serverTurns), { records: [], next: undefined, damaged: false })
  t.match(await nothing.chain(sequenceOf(0), 10), { checked: 0, problems: [], nextFrom: undefined })
  t.same(await exported({ fromMicroseconds: microsecondsOf(0), toMicroseconds: microsecondsOf(1) }, nothing), [])
})
