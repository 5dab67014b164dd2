import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'tap'
import { JournalNotFoundError, verifyJournal } from '../../engine/verify/journal-verifier.ts'
import { PROBLEMS_KEPT_MAXIMUM } from '../../engine/verify/verdicts.ts'
import { damagedBatches } from '../support/journals/damaged-batches.ts'
import { damagedSegments } from '../support/journals/damaged-segments.ts'
import { JournalBuilder } from '../support/journals/journal-builder.ts'
import { entryBody, KIND } from '../support/journals/journal-bytes.ts'
import { sampleJournal } from '../support/journals/journal-damage.ts'
import { askStranger, STRANGER, verifyAtRest, writeJournal } from '../support/journals/journal-verdicts.ts'

test('an intact journal', async (t) => {
  const journal = sampleJournal()
  const directory = writeJournal(t.testdir(), journal, journal.head(true))
  const expected = {
    intact: true,
    deploymentId: journal.deploymentId.toString('hex'),
    segments: 3,
    records: 16,
    batches: 9,
    firstSequence: 0,
    headSequence: 15,
    headHash: journal.lastHash.toString('hex'),
    mark: { markNumber: 1, sequence: 15, batchNumber: 8, cleanStop: true },
    openSegmentTornTail: undefined,
    notes: [],
    problems: [],
    problemCount: 0,
  }
  const seen: number[] = []
  for (const threads of [0, 1, 2, 7]) {
    const report = await verifyJournal(directory, { threads, onProgress: ({ records }) => seen.push(records) })
    t.match(report, expected, `${threads} threads`)
    t.equal(
      report.bytes,
      journal.segments.reduce((sum, { bytes }) => sum + bytes.length, -512),
      'bytes without the zeros',
    )
    t.equal(seen.at(-1), 16, 'progress ends with every record')
  }
  t.same(askStranger(directory), ['intact 16 records\n'], 'the stranger agrees')
  const store = dirname(directory)
  mkdirSync(join(store, 'journal'))
  t.same(askStranger(store), [`${store} holds no segment; the journal is ${join(store, 'journal')}\n`])
  const rest = await verifyAtRest(directory, { fromSegment: 8 })
  t.match(rest, { intact: true, records: 8, segments: 2, firstSequence: 8, headSequence: 15 }, 'from a segment on')
  await t.rejects(verifyAtRest(directory, { fromSegment: 9 }), JournalNotFoundError)
  await t.rejects(verifyAtRest(join(directory, 'elsewhere')), JournalNotFoundError)
})

test('each kind of damage has its place and its verdict', async (t) => {
  const root = t.testdir()
  const cases = [...damagedBatches, ...damagedSegments]
  const written = cases.map(({ options, damage }) => {
    const journal = sampleJournal(options)
    const head = journal.head()
    return { journal, directory: writeJournal(root, journal, damage?.(journal) ?? head) }
  })
  const stranger = askStranger(...written.map(({ directory }) => directory))
  for (const [index, { journal, directory }] of written.entries()) {
    const { name = '', first = [] } = cases[index] ?? {}
    const [segment = -1, offset, sequence, verdict = ''] = first
    const report = await verifyAtRest(directory)
    t.match(report.problems[0], { segment: journal.segments[segment]?.name, offset, sequence, verdict }, name)
    t.notOk(report.intact, `${name}: not intact`)
    t.match(stranger[index], verdict, `${name}: the stranger says so too`)
    t.notMatch(stranger[index], /^intact/m, `${name}: not intact for the stranger`)
  }
  t.equal(spawnSync('python3', [STRANGER, written[0]?.directory ?? '']).status, 1, 'the stranger ends with 1')
})

test('what stands behind damage is verified', async (t) => {
  const journal = sampleJournal()
  const [first, , last] = journal.segments
  for (const [segment, batch] of [
    [first, 1],
    [first, 3],
    [last, 0],
  ] as const) {
    const offset = segment?.batches[batch]?.offset ?? 0
    if (segment !== undefined) segment.bytes[offset + 9] = 0xff
  }
  const report = await verifyAtRest(writeJournal(t.testdir(), journal, journal.head()))
  t.equal(report.records, 16, 'records are verified although the headers of their batches are not readable')
  t.same(
    report.problems.map(({ sequence, verdict }) => [sequence, verdict]),
    [
      [1, 'damaged batch'],
      [6, 'damaged batch'],
      [7, 'content changed'],
      [11, 'damaged batch'],
    ],
    'three headers, and the digest that covers two of them',
  )
})

test('problems are bounded, and counted beyond the bound', async (t) => {
  const journal = new JournalBuilder({ alterRecord: (record) => (record.time -= 2 * record.sequence) })
  for (let batch = 0; batch < 10; batch += 1) journal.entries(...Array.from({ length: 150 }, () => ({})))
  const report = await verifyAtRest(writeJournal(t.testdir(), journal))
  t.equal(report.problems.length, PROBLEMS_KEPT_MAXIMUM)
  t.equal(report.problemCount, 1500)
})

test('a torn tail is a note and no problem', async (t) => {
  const root = t.testdir()
  const whole = sampleJournal()
  const batch = whole.open.batches.at(-1)
  const start = batch?.offset ?? 0
  const end = start + (batch?.length ?? 0)
  const tears: Record<string, (bytes: Buffer) => unknown> = {
    'the end is missing': (bytes) => bytes.fill(0, end - 40, end),
    'the beginning is missing': (bytes) => bytes.fill(0, start, start + 72),
    'the middle is missing': (bytes) => bytes.fill(0, start + 96, start + 160),
    'only the trailer is there': (bytes) => bytes.fill(0, start, end - 8),
  }
  for (const [name, tear] of Object.entries(tears)) {
    const journal = sampleJournal()
    const head = new JournalBuilder().head()
    tear(journal.open.bytes)
    const directory = writeJournal(root, journal, head)
    const report = await verifyAtRest(directory)
    const tail = { segment: journal.open.name, offset: start, sequence: 14 }
    t.match(report, { problemCount: 0, openSegmentTornTail: tail, headSequence: 13, notes: [] }, name)
    t.match(askStranger(directory), [/torn tail\nintact 14 records/], `${name}: for the stranger too`)
  }
  const cutShort = sampleJournal()
  cutShort.open.bytes = cutShort.open.bytes.subarray(0, end - 3)
  const report = await verifyAtRest(writeJournal(root, cutShort))
  t.match(report, { problemCount: 0, openSegmentTornTail: { offset: start, bytes: end - 3 - start } }, 'the file ends')
})

test('states between two segments are intact', async (t) => {
  const root = t.testdir()
  const states: Record<string, (journal: JournalBuilder) => void> = {
    'sealed and not yet cut': (journal) => {
      journal.sealOnly()
      journal.writeAhead(4096)
    },
    'sealed and cut': (journal) => void journal.sealOnly(),
    'the next segment without a batch': (journal) => journal.seal(),
    'the next segment with zeros': (journal) => {
      journal.seal()
      journal.writeAhead(4096)
    },
  }
  for (const [name, reach] of Object.entries(states)) {
    const journal = new JournalBuilder()
    journal.entries({}, {})
    reach(journal)
    const directory = writeJournal(root, journal, journal.head())
    t.match(await verifyAtRest(directory), { intact: true, records: 4, headSequence: 3 }, name)
    t.same(askStranger(directory), ['intact 4 records\n'], `${name}: for the stranger too`)
  }
})

test('HEAD: the greater right slot counts', async (t) => {
  const root = t.testdir()
  const journal = sampleJournal()
  const [first, second] = [journal.headSlot(), journal.headSlot()]
  const torn = Buffer.from(first)
  torn[20] = 0xff
  const heads: readonly (readonly [string, Buffer | undefined, number | undefined, number])[] = [
    ['both right', Buffer.concat([second, first]), 2, 0],
    ['the greater one torn', Buffer.concat([torn, first]), 1, 1],
    ['one slot only', Buffer.concat([Buffer.alloc(4096), first]), 1, 0],
    ['none right', Buffer.concat([torn, torn]), undefined, 1],
    ['an empty file', Buffer.alloc(0), undefined, 1],
    ['no file', undefined, undefined, 1],
  ]
  for (const [name, head, markNumber, notes] of heads) {
    const report = await verifyAtRest(writeJournal(root, journal, head))
    t.equal(report.problemCount, 0, name)
    t.equal(report.mark?.markNumber, markNumber, `${name}: the mark`)
    t.equal(report.notes.length, notes, `${name}: the notes`)
  }
  const empty = join(root, 'empty')
  new JournalBuilder().write(empty, journal.head())
  rmSync(join(empty, '0000000000000000.segment'))
  t.match(await verifyAtRest(empty), { problems: [{ verdict: 'acknowledged entries lost' }] }, 'a mark and no segments')
})

test('a record that the caller knows', async (t) => {
  const journal = sampleJournal()
  const hash = journal.lastHash.toString('hex')
  const directory = writeJournal(t.testdir(), journal)
  const cases = [
    { expectedHead: { sequence: 15, hash }, verdicts: [] },
    { expectedHead: { sequence: 14, hash }, verdicts: ['content changed'] },
    { expectedHead: { sequence: 16, hash }, verdicts: ['acknowledged entries lost'] },
  ]
  for (const { expectedHead, verdicts } of cases) {
    const { problems } = await verifyAtRest(directory, { expectedHead })
    t.same(
      problems.map(({ verdict }) => verdict),
      verdicts,
      `sequence ${expectedHead.sequence}`,
    )
  }
})

test('segments longer than the memory window, and a batch as long as one can be', async (t) => {
  const journal = new JournalBuilder()
  const body = entryBody({ metadata: ['long', 'x'.repeat(300_000)] })
  journal.append(Array.from({ length: 13 }, () => ({ kind: KIND.audit, body })))
  for (let batch = 0; batch < 30; batch += 1) journal.append([{ kind: KIND.audit, body }])
  journal.seal()
  journal.entries({})
  const directory = writeJournal(t.testdir(), journal, journal.head())
  t.match(await verifyAtRest(directory), { intact: true, records: 46, problems: [] })
  const [first] = journal.segments
  if (first !== undefined) first.bytes[first.batches.at(-2)?.records[0]?.offset ?? 0] = 0xff
  journal.write(directory)
  const report = await verifyAtRest(directory)
  t.same(
    report.problems.map(({ sequence, verdict }) => [sequence, verdict]),
    [
      [43, 'damaged batch'],
      [43, 'content changed'],
      [44, 'broken link to the previous record'],
      [44, 'content changed'],
    ],
    'the batch, its record, the link to it, and the digest of the segment',
  )
})
