/**
 * `audit query`, `audit chain` and `audit export` against a server, and against one that misbehaves.
 * Proves: RES-EXP-01, RES-EXP-02, RES-EXP-03, RES-EXP-04, RES-EXP-09, API-AUD-09.
 */
import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import tap, { test } from 'tap'
import { ProgressBar } from '../../cli/terminal/progress-bar.ts'
import { csvRows } from '../support/export-client.ts'
import { startManaged, SYSTEM_TOKEN } from '../support/management-server.ts'
import { waitingText } from '../support/stream-text.ts'
import { FakeControl, type Outcome, run } from './command-runner.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const environment = { OBJECT_STORE_URL: server.apiEndpoint, OBJECT_STORE_TOKEN: SYSTEM_TOKEN }

function asked(...words: readonly string[]): Promise<Outcome> {
  return run(words, { environment })
}

function askedIn(workingDirectory: string, ...words: readonly string[]): Promise<Outcome> {
  return run(words, { environment, workingDirectory })
}

await server.api.get('POST', '/buckets', { name: 'spoken-bucket' })
for (let index = 0; index < 30; index += 1) {
  await server.raw('PUT', `/spoken-bucket/object-${index}`, { body: 'x' })
}
await server.raw('PUT', `/spoken-bucket/${encodeURIComponent('bell\u0007\u001b[2J')}`, { body: 'x' })
await server.journal()
const FUTURE = new Date(Date.now() + 3_600_000).toISOString()

interface Queried {
  readonly events: readonly { readonly event_id: string; readonly operation: string; readonly resource: string }[]
  readonly next_time: string | null
  readonly next_id: string | null
  readonly damaged: boolean
}

test('query shows a table', async (t) => {
  const { exitCode, stdout, stderr } = await asked(
    'audit',
    'query',
    '--oldest-first',
    '--operation',
    's3:PUT',
    '--result',
    'success',
  )
  t.equal(exitCode, 0)
  t.equal(stderr, '')
  const [heading, ...rows] = stdout.trimEnd().split('\n')
  t.match(heading, /^TIME +EVENT +RESULT +PRINCIPAL +NAME +OPERATION +TARGET$/)
  t.equal(rows.length, 31)
  t.match(rows[0], /^\d{4}-.*Z +\d{16} +success +system:root +- +s3:PUT +spoken-bucket\/object-0$/)
  t.match(rows.at(-1), /bell\\u\{7\}\\u\{1b\}\[2J$/, 'nothing of a key reaches the terminal as a command')
})

test('query follows its pages to the limit, and says where the next one begins', async (t) => {
  const first = await asked('audit', 'query', '--json', '--limit', '7', '--resource', 'bucket:spoken-bucket/')
  const page = JSON.parse(first.stdout) as Queried
  t.equal(page.events.length, 7)
  t.equal(page.next_id, page.events.at(-1)?.event_id)
  const cursor = ['--after-time', String(page.next_time), '--after-id', String(page.next_id)]
  const rest = await asked(
    'audit',
    'query',
    '--json',
    '--limit',
    '2000',
    '--resource',
    'bucket:spoken-bucket/',
    ...cursor,
  )
  const behind = JSON.parse(rest.stdout) as Queried
  t.match(behind, { next_time: null, next_id: null, damaged: false })
  t.equal(page.events.length + behind.events.length, 62)
  const table = await asked('audit', 'query', '--limit', '3')
  t.match(table.stderr, /^There may be more: --after-time \d{4}-\S+Z --after-id \d{16}\n$/)
  t.equal(table.stdout.trimEnd().split('\n').length, 4)
})

test('chain follows to the end', async (t) => {
  const text = await asked('audit', 'chain')
  t.equal(text.exitCode, 0)
  t.match(
    text.stdout,
    /^chain +intact\nsequences +0 to \d+\nhead +\d+:[0-9a-f]{64}\nchecked +\d+\nverified +\d+\nproblems +0\n$/,
  )
  const { exitCode, stdout } = await asked('audit', 'chain', '--json', '--from', '5')
  t.equal(exitCode, 0)
  const summary = JSON.parse(stdout) as Record<string, number>
  t.match(summary, { intact: true, from: 5, unchained: 0, problem_count: 0, problems: [] })
  t.equal(summary['checked'], (summary['head_sequence'] ?? 0) - 4)
})

interface Manifest {
  readonly export_id: string
  readonly format: string
  readonly range: { readonly from: string; readonly to: string }
}

test('export makes a directory of four files', async (t) => {
  const directory = t.testdir()
  for (const format of ['json', 'csv']) {
    const output = `audit-${format}`
    const range = ['--from', '2026-01-01T00:00:00Z', '--to', FUTURE]
    const words = ['audit', 'export', ...range, '--format', format, '--output', output]
    const { exitCode, stdout } = await askedIn(directory, ...words)
    t.equal(exitCode, 0)
    const path = join(directory, output)
    const records = `audit.${format}`
    t.same(readdirSync(path).sort(), ['SHA256SUMS', records, 'checkpoints.json', 'manifest.json'])
    const sums = readFileSync(join(path, 'SHA256SUMS'), 'utf8')
    for (const name of [records, 'checkpoints.json', 'manifest.json']) {
      t.ok(sums.includes(`${hash('sha256', readFileSync(join(path, name)), 'hex')}  ${name}\n`), name)
    }
    execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: path })
    const manifest = JSON.parse(readFileSync(join(path, 'manifest.json'), 'utf8')) as Manifest
    t.match(manifest, {
      format,
      range: { from: '2026-01-01T00:00:00.000000Z', to: /^\d{4}-.*Z$/ },
      records: Number,
      sequences: { first: 0, last: Number, last_hash: /^[0-9a-f]{64}$/ },
      exported_by: { principal: 'management:system-administrator', credential_id: 'system' },
    })
    t.match(JSON.parse(readFileSync(join(path, 'checkpoints.json'), 'utf8')), {
      status: 'unavailable',
      reason: 'not_yet_checkpointed',
      detail: /\w+/,
    })
    t.match(
      stdout,
      new RegExp(`directory +${path}\nexport +${manifest.export_id}\nrecords +${records}, \\d+ records, \\d+ bytes\n`),
    )
    const text = readFileSync(join(path, records), 'utf8')
    const operations =
      format === 'json'
        ? (JSON.parse(text) as Queried['events']).map(({ operation }) => operation)
        : csvRows(text).map((row) => row[6])
    t.equal(operations.at(-1), 'audit.export', 'its own record is in it')
  }
  t.same(readdirSync(directory).sort(), ['audit-csv', 'audit-json'])
})

test('export as JSON', async (t) => {
  const directory = t.testdir()
  const { stdout } = await askedIn(directory, 'audit', 'export', '--output', 'out', '--json')
  const told = JSON.parse(stdout) as { sha256: Record<string, string>; bytes: number; directory: string }
  t.equal(told.directory, join(directory, 'out'))
  t.equal(told.bytes, readFileSync(join(directory, 'out/audit.json')).length)
  t.same(Object.keys(told.sha256), ['audit.json', 'manifest.json', 'checkpoints.json'])
})

test('a terminal sees how far an export is, and nobody else', async (t) => {
  for (const isTTY of [true, false]) {
    const stream = Object.assign(new PassThrough(), { isTTY })
    const bar = new ProgressBar(stream)
    bar.say('1.0 MiB')
    bar.say('1.1 MiB')
    bar.clear()
    const drawn = waitingText(stream).replaceAll('\u001b[K', '')
    t.equal(drawn, isTTY ? '\r1.0 MiB\r' : '', 'drawn again only after a moment')
  }
})

test('usage errors, before anything is asked', async (t) => {
  const directory = t.testdir()
  mkdirSync(join(directory, 'there'))
  const cases: readonly [words: readonly string[], message: RegExp][] = [
    [['audit', 'query', '--since', 'yesterday'], /--since takes a time/],
    [['audit', 'query', '--follow', '--since', 'yesterday'], /--since takes a time/],
    [['audit', 'query', '--limit', '0'], /--limit must be at least 1/],
    [['audit', 'query', '--limit', 'all'], /--limit takes a whole number/],
    [['audit', 'chain', '--from', '-1'], /--from/],
    [['audit', 'export', '--output', 'out', '--from', '2026'], /--from takes a time/],
    [['audit', 'export', '--output', 'out', '--format', 'xml'], /--format takes json or csv/],
    [['audit', 'export', '--output', 'there'], /there already exists/],
    [['audit', 'export'], /--output/],
  ]
  for (const [words, message] of cases) {
    const { exitCode, stdout, stderr } = await askedIn(directory, ...words)
    t.equal(exitCode, 2, words.join(' '))
    t.match(stderr, message)
    t.equal(stdout, '', 'no heading of a table that does not come')
  }
  t.same(readdirSync(directory), ['there'])
})

test('refusals have their exit codes', async (t) => {
  const wrong = { ...environment, OBJECT_STORE_TOKEN: 'wrong' }
  for (const words of [['query'], ['chain'], ['export', '--output', join(t.testdir(), 'out')]]) {
    const refused = await run(['audit', ...words], { environment: wrong })
    t.same([refused.exitCode, refused.stdout], [5, ''])
    const nowhere = { ...environment, OBJECT_STORE_URL: 'http://127.0.0.1:1' }
    t.equal((await run(['audit', ...words], { environment: nowhere })).exitCode, 10)
  }
  const { exitCode, stderr } = await asked('audit', 'query', '--result', 'odd')
  t.equal(exitCode, 2)
  t.match(stderr, /result: must be one of attempted, success, denied, failure \(INVALID_REQUEST, request /)
  t.equal((await asked('audit', 'query', '--after-id', '0000000000000001')).exitCode, 2)
})

/** A server that answers as it is told to; gives its address. */
async function misbehaving(t: { teardown(action: () => unknown): void }, answer: RequestListener): Promise<string> {
  const other = createServer(answer).listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => {
    other.closeAllConnections()
    other.close()
  })
  return `http://127.0.0.1:${(other.address() as AddressInfo).port}`
}

test('an export that is cut off leaves nothing behind', async (t) => {
  const directory = t.testdir()
  const url = await misbehaving(t, (_request, response) => {
    response.writeHead(200, { 'x-object-store-export-id': '0000000000000001-0123456789abcdef' })
    response.write('[\n{"timestamp"')
    setTimeout(() => response.destroy(), 20)
  })
  const { exitCode, stderr } = await run(['audit', 'export', '--output', join(directory, 'out'), '--url', url])
  t.equal(exitCode, 1)
  t.match(stderr, /the export ended early and nothing was kept/)
  t.same(readdirSync(directory), [])
})

test('an export that is interrupted leaves nothing behind', async (t) => {
  const directory = t.testdir()
  const control = new FakeControl()
  const url = await misbehaving(t, (_request, response) => {
    response.writeHead(200, { 'x-object-store-export-id': '0000000000000001-0123456789abcdef' })
    response.write('[\n')
    setTimeout(() => control.signal('SIGINT'), 50)
  })
  const { exitCode, stderr } = await run(['audit', 'export', '--output', join(directory, 'out'), '--url', url], {
    control,
  })
  t.equal(exitCode, 130)
  t.match(stderr, /interrupted; nothing was kept/)
  t.same(readdirSync(directory), [])
  t.same(control.listeners, [])
})

test('an export whose manifest cannot be had leaves nothing behind', async (t) => {
  const directory = t.testdir()
  const url = await misbehaving(t, (request, response) => {
    if (request.url?.includes('manifest') === true) response.writeHead(404)
    else response.writeHead(200, { 'x-object-store-export-id': '0000000000000001-0123456789abcdef' })
    response.end('[\n\n]\n')
  })
  t.equal((await run(['audit', 'export', '--output', join(directory, 'out'), '--url', url])).exitCode, 4)
  t.same(readdirSync(directory), [])
})

test('pages of a query that is slow to find anything are followed', async (t) => {
  const seen: (string | undefined)[] = []
  const url = await misbehaving(t, (request, response) => {
    seen.push(request.url)
    const next = seen.length < 3 ? { next_time: `2026-08-01T00:00:0${seen.length}Z`, next_id: '0000000000000009' } : {}
    const page = {
      events: [],
      next_time: null,
      next_id: null,
      scan_truncated: true,
      damaged: seen.length === 2,
      ...next,
    }
    response.end(JSON.stringify(page))
  })
  const { exitCode, stderr, stdout } = await run(['audit', 'query', '--url', url, '--json'])
  t.equal(seen.length, 3)
  t.match(seen[2], /after_time=2026-08-01T00%3A00%3A02Z&after_id=0000000000000009/)
  t.equal(exitCode, 21)
  t.match(stderr, /a part of the range could not be read/)
  t.match(JSON.parse(stdout), { events: [], damaged: true })
})

// The last test: the journal is not what it was any more.
test('chain tells of damage', async (t) => {
  await server.journal()
  const path = join(server.paths.journal, '0000000000000000.segment')
  t.ok(existsSync(path))
  const bytes = readFileSync(path)
  bytes[bytes.indexOf('object-3')] = 'O'.charCodeAt(0)
  writeFileSync(path, bytes)
  const text = await asked('audit', 'chain')
  t.equal(text.exitCode, 21)
  t.match(
    text.stdout,
    /^chain +NOT INTACT\n[^]*\nproblems +1\n\nSEQUENCE +VERDICT +SEGMENT +OFFSET +DETAIL\n\d+ +content changed +0{16}\.segment +\d+ +\w/,
  )
  const { exitCode, stdout } = await asked('audit', 'chain', '--json')
  t.equal(exitCode, 21)
  t.match(JSON.parse(stdout), { intact: false, problem_count: 1, problems: [{ verdict: 'content changed' }] })
  const directory = t.testdir()
  const exported = await askedIn(directory, 'audit', 'export', '--output', 'out')
  t.equal(exported.exitCode, 21)
  t.match(exported.stderr, /records of the range cannot be read[^]*: content changed, 0{16}\.segment, offset \d+/)
  const manifest = JSON.parse(readFileSync(join(directory, 'out', 'manifest.json'), 'utf8')) as Record<string, unknown>
  t.match(manifest, { damage_count: 1, damage: [{ verdict: 'content changed' }], outcome: { result: 'success' } })
  const queried = await asked('audit', 'query', '--limit', '1000')
  t.equal(queried.exitCode, 21)
  t.match(queried.stderr, /could not be read[^]*\n {2}records? \d+[^:]*: content changed, 0{16}\.segment, offset \d+/)
})
