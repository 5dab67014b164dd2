/** Bodies that no version wrote, in journals whose every hash is right: both verifiers say the same, and every reader goes on. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { test } from 'tap'
import { showJournal } from '../../prove/fuzz/shown-journal.ts'
import { fileOf, indexOf, member } from '../../support/journals/cold-bytes.ts'
import { JournalBuilder } from '../../support/journals/journal-builder.ts'
import { KIND, packBody } from '../../support/journals/journal-bytes.ts'
import { askStranger, STRANGER, verifyAtRest, writeJournal } from '../../support/journals/journal-verdicts.ts'

const ENTRY = 'the body is not an entry'
const CHANGES = 'its changes are none'
const AUDIT_PART = [1, 'system:journal', null, null, null, 'journal.recovered', 'journal', null, []] as const
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')
const audit = (index: number, value: unknown): Buffer =>
  packBody(AUDIT_PART.map((one, at) => (at === index ? value : one)))
/** With values as bytes of MessagePack, for spellings that the encoder does not use. */
const spelled = (index: number, value: string): Buffer =>
  Buffer.concat([hex('99'), ...AUDIT_PART.map((one, at) => (at === index ? hex(value) : packBody([one]).subarray(1)))])
const change = (changes: unknown, part: readonly unknown[] = AUDIT_PART): Buffer => packBody([...part, changes])

/** Bodies, and what is wrong with them. */
const BODIES: Readonly<Record<string, readonly [kind: number, body: Buffer, fault: string | undefined]>> = {
  'an audit record': [KIND.audit, packBody(AUDIT_PART), undefined],
  nothing: [KIND.audit, Buffer.alloc(0), ENTRY],
  'bytes by chance': [KIND.audit, Buffer.from(Array.from({ length: 64 }, (_, at) => (at * 151 + 83) % 256)), ENTRY],
  'a map': [KIND.audit, hex('81 a1 61 01'), ENTRY],
  'an array and a blank': [KIND.audit, hex('91 01 20'), ENTRY],
  'one value': [KIND.audit, hex('91 01'), ENTRY],
  '30,000 nested arrays': [KIND.audit, Buffer.alloc(30_000, 0x91), ENTRY],
  'nested arrays as metadata': [
    KIND.audit,
    Buffer.concat([packBody(AUDIT_PART).subarray(0, -1), Buffer.alloc(40, 0x91)]),
    ENTRY,
  ],
  'eight values': [KIND.audit, packBody(AUDIT_PART.slice(0, 8)), ENTRY],
  'ten values in an audit record': [KIND.audit, change([[7]]), ENTRY],
  'the nine in the long form of an array': [
    KIND.audit,
    Buffer.concat([hex('dc 00 09'), packBody(AUDIT_PART).subarray(1)]),
    ENTRY,
  ],
  'a byte more': [KIND.audit, Buffer.concat([packBody(AUDIT_PART), hex('c0')]), ENTRY],
  'a result that is none': [KIND.audit, audit(0, 4), ENTRY],
  'a result below 0': [KIND.audit, audit(0, -1), ENTRY],
  'a true result': [KIND.audit, audit(0, true), ENTRY],
  'half a result': [KIND.audit, audit(0, 0.5), ENTRY],
  'a result as a float': [KIND.audit, spelled(0, 'cb 3ff0000000000000'), undefined],
  'a result in 64 bits': [KIND.audit, spelled(0, 'cf 0000000000000001'), undefined],
  'a result in a signed byte': [KIND.audit, spelled(0, 'd0 01'), undefined],
  nobody: [KIND.audit, audit(1, null), ENTRY],
  'bytes for a principal': [KIND.audit, audit(1, Buffer.from('root')), ENTRY],
  'a principal that is not UTF-8': [KIND.audit, spelled(1, 'a2 ff fe'), undefined],
  'a number for an address': [KIND.audit, audit(3, 7), ENTRY],
  'a list as attempt': [KIND.audit, audit(7, [1]), ENTRY],
  'an attempt beyond 2^53': [KIND.audit, spelled(7, 'cf 0020000000000000'), ENTRY],
  'an attempt below 0': [KIND.audit, audit(7, -3), ENTRY],
  'one text of metadata': [KIND.audit, audit(8, ['name']), ENTRY],
  'a flag in the metadata': [KIND.audit, audit(8, ['name', true]), ENTRY],
  'numbers of any form in the metadata': [KIND.audit, audit(8, ['a', -1, 'b', 1.5]), undefined],
  'an extension': [KIND.audit, spelled(8, '92 a1 61 d4 00 00'), ENTRY],
  'a change of the system': [KIND.change, change([[7]]), undefined],
  'a change without changes': [KIND.change, packBody(AUDIT_PART), ENTRY],
  'no change': [KIND.change, change([]), CHANGES],
  'a number as changes': [KIND.change, change(7), CHANGES],
  'a number as a change': [KIND.change, change([7]), CHANGES],
  'a change without a kind': [KIND.change, change([[]]), CHANGES],
  'a list as kind': [KIND.change, change([[[7]]]), CHANGES],
  'a text as kind': [KIND.change, change([['7']]), CHANGES],
  'half a kind': [KIND.change, change([[7.5]]), CHANGES],
  'a list as intent of a change': [
    KIND.change,
    change(
      [[7]],
      AUDIT_PART.map((one, at) => (at === 7 ? [1] : one)),
    ),
    ENTRY,
  ],
}

function journalWith(kind: number, body: Buffer): JournalBuilder {
  const journal = new JournalBuilder()
  journal.entries({})
  journal.append([{ kind, body }])
  journal.entries({})
  return journal
}

test('both verifiers name each, and what they call intact every reader shows', async (t) => {
  const root = t.testdir()
  const cases = Object.entries(BODIES).map(([name, [kind, body, fault]]) => ({
    name,
    fault,
    journal: journalWith(kind, body),
  }))
  const directories = cases.map(({ journal }) => writeJournal(root, journal))
  const theirs = askStranger(...directories)
  for (const [index, { name, fault, journal }] of cases.entries()) {
    const report = await verifyAtRest(directories[index] as string)
    const { offset } = journal.open.batches[2]?.records[0] ?? {}
    const expected = fault === undefined ? [] : [{ sequence: 2, offset, verdict: 'damaged batch', detail: fault }]
    t.match(report, { intact: fault === undefined, problems: expected }, name)
    const line = `${report.problems[0]?.segment} offset ${offset} sequence 2: damaged batch: ${fault}\n`
    t.equal(theirs[index], fault === undefined ? 'intact 4 records\n' : line, `${name}, in Python`)
    const shown = await showJournal(journal)
    t.equal(shown.page.records.length, 3, `${name}: the page goes on`)
    t.equal(shown.exported, 3, `${name}: the export goes on`)
    if (fault !== undefined) continue
    t.notOk(shown.page.damaged || shown.filtered.damaged || shown.events.damaged, name)
    t.same(shown.asBytes, [], name)
  }
})

test('a record that nobody can read is shown as that, with its sequence and its hash', async (t) => {
  const journal = journalWith(KIND.audit, Buffer.alloc(0))
  const { page, filtered, asBytes } = await showJournal(journal)
  t.equal(page.damaged, true)
  const [, unreadable] = page.records
  t.match(unreadable, { sequence: 2, isUnreadable: true, entry: { operation: 'unreadable', principal: 'unreadable' } })
  t.match(unreadable?.entry.metadata, ['damaged', ENTRY, 'record_hash', /^[0-9a-f]{64}$/])
  t.same(
    filtered.records.map(({ sequence }) => sequence),
    [2],
    'it may be about anything, so a filter lets it through',
  )
  t.same(asBytes, [2])
})

/** The verifier in Python with a bound on its memory: kilobytes of address space. */
function askBounded(kilobytes: number, ...directories: readonly string[]) {
  const command = `ulimit -v ${kilobytes}; exec python3 ${STRANGER} ${directories.map((each) => `'${each}'`).join(' ')}`
  return spawnSync('sh', ['-c', command], { encoding: 'utf8' })
}

test('whatever is in the files, the verifier in Python ends with a verdict and reads the other journals', (t) => {
  const root = t.testdir()
  const first = '0000000000000000.segment'
  const odd: Readonly<Record<string, (directory: string) => void>> = {
    'a directory as segment': (directory) => mkdirSync(join(directory, first)),
    'an empty segment': (directory) => writeFileSync(join(directory, first), ''),
    'a gzip file': (directory) => writeFileSync(join(directory, first), gzipSync(Buffer.alloc(1000))),
    zeros: (directory) => writeFileSync(join(directory, first), Buffer.alloc(4096)),
    'half a HEAD': (directory) => {
      new JournalBuilder().write(directory)
      writeFileSync(join(directory, 'HEAD'), Buffer.alloc(5000, 0x4f))
    },
  }
  const directories = Object.entries(odd).map(([name, make]) => {
    const directory = join(root, name.replaceAll(' ', '-'))
    mkdirSync(directory)
    make(directory)
    return directory
  })
  const whole = writeJournal(root, journalWith(KIND.audit, packBody(AUDIT_PART)))
  const { stdout, stderr, status } = askBounded(400_000, ...directories, whole)
  t.equal(stderr, '')
  t.equal(status, 1)
  t.match(stdout, new RegExp(`${whole}:\nintact 4 records\n(head|root of) [^]*$`))
  t.end()
})

const MEBIBYTE = 1 << 20

test('a small cold segment of 500 MiB does not take them', (t) => {
  const directory = join(t.testdir(), 'journal')
  mkdirSync(directory)
  const { bytes } = new JournalBuilder().open
  const first = Buffer.concat([bytes, Buffer.alloc(MEBIBYTE - bytes.length)])
  const zeros = Buffer.alloc(MEBIBYTE)
  const blocks = [first, ...Array.from({ length: 499 }, () => zeros)]
  const [head, tail] = [member(first), member(zeros)]
  const members = blocks.map((block) => (block === first ? head : tail))
  const segment = fileOf({ blocks, members, index: indexOf({ blocks, members }) })
  t.ok(segment.length < MEBIBYTE, 'it is small')
  writeFileSync(join(directory, '0000000000000000.segment'), segment)
  const { stdout, stderr } = askBounded(200_000, directory)
  t.equal(stderr, '')
  t.equal(stdout, `0000000000000000.segment offset ${bytes.length} sequence 1: damaged batch: no seal\n`)
  t.end()
})
