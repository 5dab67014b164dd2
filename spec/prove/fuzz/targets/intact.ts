/**
 * Bodies of every kind of record in a journal whose every hash is right. What the verifier calls intact every reader shows, and
 * no body ends a reader; a share is given to the verifier in Python as well, and both say the same.
 */
import * as fc from 'fast-check'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { sequenceOf } from '../../../../engine/brands.ts'
import type { AuditContext } from '../../../../engine/events/audit.ts'
import { decodeChanges, encodeEntry } from '../../../../engine/events/entry-codec.ts'
import type { VerificationReport } from '../../../../engine/verify/journal-verifier.ts'
import { verifySegment } from '../../../../engine/verify/segment-verifier.ts'
import type { SegmentWindow } from '../../../../engine/verify/segment-window.ts'
import { deriveEvents } from '../../../../projections/events/derive-events.ts'
import { change, context } from '../../../support/journals/arbitrary-entries.ts'
import { JournalBuilder } from '../../../support/journals/journal-builder.ts'
import { entryBody, KIND, packBody } from '../../../support/journals/journal-bytes.ts'
import { verifyAtRest } from '../../../support/journals/journal-verdicts.ts'
import { MemoryWindow } from '../memory-files.ts'
import { showJournal } from '../shown-journal.ts'
import { Stranger } from '../stranger.ts'
import { accepted, type FuzzTarget, mustBeSame, mustHold, refused, type Verdict } from '../target.ts'

/** The first byte of an input says what its body is the body of. */
const KINDS = [KIND.audit, KIND.change, KIND.genesis, KIND.seal] as const
const SEQUENCE = { genesis: 0, attempt: 1, body: 2 } as const
/** One of so many is given to the verifier in Python. */
const STRANGER_SHARE = 16
const ATTEMPT = { operation: 's3:PUT', resource: 'bucket:photos/cat.jpg' } as const

function journalWith(kind: number, body: Buffer): JournalBuilder {
  if (kind === KIND.genesis) {
    const alterRecord = (record: { sequence: number; body: Buffer }): void => {
      if (record.sequence === SEQUENCE.genesis) record.body = body
    }
    const journal = new JournalBuilder({ alterRecord })
    journal.entries({}, {})
    return journal
  }
  const journal = new JournalBuilder()
  journal.entries({ ...ATTEMPT, result: 0 })
  journal.append([{ kind, body }], kind === KIND.seal ? 1 : 0)
  if (kind !== KIND.seal) journal.entries({})
  return journal
}

const directory = { path: '', stranger: undefined as Stranger | undefined }

/** The verdicts of both verifiers by sequence, as far as they concern the form. */
async function askBoth(journal: JournalBuilder): Promise<readonly [VerificationReport, readonly string[]]> {
  if (directory.stranger === undefined) {
    directory.path = join(mkdtempSync(join(tmpdir(), 'object-store-fuzz-')), 'journal')
    directory.stranger = new Stranger()
    process.once('exit', () => rmSync(join(directory.path, '..'), { recursive: true, force: true }))
  }
  mkdirSync(directory.path, { recursive: true })
  journal.write(directory.path)
  return [await verifyAtRest(directory.path), await directory.stranger.ask(directory.path)]
}

const PROBLEM = /^\S+ offset (\d+) sequence (\d+): ([^:]+): /

type Judged = Pick<VerificationReport, 'problems' | 'newer' | 'intact'>

async function compareVerifiers(journal: JournalBuilder): Promise<Judged> {
  const [report, lines] = await askBoth(journal)
  const theirs = lines.flatMap((line) => {
    const [, , sequence, verdict] = PROBLEM.exec(line) ?? []
    return verdict === undefined ? [] : [`${sequence} ${verdict}`]
  })
  const ours = [
    ...report.problems.map(({ sequence, verdict }) => `${sequence} ${verdict}`),
    ...report.newer.map(({ sequence }) => `${sequence} newer than this verifier`),
  ]
  mustBeSame(
    lines.some((line) => line.startsWith('intact')),
    report.intact,
    `intact, by Python and by us: ${lines.join('; ')}`,
  )
  mustHold(!lines.some((line) => line.startsWith('damaged:')), `Python does not know what it met: ${lines.join('; ')}`)
  mustBeSame([...new Set(theirs)].toSorted(), [...new Set(ours)].toSorted(), 'the verdicts of Python and ours')
  return report
}

function hasEvents(body: Buffer): boolean {
  try {
    deriveEvents(sequenceOf(SEQUENCE.body), decodeChanges(body))
    return true
  } catch {
    return false
  }
}

async function judge(input: Buffer): Promise<Verdict> {
  const kind = KINDS[(input[0] ?? 0) % KINDS.length] as number
  const body = input.subarray(1)
  const journal = journalWith(kind, body)
  const isShared = crc32(input) % STRANGER_SHARE === 0
  const report = isShared ? await compareVerifiers(journal) : verifyInMemory(journal)
  const shown = await showJournal(journal)
  const entries = kind === KIND.genesis || kind === KIND.seal ? journal.nextSequence - (kind === KIND.seal ? 2 : 1) : 3
  mustBeSame(shown.page.records.length, entries, 'records on the page')
  mustBeSame(shown.exported, entries, 'records in the export')
  const isFormRight = !report.problems.some(({ verdict }) => verdict === 'damaged batch')
  if (!isFormRight) return refused(`${kind} ${report.problems[0]?.detail}`)
  mustBeSame(
    [shown.page.damaged, shown.filtered.damaged, shown.asBytes],
    [false, false, []],
    'what is called right is shown',
  )
  mustHold(!shown.events.damaged || !hasEvents(body), 'the events of changes that are right are shown')
  const verdicts = [...report.problems.map(({ verdict }) => verdict), ...report.newer.map(() => 'newer')]
  return report.intact ? accepted(`${kind}`) : refused(`${kind} ${[...new Set(verdicts)].join()}`)
}

function verifyInMemory({ open }: JournalBuilder): Judged {
  const window = new MemoryWindow(open.bytes) as unknown as SegmentWindow
  const job = { path: 'memory', name: open.name, isLast: true, watched: [], settleMilliseconds: 0 }
  const { problems, newer, distantChanges } = verifySegment(job, () => undefined, window)
  return { problems, newer, intact: problems.length === 0 && newer.length === 0 && distantChanges.length === 0 }
}

/** What the attempt in the journal asked for. */
const ANSWERED: AuditContext = {
  ...ATTEMPT,
  principal: 'service_account:builder',
  credentialId: undefined,
  sourceAddress: undefined,
  requestId: undefined,
  metadata: [],
}
/** Entries of the system itself, which need no attempt, and of the attempt in the journal. */
const ENTRIES = fc
  .sample(fc.tuple(context, fc.array(change, { minLength: 1, maxLength: 3 }), fc.boolean()), { seed: 11, numRuns: 160 })
  .map(([audit, changes, isAnswered]) => {
    const asked = isAnswered ? ANSWERED : audit
    return Buffer.from(encodeEntry(asked, 'success', isAnswered ? SEQUENCE.attempt : undefined, changes))
  })
const AUDITS = [{}, { result: 0 }, { result: 2, requestId: 'r' }, { metadata: ['size', 7, 'name', 'x'] }].map(entryBody)
const GENESIS = packBody([1, 'object-store', Buffer.alloc(16, 0xd7), Buffer.alloc(32, 0xc4)])
const WORDS =
  '90 99 9a c0 c1 c2 c3 c4ff c7ff ca cb cc cd ce cf d0ff d1 d2 d3 d6 d9ff dc000a ddffffffff dfffffffff dbffffffff'

export const INTACT_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'journal-intact',
    seeds: [
      ...AUDITS.map((body) => Buffer.concat([Buffer.of(0), body])),
      ...ENTRIES.map((body) => Buffer.concat([Buffer.of(1), body])),
      Buffer.concat([Buffer.of(2), GENESIS]),
      Buffer.of(0),
      Buffer.concat([Buffer.of(0), Buffer.alloc(16 * 1024, 0x91)]),
    ],
    words: [...WORDS.split(' ').map((hex) => Buffer.from(hex, 'hex')), '__proto__', Buffer.alloc(40, 0x91)],
    judge,
  },
]
