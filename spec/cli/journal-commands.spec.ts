import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { test } from 'tap'
import { exitTable } from '../../cli/exit-codes.ts'
import { formatMicroseconds, parseMicroseconds } from '../../cli/commands/journal/records/rfc3339-time.ts'
import { JournalBuilder } from '../support/journals/journal-builder.ts'
import { KIND, packBody } from '../support/journals/journal-bytes.ts'
import { jsonLines, runJournalCommand } from '../support/journals/journal-command-run.ts'
import { sampleJournal } from '../support/journals/journal-damage.ts'
import { waitingText } from '../support/stream-text.ts'

/** A journal with a record of every kind, and one that cannot be read. */
function richJournal(): JournalBuilder {
  const journal = new JournalBuilder({ startTime: 1_790_000_000_123_456 })
  const put = { operation: 's3:PUT', resource: 'bucket:photos/a' }
  const alice = { principal: 'service_account:alice', credentialId: 'AKIA1', sourceAddress: '192.0.2.7' }
  const metadata = ['user_agent', 'aws', 'bytes', 5_000_000_000]
  journal.entries({ result: 0, ...alice, requestId: 'REQUEST1', ...put, metadata })
  journal.entries({ intentSequence: 1, ...put, changes: [[1, 2, 'photos', 'eu', false]] })
  journal.entries({ result: 2, principal: 'anonymous', operation: 's3:GET', resource: 'bucket:photos/\u001B[31m' })
  journal.seal()
  journal.entries({ result: 3, operation: 's3:DELETE', resource: 'bucket:other/z' }, { operation: 's3:GET' })
  journal.append([{ kind: KIND.audit, body: Buffer.from([0xc1]) }])
  journal.writeAhead(1024)
  return journal
}

function writeStore(root: string, journal: JournalBuilder, head = journal.head()): string {
  journal.write(join(root, 'journal'), head)
  return root
}

test('journal verify', async (t) => {
  const journal = sampleJournal()
  const store = writeStore(t.testdir(), journal)
  const hash = journal.lastHash.toString('hex')
  const intact = await runJournalCommand(['verify', '--data-dir', store])
  t.equal(intact.code, 0)
  t.match(intact.out, /^The journal is intact\.\n/)
  t.match(intact.out, `15:${hash}`)
  t.equal(intact.error, '', 'no progress bar without a terminal')
  const json = await runJournalCommand([
    'verify',
    '--json',
    '--threads',
    '1',
    '--expect-head',
    `15:${hash}`,
    '--data-dir',
    store,
  ])
  t.match(jsonLines(json.out), [{ intact: true, records: 16, head_sequence: 15, head_hash: hash, problem_count: 0 }])
  const environment = { OBJECT_STORE_DATA_DIR: store }
  t.equal((await runJournalCommand(['verify'], { environment })).code, 0, 'the data directory from the environment')
  t.equal(
    (await runJournalCommand(['verify', '--expect-head', `16:${hash}`, '--data-dir', store])).code,
    24,
    'a record that is gone',
  )
  const other = await runJournalCommand(['verify', '--expect-head', `14:${hash}`, '--data-dir', store])
  t.equal(other.code, exitTable.storeDamaged.code, 'another record')
  t.match(other.out, /NOT intact: 1 problem\.\n {2}0000000000000011\.segment offset \d+ sequence 14: content changed/)
  t.equal((await runJournalCommand(['verify', '--data-dir', join(store, 'elsewhere')])).code, 4, 'no journal')
  for (const wrong of [
    ['--threads', '0'],
    ['--threads', 'x'],
    ['--expect-head', '15'],
    ['--expect-head', '15:abc'],
  ]) {
    t.equal((await runJournalCommand(['verify', '--data-dir', store, ...wrong])).code, 2, wrong.join(' '))
  }
  const terminal = Object.assign(new PassThrough(), { isTTY: true })
  await runJournalCommand(['verify', '--data-dir', store], { stderr: terminal })
  const bar = waitingText(terminal)
  t.match(bar, /\[#*\.*\] \d+ records/, 'a bar on a terminal')
  t.ok(bar.endsWith('\r\u001B[K'), 'removed at the end')
  journal.open.bytes[journal.open.batches[0]?.offset ?? 0] = 0
  writeStore(store, journal)
  const damaged = await runJournalCommand(['verify', '--json', '--data-dir', store])
  t.equal(damaged.code, 21)
  t.match(jsonLines(damaged.out)[0], { intact: false, problems: [{ sequence: 11, verdict: 'damaged batch' }] })
  rmSync(join(store, 'journal', '0000000000000011.segment'))
  t.equal((await runJournalCommand(['verify', '--data-dir', store])).code, 24, 'the end of the journal is gone')
})

test('journal show prints every record', async (t) => {
  const journal = richJournal()
  const { code, out, error } = await runJournalCommand(['show', '--data-dir', writeStore(t.testdir(), journal)])
  t.match({ code, error }, { code: 0, error: '' })
  const lines = jsonLines(out)
  t.same(
    lines.map(({ sequence }) => sequence),
    [0, 1, 2, 3, 4, 5, 6, 7],
  )
  t.same(
    lines.map(({ kind }) => kind),
    ['genesis', 'audit', 'change', 'audit', 'seal', 'audit', 'audit', 'audit'],
  )
  t.match(lines[0], { genesis: { product: 'object-store', deployment_id: journal.deploymentId.toString('hex') } })
  t.match(lines[4], { seal: { segment_number: 0, first_sequence: 0, last_sequence: 3 } })
  t.equal(lines[7]?.['body'], 'c1', 'a body that cannot be read is shown as bytes')
  t.equal(lines.at(-1)?.['record_hash'], journal.lastHash.toString('hex'))
  t.same(
    lines.slice(1).map((line) => line['previous_hash']),
    lines.slice(0, -1).map((line) => line['record_hash']),
  )
  t.match(lines[1], {
    event_id: '0000000000000001',
    timestamp: '2026-09-21T14:13:20.123457Z',
    principal: 'service_account:alice',
    credential_id: 'AKIA1',
    source_ip: '192.0.2.7',
    request_id: 'REQUEST1',
    operation: 's3:PUT',
    resource: 'bucket:photos/a',
    result: 'attempted',
    changes: [],
  })
  t.same(lines[1]?.['metadata'], { user_agent: 'aws', bytes: 5_000_000_000 })
  t.same(lines[2]?.['metadata'], { intent_event_id: '0000000000000001' })
})

test('journal show prints what is asked for', async (t) => {
  const store = writeStore(t.testdir(), richJournal())
  const cases: readonly (readonly [readonly string[], readonly number[]])[] = [
    [
      ['--from', '3'],
      [3, 4, 5, 6, 7],
    ],
    [
      ['--from', '5'],
      [5, 6, 7],
    ],
    [
      ['--from', '0000000000000001', '--to', '2'],
      [1, 2],
    ],
    [['--from', '9'], []],
    [
      ['--limit', '2'],
      [0, 1],
    ],
    [['--limit', '0'], []],
    [
      ['--since', '2026-09-21T14:13:20.123459Z'],
      [3, 4, 5, 6, 7],
    ],
    [
      ['--since', '2026-09-21T14:13:20.123461Z'],
      [5, 6, 7],
    ],
    [
      ['--since', '2026-09-21T16:13:20.123462+02:00'],
      [6, 7],
    ],
    [
      ['--until', '2026-09-21T14:13:20.123458Z'],
      [0, 1],
    ],
    [['--principal', 'service_account:alice'], [1]],
    [
      ['--operation', 's3:PUT'],
      [1, 2],
    ],
    [
      ['--resource', 'bucket:photos/'],
      [1, 2, 3, 6],
    ],
    [['--result', 'failure'], [5]],
    [['--request-id', 'REQUEST1'], [1]],
    [['--operation', 's3:GET', '--result', 'denied', '--limit', '1'], [3]],
  ]
  for (const [words, expected] of cases) {
    const { code, out } = await runJournalCommand(['show', ...words, '--data-dir', store])
    t.match(
      { code, sequences: jsonLines(out).map(({ sequence }) => sequence) },
      { code: 0, sequences: expected },
      words.join(' '),
    )
  }
  for (const wrong of [['--from', 'x'], ['--limit=-1'], ['--since', 'yesterday'], ['--result', 'maybe']]) {
    t.equal((await runJournalCommand(['show', ...wrong, '--data-dir', store])).code, 2, wrong.join(' '))
  }
  t.equal((await runJournalCommand(['show', '--data-dir', join(store, 'elsewhere')])).code, 4)
  mkdirSync(join(store, 'empty', 'journal'), { recursive: true })
  t.equal((await runJournalCommand(['show', '--data-dir', join(store, 'empty')])).code, 4)
  for (const place of [store, join(store, 'journal')]) {
    const { code, out } = await runJournalCommand(['show', place, '--from', '3', '--to', '3'])
    t.match([code, out.split('\n').length], [0, 2], 'a path')
  }
  t.equal((await runJournalCommand(['show', store, '--data-dir', store])).code, 2, 'a path and --data-dir')
  const table = await runJournalCommand(['show', '--table', '--from', '3', '--to', '3', '--data-dir', store])
  t.match(
    table.out,
    /^TIME +EVENT +RESULT .*\n2026-09-21T14:13:20\.123459Z +0000000000000003 +denied +anonymous +s3:GET +photos/,
  )
  t.notMatch(table.out, '\u001B', 'what a client sent does not reach the terminal as a control character')
})

test('journal show goes on behind damage and says so', async (t) => {
  const journal = richJournal()
  const [first] = journal.segments
  if (first !== undefined) first.bytes[first.batches[1]?.offset ?? 0] = 0
  const { code, out, error } = await runJournalCommand(['show', '--data-dir', writeStore(t.testdir(), journal)])
  t.equal(code, 21)
  t.same(
    jsonLines(out).map(({ sequence }) => sequence),
    [0, 2, 3, 4, 5, 6, 7],
  )
  t.match(error, /^object-store: record 1 cannot be read: 0000000000000000\.segment, offset \d+; run journal verify\n$/)
  const torn = richJournal()
  torn.open.bytes.fill(0xff, torn.open.batches.at(-1)?.offset)
  const outcome = await runJournalCommand(['show', '--data-dir', writeStore(t.testdir(), torn)])
  t.match(outcome, { code: 0, error: '' }, 'a torn tail is no damage')
  t.same(jsonLines(outcome.out).at(-1)?.['sequence'], 6)
})

/** Three segments of four batches of five records. */
function threeSegments(): JournalBuilder {
  const journal = new JournalBuilder()
  const body = packBody([1, 'system:root', null, null, null, 's3:GET', 'bucket:b', null, []])
  for (let segment = 0; segment < 3; segment += 1) {
    for (let batch = 0; batch < 4; batch += 1) {
      journal.append(Array.from({ length: 5 }, () => ({ kind: KIND.audit, body })))
    }
    if (segment < 2) journal.seal()
  }
  return journal
}

test('journal show names the records that are missing, where the records around them prove which', async (t) => {
  const [, second, third] = threeSegments().segments
  if (second === undefined || third === undefined) throw new Error('there are three segments')
  const names = threeSegments().segments.map(({ name }) => name)
  const show = async (journal: JournalBuilder, ...words: string[]) => {
    const store = writeStore(t.testdir(), journal)
    const { code, out, error } = await runJournalCommand(['show', ...words, '--data-dir', store])
    return { code, shown: jsonLines(out).length, error: error.split('\n').slice(0, -1) }
  }
  const all = (await show(threeSegments())).shown
  const offsets = second.batches.map(({ offset }) => offset)
  const [, first = 0] = second.batches.map(({ records }) => records[0]?.sequence ?? 0)
  const flipped = (segment: number, ...places: number[]) => {
    const journal = threeSegments()
    for (const at of places) journal.segments[segment]?.bytes.writeUInt8(0xaa, at)
    return journal
  }

  const middle = flipped(1, offsets[1]! + 20, offsets[2]! + 20)
  const run = `records ${first} to ${first + 9}`
  const named = `object-store: ${run} cannot be read: ${names[1]}, offset ${offsets[1]}; run journal verify`
  t.same(await show(middle), { code: 21, shown: all - 10, error: [named] }, 'batches beside each other are one part')
  t.same(await show(middle, '--to', String(first - 1)), { code: 0, shown: first, error: [] }, 'before them')
  t.same(await show(middle, '--from', String(first + 10)), { code: 0, shown: all - first - 10, error: [] }, 'after')
  t.match(await show(middle, '--from', String(first + 9)), { code: 21, error: [named] }, 'from the last of them')
  t.match(await show(middle, '--to', String(first)), { code: 21, error: [named] }, 'to the first of them')

  const seal = third.firstSequence - 1
  const error = [new RegExp(`record ${seal} cannot be read`)]
  t.match(await show(flipped(1, offsets.at(-1)! + 20)), { code: 21, shown: all - 1, error }, 'at the end of a segment')

  const header = flipped(1, 20)
  t.match(await show(header), {
    code: 21,
    shown: all,
    error: [/segment, offset 0 cannot be read, but no record is missing/],
  })

  const store = writeStore(t.testdir(), threeSegments())
  rmSync(join(store, 'journal', names[1]!))
  const gone = await runJournalCommand(['show', '--data-dir', store])
  const [from, to] = [second.firstSequence, seal]
  t.match(gone, {
    code: 21,
    error: `records ${from} to ${to} are not in the journal: ${names[2]}, offset 0 has what follows; run journal verify`,
  })
  rmSync(join(store, 'journal', names[0]!))
  t.match(await runJournalCommand(['show', '--data-dir', store]), { code: 21, error: `records 0 to ${to} are not` })
  const open = flipped(2, 20)
  open.open.bytes.fill(0, 256)
  t.match(await show(open), { code: 21, error: [/records from \d+ on cannot be read/] })
})

test('journal show keeps the pace of its reader, and ends when the reader goes', async (t) => {
  const journal = new JournalBuilder()
  const body = packBody([1, 'p'.repeat(1000), null, null, null, 's3:GET', 'bucket:b', null, []])
  for (let batch = 0; batch < 40; batch += 1) {
    journal.append(Array.from({ length: 50 }, () => ({ kind: KIND.audit, body })))
  }
  const store = writeStore(t.testdir(), journal)
  const slow = new PassThrough()
  let lines = 0
  const reading = runJournalCommand(['show', '--data-dir', store], { stdout: slow })
  slow.on('readable', () => {
    t.ok(slow.readableLength + slow.writableLength < 400_000, 'little waits for a slow reader')
    const piece: unknown = slow.read()
    lines += String(piece ?? '').split('\n').length - 1
  })
  t.equal((await reading).code, 0)
  // The command is done when its last lines are taken into the stream; the reader gets them a moment later.
  slow.end()
  await once(slow, 'end')
  t.equal(lines, 2001)
  const leaving = new PassThrough()
  const left = runJournalCommand(['show', '--data-dir', store], { stdout: leaving })
  await once(leaving, 'readable')
  leaving.destroy(Object.assign(new Error('the reader has gone'), { code: 'EPIPE' }))
  t.equal((await left).code, 0)
})

test('times have microseconds', async (t) => {
  for (const text of ['2026-09-21T14:13:20.123456Z', '1970-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000001Z']) {
    t.equal(formatMicroseconds(parseMicroseconds(text) ?? -1), text)
  }
  t.equal(parseMicroseconds('1970-01-01T01:00:00.5+01:00'), 500_000)
  t.equal(parseMicroseconds('1970-01-01T00:00:00.1234567Z'), 123_456, 'finer digits are cut off')
  for (const text of ['', '2026', '2026-09-21', '2026-13-21T14:13:20Z', '2026-09-21T14:13:20']) {
    t.equal(parseMicroseconds(text), undefined, text)
  }
  t.equal(formatMicroseconds(2 ** 63), String(2 ** 63), 'what is no date is shown as its number')
})
