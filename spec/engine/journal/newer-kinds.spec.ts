/**
 * Records of kinds that a verifier does not know, in a chain that is right: both verifiers say that a newer version wrote the
 * journal, with an exit code of its own. The same records in a chain that is wrong are damage.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'tap'
import { CHANGES } from '../../../engine/events/changes.ts'
import { isKnownChange, NewerKinds } from '../../../engine/verify/newer-kinds.ts'
import { run } from '../../cli/command-runner.ts'
import { type BuilderOptions, JournalBuilder } from '../../support/journals/journal-builder.ts'
import { repairBatch, type RecordFields } from '../../support/journals/journal-bytes.ts'
import { altered, batchAt, bytesOf, recordAt, sampleJournal } from '../../support/journals/journal-damage.ts'
import { askStranger, STRANGER, verifyAtRest, writeJournal } from '../../support/journals/journal-verdicts.ts'
import { SignedJournal } from '../../support/journals/signed-journal.ts'

const NEWER = { ours: 27, python: 3 } as const
const DAMAGED = { ours: 21, python: 1 } as const
/** A journal that a version with other kinds is taken to have written. It was made once, and stays. */
const GOLDEN = resolve('spec/golden/newer-journal')

async function exitCodes(journal: string): Promise<{ readonly ours: number | undefined; readonly python: number }> {
  const { exitCode } = await run(['journal', 'verify', journal])
  return { ours: exitCode, python: spawnSync('python3', [STRANGER, journal]).status ?? -1 }
}

test('the kinds of changes that both verifiers know are those of the program', (t) => {
  const written = new Set(Object.values(CHANGES).map(({ code }) => code))
  const upTo = Math.max(...written) + 100
  const known = Array.from({ length: upTo }, (_, kind) => kind).filter(isKnownChange)
  t.same(
    known,
    [...written].toSorted((left, right) => left - right),
  )
  const program =
    'import sys; sys.path.insert(0, "spec/formats"); import verify_journal; print(*sorted(verify_journal.KNOWN_CHANGES))'
  t.equal(spawnSync('python3', ['-B', '-c', program], { encoding: 'utf8' }).stdout.trim(), known.join(' '))
  t.end()
})

test('a golden journal with kinds of later versions is newer than the verifiers, and not damaged', async (t) => {
  const expected = JSON.parse(readFileSync(join(GOLDEN, 'expected.json'), 'utf8')) as object[]
  const report = await verifyAtRest(join(GOLDEN, 'journal'))
  t.match(report, { intact: false, problems: [], problemCount: 0, openSegmentTornTail: undefined })
  t.same(report.newer, expected)
  const lines = expected.map((one) => {
    const { segment, offset, sequence, count, what } = one as (typeof report.newer)[number]
    return `${segment} offset ${offset} sequence ${sequence}: newer than this verifier: ${what}, ${count} record${count === 1 ? '' : 's'}\n`
  })
  const all = `newer than this verifier: ${report.records} records, and everything that this verifier knows is intact\n`
  t.same(askStranger(join(GOLDEN, 'journal')), [lines.join('') + all])
  t.same(await exitCodes(join(GOLDEN, 'journal')), NEWER)
  const shown = await run(['journal', 'verify', join(GOLDEN, 'journal')])
  t.match(shown.stdout, /^The journal is newer than this verifier: /)
  t.notMatch(shown.stdout, /NOT intact/)
  const { stdout } = await run(['journal', 'verify', '--json', join(GOLDEN, 'journal')])
  t.match(JSON.parse(stdout), { intact: null, newer: expected, problem_count: 0 })
})

test('one damaged byte anywhere in the golden journal is damage', async (t) => {
  const path = join(t.testdir(), 'journal')
  cpSync(join(GOLDEN, 'journal'), path, { recursive: true })
  const { newer } = await verifyAtRest(path)
  for (const { segment, offset } of newer) {
    const before = readFileSync(join(path, segment))
    const bytes = Buffer.from(before)
    bytes[offset + 90] = (bytes[offset + 90] ?? 0) ^ 1
    writeFileSync(join(path, segment), bytes)
    const report = await verifyAtRest(path)
    t.ok(report.problemCount > 0, `${segment} ${offset}`)
    t.same(await exitCodes(path), DAMAGED, `${segment} ${offset}`)
    writeFileSync(join(path, segment), before)
  }
})

/** What a later version might write in the place of record 5 of the sample journal, or of its first seal. */
const RECORDS: Readonly<Record<string, readonly [what: string, sequence: number, options: BuilderOptions]>> = {
  'a kind of record': ['record kind 9', 5, altered(5, (record) => (record.kind = 9))],
  'a body version': ['body version 3', 5, altered(5, (record) => (record.bodyVersion = 3))],
  'a body version whose body is no MessagePack': [
    'body version 3',
    5,
    altered(5, (record) => Object.assign(record, { bodyVersion: 3, body: Buffer.alloc(5, 0xc1) })),
  ],
  'a seal of another body version': ['body version 3', 7, altered(7, (record) => (record.bodyVersion = 3))],
  'a genesis of another body version': ['body version 3', 0, altered(0, (record) => (record.bodyVersion = 3))],
}

for (const [name, [what, sequence, options]] of Object.entries(RECORDS)) {
  test(`${name} that is not on the page`, async (t) => {
    const root = t.testdir()
    const journal = sampleJournal(options)
    const directory = writeJournal(root, journal, journal.head())
    const report = await verifyAtRest(directory)
    t.match(report, { intact: false, problems: [], newer: [{ what, count: 1, sequence }] })
    t.match(
      askStranger(directory)[0],
      new RegExp(`sequence ${sequence}: newer than this verifier: ${what}, 1 record\n`),
    )
    t.same(await exitCodes(directory), NEWER)
  })

  test(`${name} that is not on the page, with another hash`, async (t) => {
    const journal = sampleJournal(options)
    const segment = sequence > 7 ? 1 : 0
    const bytes = bytesOf(journal, segment)
    const at = recordAt(sequence)
    bytes[at + 88] = (bytes[at + 88] ?? 0) ^ 1
    repairBatch(
      bytes,
      journal.segments[segment]?.batches.findLast(({ offset }) => offset < at)?.offset ?? batchAt(0, 0),
    )
    const directory = writeJournal(t.testdir(), journal, journal.head())
    const { problems, newer } = await verifyAtRest(directory)
    t.match(problems, [
      { sequence, verdict: 'content changed' },
      { sequence, verdict: 'damaged batch' },
    ])
    t.same(newer, [], 'it is not called newer')
    t.same(await exitCodes(directory), DAMAGED)
  })
}

test('a known kind in a wrong place is damage, whatever else is newer', async (t) => {
  const root = t.testdir()
  const cases: Readonly<Record<string, (record: RecordFields) => void>> = {
    'a time that goes back': (record) => Object.assign(record, { kind: 9, time: record.time - 5 }),
    'another record before it': (record) => Object.assign(record, { kind: 9, previousHash: Buffer.alloc(32, 1) }),
    'a second genesis': (record) => Object.assign(record, { kind: 1, bodyVersion: 3 }),
  }
  for (const [name, alter] of Object.entries(cases)) {
    const directory = writeJournal(root, sampleJournal(altered(5, alter)))
    t.ok((await verifyAtRest(directory)).problemCount > 0, name)
    t.same(await exitCodes(directory), DAMAGED, name)
  }
})

test('changes of kinds that are not on the page', async (t) => {
  const root = t.testdir()
  const asked = { operation: 'management:new', resource: 'new' }
  const known = [2, 5, 'photos']
  const cases: Readonly<
    Record<string, readonly [codes: typeof NEWER | typeof DAMAGED, make: (journal: JournalBuilder) => void]>
  > = {
    'without an attempt': [NEWER, (journal) => journal.entries({ changes: [[90, 1]] })],
    'beside a known one': [NEWER, (journal) => journal.entries({ changes: [known, [90, 1]] })],
    'with an attempt': [
      NEWER,
      (journal) => journal.entries({ ...asked, result: 0 }, { ...asked, intentSequence: 1, changes: [[90, 1]] }),
    ],
    'a known change with an attempt in a record of a newer kind': [
      NEWER,
      (journal) => {
        journal.append([{ kind: 5, body: Buffer.of(0xc1) }])
        journal.entries({ intentSequence: 1, changes: [known] })
      },
    ],
    'with the attempt of another request': [
      DAMAGED,
      (journal) => journal.entries({ result: 0 }, { ...asked, intentSequence: 1, changes: [[90, 1]] }),
    ],
    'that did not succeed': [DAMAGED, (journal) => journal.entries({ result: 2, changes: [[90, 1]] })],
    'beside a known change without its attempt': [
      DAMAGED,
      (journal) => {
        journal.entries({ changes: [[90, 1]] })
        journal.entries({ changes: [known] })
      },
    ],
    'without a form': [DAMAGED, (journal) => journal.entries({ changes: [[90, new Map([[1, 2]])]] })],
  }
  for (const [name, [codes, make]] of Object.entries(cases)) {
    const journal = new JournalBuilder()
    make(journal)
    const directory = writeJournal(root, journal, journal.head())
    t.same(await exitCodes(directory), codes, name)
  }
})

/** Its second checkpoint is in a record that is not known. */
function withNewerCheckpoint(): SignedJournal {
  return new SignedJournal(altered(7, (record) => (record.bodyVersion = 3))).records(5).sign().sign(7).records(2)
}

test('checkpoints after what is not known are checked for what does not depend on it', async (t) => {
  const root = t.testdir()
  const right = withNewerCheckpoint().sign(9)
  const directory = writeJournal(root, right.builder, right.builder.head())
  t.same(await exitCodes(directory), NEWER)
  t.match(await verifyAtRest(directory), { problems: [], checkpoints: { count: 2 } })
  const wrong = withNewerCheckpoint().sign(9, (stated) => (stated.root = Buffer.alloc(32)))
  t.same(await exitCodes(writeJournal(root, wrong.builder)), DAMAGED, 'another root')
})

test('invented kinds without number take no memory', (t) => {
  const kinds = new NewerKinds()
  for (let kind = 100; kind < 200; kind += 1) {
    kinds.add({ what: `change kind ${kind}`, count: 1, segment: 's', offset: 0, sequence: kind })
  }
  t.equal(kinds.all.length, 21)
  t.match(kinds.all.at(-1), { what: 'other kinds', count: 80 })
  const journal = new JournalBuilder({ alterRecord: (record) => (record.bodyVersion = 3 + record.sequence) })
  for (let batch = 0; batch < 3; batch += 1) journal.entries(...Array.from({ length: 20 }, () => ({})))
  const directory = writeJournal(t.testdir(), journal)
  const lines = askStranger(directory)[0]?.split('\n') ?? []
  t.match(lines.at(-3), /newer than this verifier: other kinds, 41 records$/)
  t.end()
})
