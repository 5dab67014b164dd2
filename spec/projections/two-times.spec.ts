/** A host's clock that jumps: what people see has its times, and the order of the log does not change (decision 0229). */
import { rmSync } from 'node:fs'
import * as fc from 'fast-check'
import { type Test, test } from 'tap'
import { microsecondsOf, sequenceOf } from '../../engine/brands.ts'
import { readJournal } from '../../engine/journal/read-journal.ts'
import { AuditLog } from '../../projections/audit/audit-log.ts'
import type { AuditRange } from '../../projections/audit/audit-export.ts'
import type { AuditCursor, AuditQuery } from '../../projections/audit/audit-query.ts'
import { serverTurns } from '../../projections/audit/turns.ts'
import type { EventLog } from '../../projections/events/event-log.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { allRuns } from '../../projections/tables/audit-runs.ts'
import { openTables } from '../../projections/tables/table-list.ts'
import { createAccount } from '../support/access-commands.ts'
import { contextOf, pick } from '../support/audit-samples.ts'
import { createBucket, write } from '../support/commands.ts'
import { type JournalEntry, journalEntries } from '../support/journal-entries.ts'
import { askStranger, verifyAtRest } from '../support/journals/journal-verdicts.ts'
import { eventLogOf } from '../support/model/event-differences.ts'
import { everyNth, runsOf } from '../support/share-of-cases.ts'
import { dumpStore, MASTER_KEY, openTestStore, roomyDisk, type TestStore } from '../support/test-store.ts'

const HOUR = 3_600_000_000
const DAY = 24 * HOUR
const BEGIN = Date.UTC(2026, 7, 1) * 1000

/** A store whose clock a spec sets. */
class JumpingStore {
  clock = BEGIN
  /** What the clock says first, a time for each question. */
  readonly next: number[] = []
  store: TestStore | undefined
  readonly #root: string
  #written = 0

  constructor(root: string) {
    this.#root = root
  }

  get open(): TestStore {
    if (this.store === undefined) throw new Error('the store is closed')
    return this.store
  }

  async start(): Promise<void> {
    // Segments are small, so that there are several.
    this.store = await openTestStore(this.#root, {
      segmentBytes: 64 * 1024,
      clock: () => this.next.shift() ?? this.clock,
    })
  }

  async stop(): Promise<void> {
    await this.open.close(true)
    this.store = undefined
  }

  /** Some batches of records and changes; the clock goes on between them. */
  async work(records: number): Promise<void> {
    for (let index = 0; index < records; index += 1) {
      this.#written += 1
      this.clock += 1000 * (1 + (this.#written % 7))
      void this.open.client.record(contextOf(this.#written), 'success', undefined)
      if (this.#written % 9 === 0) await this.open.client.execute(write('b', `key-${this.#written}`, Buffer.from('x')))
      if (this.#written % 31 === 0) await this.open.client.execute(createAccount(`account-${this.#written}`))
    }
    await this.open.loop.drained()
  }

  entries(): JournalEntry[] {
    return journalEntries(this.#root)
  }
}

const END = Number.POSITIVE_INFINITY
const DIRECTIONS = [false, true] as const

/** All pages of a query, as sequences. */
async function pagesOf(log: AuditLog, query: Omit<AuditQuery, 'after'>, scanMaximum: number): Promise<number[]> {
  const found: number[] = []
  let after: AuditCursor | undefined
  do {
    const page = await log.query({ ...query, after }, serverTurns, scanMaximum)
    if (page.damaged) throw new Error('a page is damaged')
    found.push(...page.records.map(({ sequence }) => sequence))
    after = page.next
  } while (after !== undefined)
  return found
}

async function exported(log: AuditLog, range: AuditRange): Promise<number[]> {
  const records = log.records(range, serverTurns)
  const found: number[] = []
  for (let part = await records.next(); part !== undefined; part = await records.next()) {
    found.push(...part.map(({ sequence }) => sequence))
  }
  records.close()
  return found
}

/** Every reader by time gives what a filter over the journal gives. */
async function assertRange(t: Test, jumping: JumpingStore, since: number, until: number): Promise<void> {
  const { paths, disk } = jumping.open
  const environment = ProjectionEnvironment.open(paths.projections, { readOnly: true })
  try {
    const log = new AuditLog(disk, paths, environment)
    const inside = jumping.entries().filter((one) => one.timeMicroseconds >= since && one.timeMicroseconds < until)
    const expected = inside.map(({ sequence }) => sequence)
    const times = { sinceMicroseconds: microsecondsOf(since), untilMicroseconds: microsecondsOf(until) }
    for (const newestFirst of DIRECTIONS) {
      const found = await pagesOf(log, { ...times, limit: 37, newestFirst }, 120)
      if (newestFirst) found.reverse()
      if (found.join() !== expected.join())
        t.same(found, expected, `${since} to ${until}, newest first: ${newestFirst}`)
    }
    const range = { fromMicroseconds: times.sinceMicroseconds, toMicroseconds: times.untilMicroseconds }
    const written = await exported(log, range)
    if (written.join() !== expected.join()) t.same(written, expected, `export of ${since} to ${until}`)
    const { count, ends } = await log.survey(range, serverTurns)
    if (count !== expected.length) t.equal(count, expected.length, `records of ${since} to ${until}`)
    if (log.isInOrder) t.same(await log.rangeEnds(range, serverTurns), ends, `ends of ${since} to ${until}`)
    const events = eventLogOf(jumping.open, environment)
    await assertEvents(t, events, inside, times)
  } finally {
    await environment.close()
  }
}

function makesEvent({ changes }: JournalEntry): boolean {
  return changes.some(({ name }) => name === 'object.written' || name === 'bucket.created')
}

async function assertEvents(
  t: Test,
  log: EventLog,
  inside: readonly JournalEntry[],
  times: Pick<AuditQuery, 'sinceMicroseconds' | 'untilMicroseconds'>,
): Promise<void> {
  const expected = inside.filter(makesEvent).map(({ sequence, timeMicroseconds }) => `${sequence} ${timeMicroseconds}`)
  const found: string[] = []
  let after: { sequence: ReturnType<typeof sequenceOf>; index: number } | undefined
  for (;;) {
    const page = await log.read({ ...times, after, limit: 11 }, serverTurns)
    if (page.damaged) throw new Error('a page of events is damaged')
    found.push(...page.events.map(({ sequence, timeMicroseconds }) => `${sequence} ${timeMicroseconds}`))
    if (page.isAtEnd) break
    after = page.position
  }
  if (found.join() !== expected.join()) t.same(found, expected, 'events')
}

/** The journal is sound for all who check it, ordered, and times are those of the clock. */
async function assertSound(t: Test, jumping: JumpingStore): Promise<void> {
  const { paths } = jumping.open
  await jumping.stop()
  const report = await verifyAtRest(paths.journal, { masterKey: MASTER_KEY })
  t.match(report, { intact: true, problems: [] }, 'the verifier')
  t.match(askStranger(paths.journal), [/^intact/], 'the verifier in Python')
  const live = await dumpStore(paths)
  t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 }, 'a rebuild gives the same rows')
  rmSync(paths.projections, { recursive: true })
  rmSync(paths.snapshots, { recursive: true, force: true })
  await jumping.start()
  await jumping.stop()
  const again = await dumpStore(paths)
  for (const table of ['objects', 'ages', 'audit-runs', 'accounts']) {
    const before = new Set(live[table])
    const lost = [...before].filter((row) => !again[table]?.includes(row))
    t.same(table === 'audit-runs' ? lost.filter((row) => !row.startsWith('6c617374')) : lost, [], `rows of ${table}`)
  }
  await jumping.start()
}

const JUMPS = {
  'two days ahead, and back': [2 * DAY, -2 * DAY],
  'an hour behind': [-HOUR],
  'a day behind, and right again': [-DAY, DAY],
  'jumping twice, and twice back': [2 * DAY, 3 * DAY, -4 * DAY, -DAY],
  'behind by less than a second, and by little more': [-900_000, -200_000, 1_500_000],
} as const

for (const [name, jumps] of Object.entries(JUMPS)) {
  test(`times of a clock that goes ${name}`, async (t) => {
    const jumping = new JumpingStore(t.testdir())
    await jumping.start()
    await jumping.open.client.execute(createBucket('b'))
    await jumping.work(60)
    const marks = [jumping.clock]
    for (const [index, jump] of jumps.entries()) {
      jumping.clock += jump
      marks.push(jumping.clock)
      if (index % 2 === 1) {
        await jumping.stop()
        await jumping.start()
      }
      await jumping.work(90)
      marks.push(jumping.clock)
    }
    for (const [index, mark] of everyNth([...marks.entries()], 3)) {
      await assertRange(t, jumping, mark, marks[(index + 1) % marks.length] as number)
      await assertRange(t, jumping, ...(index % 2 === 0 ? ([0, mark] as const) : ([mark, END] as const)))
    }
    await assertSound(t, jumping)
    for (const since of everyNth(marks, 3)) await assertRange(t, jumping, since, since + HOUR)
    const last = jumping.entries().at(-1) as JournalEntry
    t.ok(Math.abs(last.timeMicroseconds - jumping.clock) <= 1_000_000, 'the last record has the time of the clock')
    await jumping.stop()
  })
}

test('whatever a clock does, every range of time is what a filter over the journal gives', async (t) => {
  const jump = fc.oneof(
    fc.integer({ min: -2 * DAY, max: 2 * DAY }),
    fc.integer({ min: -3_000_000, max: 3_000_000 }),
    fc.constantFrom(0, -1000, 1000, -1_000_000, -1_001_000),
  )
  const steps = fc.array(fc.record({ jump, records: fc.nat({ max: 40 }), restart: fc.boolean() }), {
    minLength: 1,
    maxLength: 8,
  })
  const root = t.testdir()
  let run = 0
  const property = fc.asyncProperty(steps, fc.array(fc.nat(), { minLength: 4, maxLength: 4 }), async (life, picks) => {
    const jumping = new JumpingStore(`${root}/life-${(run += 1)}`)
    await jumping.start()
    await jumping.open.client.execute(createBucket('b'))
    for (const { jump: by, records, restart } of life) {
      jumping.clock = Math.max(BEGIN - 20 * DAY, jumping.clock + by)
      if (restart) {
        await jumping.stop()
        await jumping.start()
      }
      await jumping.work(records)
    }
    const all = jumping.entries().map(({ timeMicroseconds }) => timeMicroseconds)
    for (const [index, since] of picks.entries()) {
      const [from, to] = [pick(all, since), pick(all, picks[(index + 1) % picks.length] as number)]
      await assertRange(t, jumping, Math.min(from, to), Math.max(from, to) + (index % 2))
    }
    await jumping.stop()
  })
  await fc.assert(property, { numRuns: runsOf(12, 4) })
})

test('a batch in which the clock goes back is found whole', async (t) => {
  const jumping = new JumpingStore(t.testdir())
  await jumping.start()
  await jumping.open.client.execute(createBucket('b'))
  const clocks = [BEGIN + 10 * HOUR, BEGIN + HOUR, BEGIN + 11 * HOUR, BEGIN + 2 * HOUR]
  for (const [index] of clocks.entries()) void jumping.open.client.record(contextOf(index), 'success', undefined)
  jumping.next.push(...clocks)
  await jumping.open.loop.drained()
  const order: number[] = []
  readJournal(roomyDisk, jumping.open.paths, undefined, {
    record: ({ orderMicroseconds }) => order.push(orderMicroseconds),
    batch: () => undefined,
  })
  t.same(
    order.toSorted((a, b) => a - b),
    order,
  )
  for (const since of [BEGIN, ...clocks]) for (const until of clocks) await assertRange(t, jumping, since, until + 1)
  await assertSound(t, jumping)
  await jumping.stop()
})

test('a clock that is right writes no byte more, and makes no run', async (t) => {
  const jumping = new JumpingStore(t.testdir())
  await jumping.start()
  await jumping.open.client.execute(createBucket('b'))
  await jumping.work(200)
  t.same(
    jumping.entries().filter((one) => one.orderMicroseconds !== one.timeMicroseconds),
    [],
  )
  const environment = ProjectionEnvironment.open(jumping.open.paths.projections, { readOnly: true })
  t.equal(allRuns(openTables(environment).auditRuns).length, 1)
  await environment.close()
  await jumping.stop()
})
