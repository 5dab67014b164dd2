/**
 * Answers of the audit log with the record index are those without it, byte for byte, over a random journal; whatever is wrong with
 * the files of the index, no record is missing from an answer.
 */
import { copyFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import * as fc from 'fast-check'
import tap, { test } from 'tap'
import { microsecondsOf, sequenceOf } from '../../engine/brands.ts'
import type { AuditFilter } from '../../projections/audit/audit-filter.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import { AuditLog } from '../../projections/audit/audit-log.ts'
import type { AuditCursor, AuditPage, AuditQuery } from '../../projections/audit/audit-query.ts'
import type { AuditRecord } from '../../projections/audit/audit-record.ts'
import { serverTurns } from '../../projections/audit/turns.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { IndexFile } from '../../projections/record-index/index-file.ts'
import { IndexWriter } from '../../projections/record-index/index-writer.ts'
import { filesToMerge, type IndexName, listIndex } from '../../projections/record-index/index-names.ts'
import { headBefore, makeIndex } from '../../projections/record-index/make-index.ts'
import { nextTask } from '../../projections/record-index/next-task.ts'
import { RecordIndex } from '../../projections/record-index/record-index.ts'
import { NO_PACE } from '../../projections/steady-pace.ts'
import { getApplied } from '../../projections/tables/applied.ts'
import { openTables } from '../../projections/tables/table-list.ts'
import { contextOf, matching, OPERATIONS, pick, PRINCIPALS } from '../support/audit-samples.ts'
import { createBucket } from '../support/commands.ts'
import { journalEntries } from '../support/journal-entries.ts'
import { flipByte } from '../support/journal-files.ts'
import { compressJournal } from '../support/journals/cold-segments.ts'
import { everyNth, runsOf } from '../support/share-of-cases.ts'
import { temporaryDirectory } from '../support/test-clients.ts'
import { openTestStore } from '../support/test-store.ts'

const root = temporaryDirectory()
const store = await openTestStore(root, { segmentBytes: 128 * 1024 })
const { disk, paths } = store
const environment = ProjectionEnvironment.open(paths.projections, { readOnly: true })
const nowhere = Object.assign(Object.create(paths), { recordIndex: join(root, 'no-index') }) as typeof paths
const plain = new AuditLog(disk, paths, environment, undefined, new RecordIndex(disk, nowhere))
const damaged: string[] = []
const indexed = new AuditLog(
  disk,
  paths,
  environment,
  undefined,
  new RecordIndex(disk, paths, (_path, reason) => damaged.push(reason)),
)
tap.teardown(async () => {
  await environment.close()
  await store.close(true)
  rmSync(root, { recursive: true })
})

let written = 0

async function append(count: number): Promise<void> {
  const end = written + count
  for (; written < end; written += 1) {
    const result = pick(['success', 'denied', 'failure'] as const, Math.floor(written / 5))
    // A principal that comes with no other record for long, and objects that are named once.
    const principal = written % 700 === 3 ? 'service_account:rare' : contextOf(written).principal
    const resource = written % 31 === 5 ? `bucket:once/key-${written}` : contextOf(written).resource
    void store.client.record({ ...contextOf(written), principal, resource }, result, undefined)
    if (written % 200 === 0) await store.client.execute(createBucket(`bucket-${written}`))
  }
  await store.loop.drained()
}

/** Records of the smallest file, so that there are many. */
const LEVEL_RECORDS = 60

/** Makes what a worker would make. @returns how many files that are of others are among them */
function index(count = Number.POSITIVE_INFINITY, of = paths): number {
  let merged = 0
  const end = getApplied(openTables(environment).applied)?.position?.sequence ?? 0
  for (let made = 0; made < count; made += 1) {
    const task = nextTask(disk, of, end, () => false, LEVEL_RECORDS)
    if (task === undefined || makeIndex(disk, of, task, NO_PACE) === undefined) break
    if (task.kind === 'merge') merged += 1
  }
  return merged
}

const EVER = {
  sinceMicroseconds: microsecondsOf(0),
  untilMicroseconds: microsecondsOf(Number.POSITIVE_INFINITY),
} as const

async function follow(
  log: AuditLog,
  query: Omit<AuditQuery, 'after'>,
  scanMaximum = Number.POSITIVE_INFINITY,
): Promise<AuditPage[]> {
  const pages: AuditPage[] = []
  let after: AuditCursor | undefined
  do {
    const page = await log.query({ ...query, after }, serverTurns, scanMaximum)
    pages.push(page)
    after = page.next
  } while (after !== undefined)
  return pages
}

async function exported(log: AuditLog, range: Parameters<AuditLog['records']>[0]): Promise<AuditRecord[]> {
  const records = log.records(range, serverTurns)
  const all: AuditRecord[] = []
  try {
    for (let some = await records.next(); some !== undefined; some = await records.next()) all.push(...some)
  } finally {
    records.close()
  }
  return all
}

const sequences = (pages: readonly AuditPage[]) =>
  pages.flatMap(({ records }) => records.map(({ sequence }) => sequence))

function maybe<T>(values: readonly T[]): fc.Arbitrary<T | undefined> {
  return fc.option(fc.constantFrom(...values), { nil: undefined })
}

const FILTER: fc.Arbitrary<AuditFilter> = fc.record({
  principal: maybe([...PRINCIPALS, 'service_account:rare', 'nobody']),
  operation: maybe(OPERATIONS),
  result: maybe(['success', 'denied'] as const),
  bucket: maybe(['a', 'b', 'é', 'once', 'bucket-400', 'x']),
  key: maybe(['x', 'xy', 'key-36', 'key-2454', '\u{1f4be}']),
  keyPrefix: maybe(['x', 'key-2']),
})

await append(3000)
await compressJournal(paths, 4)
const all = journalEntries(root)

/** Random questions, each answered by both logs in both orders. */
async function compareAnswers(runs: number): Promise<void> {
  const time = fc
    .oneof(
      fc.nat({ max: all.length - 1 }).map((at) => all[at]?.timeMicroseconds ?? 0),
      fc.constantFrom(0, Number.MAX_SAFE_INTEGER),
    )
    .map(microsecondsOf)
  const question = fc.record({
    filter: FILTER,
    sinceMicroseconds: fc.oneof(fc.constant(microsecondsOf(0)), time),
    untilMicroseconds: fc.oneof(fc.constant(microsecondsOf(Number.MAX_SAFE_INTEGER)), time),
    limit: fc.integer({ min: 4, max: 1000 }),
    scanMaximum: fc.integer({ min: 40, max: 4000 }),
    newestFirst: fc.boolean(),
  })
  const property = fc.asyncProperty(question, async ({ filter, scanMaximum, ...others }) => {
    const query = { ...filter, ...others }
    const [expected, found] = [await follow(plain, query), await follow(indexed, query)]
    if (JSON.stringify(found) !== JSON.stringify(expected)) return false
    const cut = await follow(indexed, query, scanMaximum)
    if (JSON.stringify(sequences(cut)) !== JSON.stringify(sequences(expected))) return false
    const wanted = matching(all, query)
    if (JSON.stringify(sequences(found)) !== JSON.stringify(query.newestFirst ? wanted.toReversed() : wanted))
      return false
    const range = { ...filter, fromMicroseconds: query.sinceMicroseconds, toMicroseconds: query.untilMicroseconds }
    return JSON.stringify(await exported(indexed, range)) === JSON.stringify(await exported(plain, range))
  })
  await fc.assert(property, { numRuns: runs })
}

test('without a file, with some, with all, and when they are put together', async (t) => {
  await compareAnswers(runsOf(10, 2))
  index(5)
  await compareAnswers(runsOf(60, 6))
  t.ok(index() > 0)
  const { used } = listIndex(disk, paths)
  t.ok(used.some(({ level }) => level > 0))
  t.ok(all.length - (used.at(-1)?.following ?? 0) <= 2 * LEVEL_RECORDS, 'of the open segment, too')
  await compareAnswers(runsOf(100, 8))
  const [hole] = used
  disk.remove(hole?.path ?? '')
  await compareAnswers(runsOf(100, 8))
  index()
  t.equal(listIndex(disk, paths).used[0]?.first, 0, 'a hole is filled')
  await compareAnswers(runsOf(20, 3))
  t.same(damaged, [])
})

test('an export that ends with its own record, when the segment of that is sealed and indexed', async (t) => {
  for (const at of [200, 1500, all.length - 3]) {
    const range = {
      fromMicroseconds: microsecondsOf(0),
      toMicroseconds: microsecondsOf(Number.POSITIVE_INFINITY),
      throughSequence: sequenceOf(all[at]?.sequence ?? 0),
      bucket: 'a',
    }
    t.same(await exported(indexed, range), await exported(plain, range))
  }
})

test('what the index names is all that is read', async (t) => {
  const once = { ...EVER, bucket: 'once', key: 'key-2454', limit: 10 }
  t.match(await plain.query(once, serverTurns, 400), { records: [], scanTruncated: true })
  const page = await indexed.query(once, serverTurns, 400)
  t.same(sequences([page]), matching(all, once))
  t.match(page, { scanTruncated: false, next: undefined })
})

const files = () => listIndex(disk, paths).used.map(({ path }) => path)

test('any damage of a file is met, and its records are read instead', async (t) => {
  const kept = files().map((path) => [path, readFileSync(path)] as const)
  const question = { ...EVER, principal: 'service_account:rare', limit: 1000 }
  const expected = await follow(plain, question)
  const restore = () => {
    rmSync(paths.recordIndex, { recursive: true })
    disk.makeDirectory(paths.recordIndex)
    for (const [path, bytes] of kept) writeFileSync(path, bytes)
  }
  for (const [path, bytes] of everyNth(kept, 11)) {
    for (const offset of [3, 40, 100, 256 + 5, 256 + 4000, bytes.length - 9, bytes.length - 8192]) {
      damaged.length = 0
      flipByte(path, offset)
      for (const newestFirst of [false, true]) {
        const pages = await follow(indexed, { ...question, newestFirst })
        t.same(
          sequences(pages),
          newestFirst ? sequences(expected).toReversed() : sequences(expected),
          `${path} ${offset}`,
        )
      }
      restore()
    }
    for (const length of [0, 100, 256, bytes.length - 1, bytes.length - 8192]) {
      damaged.length = 0
      truncateSync(path, length)
      t.same(sequences(await follow(indexed, question)), sequences(expected), `${path} cut to ${length}`)
      t.ok(damaged.length > 0)
      restore()
    }
  }
  const [[one], [other]] = kept as unknown as [[string], [string]]
  damaged.length = 0
  copyFileSync(one, other)
  t.same(sequences(await follow(indexed, question)), sequences(expected), 'a file under the name of another')
  t.match(damaged, [/other records than its name says/])
  restore()
})

test('a file of another journal counts for nothing', async (t) => {
  const other = await openTestStore(t.testdir(), { segmentBytes: 128 * 1024 })
  for (let count = 0; count < 1000; count += 1) void other.client.record(contextOf(count), 'success')
  await other.loop.drained()
  await other.close(true)
  rmSync(paths.recordIndex, { recursive: true })
  index(20, other.paths)
  disk.makeDirectory(paths.recordIndex)
  const foreign = listIndex(disk, other.paths).used
  t.ok(foreign.length > 0)
  for (const { path } of foreign) copyFileSync(path, join(paths.recordIndex, basename(path)))
  damaged.length = 0
  const question = { ...EVER, principal: 'service_account:rare', limit: 1000 }
  t.same(await follow(indexed, question), await follow(plain, question))
  t.equal(damaged.length, foreign.filter(({ first }) => first < (all.at(-1)?.sequence ?? 0)).length, damaged.join('; '))
})

test('a file of another journal is neither gone on from nor put together with others', (t) => {
  rmSync(paths.recordIndex, { recursive: true })
  const task = { kind: 'records', segment: sequenceOf(0), after: undefined, count: 60, before: 1e9, level: 0 } as const
  const first = makeIndex(disk, paths, task, NO_PACE)
  const second = first && makeIndex(disk, paths, { ...task, after: first.path }, NO_PACE)
  if (first === undefined || second === undefined) throw new Error('two files are needed')
  const opened = IndexFile.open(disk, first.path)
  opened.close()
  const { header } = opened
  disk.remove(first.path)
  const file = disk.create(first.path)
  const writer = new IndexWriter(file, header.first, () => undefined)
  writer.finish({ ...header, last: { ...header.last, head: Buffer.alloc(32, 7) } })
  file.close()
  const refused = { name: 'RecordIndexDamagedError', message: /another journal/ }
  t.throws(() => makeIndex(disk, paths, { ...task, after: first.path }, NO_PACE), refused)
  t.throws(() => makeIndex(disk, paths, { kind: 'merge', files: [first, second] }, NO_PACE), refused)
  copyFileSync(second.path, first.path)
  t.throws(() => makeIndex(disk, paths, { kind: 'merge', files: [first, second] }, NO_PACE), {
    name: 'RecordIndexDamagedError',
    message: /other records than its name says/,
  })
  t.end()
})

test('damage in the journal after the records of a file does not make it a file of another journal', (t) => {
  rmSync(paths.recordIndex, { recursive: true })
  // It is sealed, and not compressed.
  const segment = sequenceOf(segmentFirsts(disk, paths).at(-2) ?? 0)
  const task = { kind: 'records', segment, after: undefined, count: 60, before: 1e9, level: 0 } as const
  const name = makeIndex(disk, paths, task, NO_PACE)
  const file = IndexFile.open(disk, name?.path ?? '')
  file.close()
  const { offset } = file.header.last
  const parts = () => [...new RecordIndex(disk, paths, report).ascending([1], segment, segment + 10)]
  const report = (_path: string, reason: string) => damaged.push(reason)
  damaged.length = 0
  t.same(parts(), [])
  flipByte(paths.segment(segment), offset + 20)
  t.same(parts(), [{ kind: 'unknown', first: segment, following: segment + 10 }])
  t.throws(() => headBefore(disk, paths, file.header), { name: 'JournalDamagedError' })
  t.same(damaged, [])
  flipByte(paths.segment(segment), offset + 20)
  t.end()
})

function sized(level: number, count: number, from: number): IndexName[] {
  return Array.from({ length: count }, (_, at) => {
    return { path: `${level}-${from + at}`, first: from + at, following: from + at + 1, level }
  })
}

test('files that a higher one follows are put together, however few: large segments do not stay in many files', (t) => {
  let used: readonly IndexName[] = []
  for (let segment = 0; segment < 100; segment += 1) {
    const at = segment * 8
    used = [...used, ...sized(1, 1, at), ...sized(0, 7, at + 1)]
    for (let chosen = filesToMerge(used); chosen !== undefined; chosen = filesToMerge(used)) {
      const [one, last] = [chosen[0], chosen.at(-1)] as [IndexName, IndexName]
      const merged = { path: '', first: one.first, following: last.following, level: one.level + 1 }
      used = [...used.filter((name) => !chosen?.includes(name)), merged].sort((left, right) => left.first - right.first)
    }
  }
  t.ok(used.length < 30, `${used.length} files of 800`)
  t.end()
})

test('removed, it is made again and answers the same', async (t) => {
  rmSync(paths.recordIndex, { recursive: true })
  const question = { ...EVER, bucket: 'a', key: 'x', limit: 100 }
  const expected = await follow(plain, question)
  t.same(await follow(indexed, question), expected)
  index()
  t.same(await follow(indexed, question), expected)
  t.ok(new RecordIndex(disk, paths).facts.records > 2000)
})
