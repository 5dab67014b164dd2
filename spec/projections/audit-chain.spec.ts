/**
 * The chain over spans of sequences: what is intact, what is not, and that damage hides nothing behind it.
 * Proves: DO-CAP-20, RES-CHN-01, RES-CHN-03, RES-CHN-06, RES-CHN-07.
 */
import * as fc from 'fast-check'
import { test } from 'tap'
import { verifySpanAside } from '../../engine/verify/span/span-thread.ts'
import { sequenceOf } from '../../engine/brands.ts'
import type { ChainReport } from '../../projections/audit/audit-log.ts'
import { type AppliedJournal, appliedJournal } from '../support/journals/applied-journal.ts'
import { coldBytes } from '../support/journals/cold-bytes.ts'
import { damagedBatches } from '../support/journals/damaged-batches.ts'
import { damagedCold, SMALL_BLOCK_BYTES } from '../support/journals/damaged-cold.ts'
import { damagedSegments } from '../support/journals/damaged-segments.ts'
import type { JournalBuilder } from '../support/journals/journal-builder.ts'
import {
  batchAt,
  BROKEN,
  bump,
  bytesOf,
  CHANGED,
  DAMAGED,
  type DamagedJournal,
  endOf,
  LOST,
  MISSING,
  recordAt,
  removeRecord,
  removeSegment,
  replaceBytes,
  sampleJournal,
} from '../support/journals/journal-damage.ts'
import { runsOf } from '../support/share-of-cases.ts'

const LAST_SEQUENCE = 15

interface Teardown {
  teardown(action: () => unknown): void
}

async function open(t: Teardown, bytes: JournalBuilder, indexed = false): Promise<AppliedJournal> {
  const journal = await appliedJournal(sampleJournal(), bytes, indexed)
  t.teardown(() => journal.close())
  return journal
}

/** The reports of the spans that follow one another to the end. */
async function spans({ log }: AppliedJournal, limit: number): Promise<ChainReport[]> {
  const reports: ChainReport[] = []
  for (let from: number | undefined = 0; from !== undefined; from = reports.at(-1)?.nextFrom) {
    reports.push(await log.chain(sequenceOf(from), limit))
  }
  return reports
}

function shown({ problems }: ChainReport): unknown[] {
  return problems.map(({ sequence, lastSequence, verdict }) => [sequence, lastSequence, verdict])
}

test('spans of an intact journal tile', async (t) => {
  for (const indexed of [false, true]) {
    const journal = await open(t, sampleJournal(), indexed)
    for (const limit of [1, 2, 3, 5, 16, 100]) {
      const reports = await spans(journal, limit)
      t.equal(reports.length, Math.ceil((LAST_SEQUENCE + 1) / limit))
      for (const [index, report] of reports.entries()) {
        const { from, checked, verified, headSequence, nextFrom } = report
        const last = Math.min(from + limit - 1, LAST_SEQUENCE)
        t.same(shown(report), [])
        t.equal(from, index * limit)
        t.same([checked, verified], [last - from + 1, last - from + 1])
        t.equal(headSequence, LAST_SEQUENCE)
        t.equal(nextFrom, last < LAST_SEQUENCE ? last + 1 : undefined)
      }
    }
    for (const from of [LAST_SEQUENCE + 1, 1e12]) {
      t.match(await journal.log.chain(sequenceOf(from), 10), {
        from,
        checked: 0,
        verified: 0,
        nextFrom: undefined,
        problems: [],
      })
    }
  }
})

/**
 * What a verifier of the journal sees and the chain of records does not: bodies that its writer wrote so, and what stands
 * around records and was put right with its checksum. Behind the end nothing was acknowledged.
 */
const OF_NO_CONCERN: ReadonlySet<string> = new Set([
  'a batch of another segment is put at the end',
  'time goes back',
  'time goes back between segments',
  'a time of the host that is too near',
  'a time of the host after the order time',
  'a time of the host beyond all times',
  'a body too short for the time of the host',
  'a second genesis',
  'no genesis',
  'a genesis of another product',
  'a genesis of another format',
  'a genesis without form',
  'a genesis of another deployment',
  'a seal without form',
  'a seal with another digest',
  ...[0, 1, 2, 3].map((index) => `a seal with another value ${index}`),
  'a batch number left out',
  'another segment number',
  'a seal in a batch without the flag',
  'the flag on a batch without a seal',
  'a header states another number',
  'a header states another batch number',
  'a header states another deployment',
  'a header states another digest',
])

function concerns({ name, first }: DamagedJournal): boolean {
  return first[3] !== LOST && !name.includes('the mark') && !OF_NO_CONCERN.has(name)
}

/** Where the verifier goes by the header of a batch, and the chain by its records. */
const OTHER_FIRST: Readonly<Record<string, readonly [sequence: number, verdict: string]>> = {
  'a batch stands twice': [1, BROKEN],
  'a sequence too great': [3, CHANGED],
  'a sequence too small': [3, CHANGED],
  'a whole batch with a wrong sequence at the end of the open segment': [14, CHANGED],
  'two segments are swapped': [0, CHANGED],
  'a segment cut off before its seal': [7, MISSING],
}

test('whatever a verifier finds in the records, the chain finds', async (t) => {
  for (const damaged of [...damagedBatches, ...damagedSegments].filter(concerns)) {
    const bytes = sampleJournal(damaged.options)
    damaged.damage?.(bytes)
    const [, , sequence, verdict] = damaged.first
    const expected = OTHER_FIRST[damaged.name] ?? [sequence, verdict === DAMAGED ? CHANGED : verdict]
    for (const indexed of [false, true]) {
      const journal = await open(t, bytes, indexed)
      const report = await journal.log.chain(sequenceOf(0), 100)
      t.same([report.problems[0]?.sequence, report.problems[0]?.verdict], expected, damaged.name)
      t.ok(report.verified <= report.checked)
      for (const limit of [1, 2, 3, 7]) {
        const problems = (await spans(journal, limit)).flatMap((span) => span.problems)
        t.ok(problems.length > 0, `${damaged.name}, in spans of ${limit}`)
      }
    }
  }
})

test('spans over cold segments find the same', async (t) => {
  for (const damaged of [undefined, ...damagedBatches, ...damagedSegments]) {
    const [plain, cold] = [sampleJournal(damaged?.options), sampleJournal(damaged?.options)]
    for (const bytes of [plain, cold]) damaged?.damage?.(bytes)
    for (const segment of cold.segments.slice(0, -1)) segment.bytes = coldBytes(segment.bytes, SMALL_BLOCK_BYTES)
    const journals = [await open(t, plain, true), await open(t, cold, true)] as const
    for (const limit of [3, 100]) {
      t.same(await spans(journals[1], limit), await spans(journals[0], limit), `${damaged?.name}, ${limit}`)
    }
  }
})

test('damage to the file of a cold segment is found in the spans that it concerns', async (t) => {
  for (const { name, damage, block } of damagedCold) {
    const bytes = sampleJournal()
    const [segment] = bytes.segments
    if (segment !== undefined) segment.bytes = damage(segment.bytes)
    const report = await (await open(t, bytes)).log.chain(sequenceOf(0), 100)
    const verdicts = new Set(report.problems.map(({ verdict }) => verdict))
    t.same([...verdicts], [CHANGED], name)
    if (block === undefined)
      t.same(
        shown(report),
        [
          [0, 0, CHANGED],
          [0, 7, CHANGED],
        ],
        name,
      )
    t.ok(report.verified >= 8, `${name}: the segments behind it are examined`)
  }
})

test('damage hides nothing behind it', async (t) => {
  const bytes = sampleJournal()
  bump(bytes, 0, recordAt(2) + 100)
  bytesOf(bytes, 0).fill(0, batchAt(0, 2), batchAt(0, 3))
  bump(bytes, 1, recordAt(9) + 90)
  removeRecord(bytes, 2, 0, 12)
  const { log } = await open(t, bytes)
  const report = await log.chain(sequenceOf(0), 100)
  t.same(shown(report), [
    [2, 2, CHANGED],
    [3, 5, CHANGED],
    [9, 9, CHANGED],
    [12, 12, MISSING],
  ])
  t.same([report.checked, report.verified], [12, 10])
  t.equal(report.nextFrom, undefined)
})

test('records that are swapped, cut out of their batch or planted', async (t) => {
  const swapped = sampleJournal()
  const [first, second, third] = [recordAt(11), recordAt(12), recordAt(13)]
  const bytes = bytesOf(swapped, 2)
  const reordered = Buffer.concat([bytes.subarray(second, third), bytes.subarray(first, second)])
  reordered.copy(bytes, first)
  t.same(shown(await (await open(t, swapped)).log.chain(sequenceOf(0), 100)), [
    [11, 11, MISSING],
    [11, 11, BROKEN],
  ])

  const cut = sampleJournal()
  replaceBytes(cut, 0, recordAt(4), recordAt(5))
  const report = await (await open(t, cut)).log.chain(sequenceOf(0), 100)
  t.match(shown(report)[0], [4, 4, MISSING], 'without a word of it in the header of the batch')
  t.ok(report.verified >= 12, 'the batches behind it are examined')

  const planted = sampleJournal()
  const batch = Buffer.from(bytesOf(planted, 1).subarray(batchAt(1, 0), batchAt(1, 1)))
  replaceBytes(planted, 0, batchAt(0, 3), batchAt(0, 3), batch)
  t.ok((await (await open(t, planted)).log.chain(sequenceOf(0), 100)).problems.length > 0)
})

test('no byte of the journal can be another without a word', async (t) => {
  const whole = sampleJournal()
  // Behind the last batch stand zeros, where nothing was acknowledged.
  const ends = whole.segments.map((segment, index) => (index === 2 ? endOf(2) : segment.bytes.length))
  const place = fc
    .nat({ max: 2 })
    .chain((segment) => fc.tuple(fc.constant(segment), fc.nat({ max: (ends[segment] ?? 1) - 1 })))
  await fc.assert(
    fc.asyncProperty(
      place,
      fc.integer({ min: 1, max: 255 }),
      fc.integer({ min: 1, max: 20 }),
      async (at, by, limit) => {
        const bytes = sampleJournal()
        const segment = bytesOf(bytes, at[0])
        segment[at[1]] = ((segment[at[1]] as number) + by) % 256
        const journal = await appliedJournal(whole, bytes)
        try {
          const reports = await spans(journal, limit)
          return reports.some(({ problems }) => problems.length > 0)
        } finally {
          await journal.close()
        }
      },
    ),
    { numRuns: runsOf(150, 40) },
  )
  t.pass()
})

test('a segment that is gone is missing whole', async (t) => {
  for (const [segment, first, last] of [
    [0, 0, 7],
    [1, 8, 10],
    [2, 11, 15],
  ] as const) {
    const bytes = sampleJournal()
    removeSegment(bytes, segment)
    const journal = await open(t, bytes)
    t.same(shown(await journal.log.chain(sequenceOf(0), 100)), [[first, last, MISSING]])
    const single = (await spans(journal, 1)).flatMap(shown)
    t.same(
      single,
      Array.from({ length: last - first + 1 }, (_, index) => [first + index, first + index, MISSING]),
    )
  }
})

test('a span that cannot be read is refused, and the next one is verified', async (t) => {
  const place = { segmentFirstSequence: 0, offset: 256 }
  const head = { sequence: 1, hash: Buffer.alloc(32) }
  const root = t.testdir({ file: '' })
  const job = { directory: `${root}/file`, from: 0, last: 1, beginning: place, end: place, head }
  const refused = verifySpanAside(job)
  const { log } = await open(t, sampleJournal())
  const verified = log.chain(sequenceOf(0), 100)
  await t.rejects(refused, { code: 'ENOTDIR' })
  t.match(await verified, { checked: LAST_SEQUENCE + 1, problems: [] })
  const { problems } = await verifySpanAside({ ...job, directory: `${root}/gone` })
  t.same(
    problems.map(({ sequence, lastSequence }) => [sequence, lastSequence]),
    [[0, 1]],
    'all of it is missing',
  )
})
