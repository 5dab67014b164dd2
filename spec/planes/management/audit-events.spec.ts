/**
 * Queries of the audit trail and of its chain, over the wire.
 * Proves: RES-AUD-01, RES-CHN-02, RES-CHN-03, RES-CHN-04, RES-CHN-05, API-AUD-01, API-AUD-02, API-AUD-03, API-AUD-04,
 * API-AUD-05, API-AUD-06, API-AUD-07, API-AUD-08, API-AUD-09, API-AUD-11, LIM-VAL-06, LIM-VAL-07, LIM-VAL-08.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import tap, { test } from 'tap'
import { startManaged } from '../../support/management-server.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { api } = server

interface Event {
  readonly timestamp: string
  readonly event_id: string
  readonly principal: string
  readonly credential_id: string | null
  readonly source_ip: string | null
  readonly request_id: string | null
  readonly operation: string
  readonly resource: string
  readonly result: string
  readonly metadata: Readonly<Record<string, unknown>>
}

interface Page {
  readonly events: readonly Event[]
  readonly next_time: string | null
  readonly next_id: string | null
  readonly head_time: string
  readonly head_id: string
  readonly scan_truncated: boolean
  readonly damaged: boolean
}

interface Chain {
  readonly intact: boolean
  readonly from: number
  readonly checked: number
  readonly verified: number
  readonly unchained: number
  readonly head_sequence: number
  readonly head_hash: string
  readonly next_from: number | null
  readonly problems: readonly { readonly sequence: number; readonly verdict: string; readonly segment: string }[]
}

function events(query: Readonly<Record<string, string>> = {}): Promise<Page> {
  return api.get('GET', `/audit/events?${new URLSearchParams(query)}`)
}

function chain(query: Readonly<Record<string, string>> = {}): Promise<Chain> {
  return api.get('GET', `/audit/chain?${new URLSearchParams(query)}`)
}

await api.get('POST', '/buckets', { name: 'audited-bucket' })
await server.raw('PUT', '/audited-bucket/docs/one.txt', { body: 'one' })
await server.raw('GET', '/audited-bucket/docs/one.txt')
await server.raw('GET', '/audited-bucket/docs/none.txt')
await server.raw('GET', '/audited-bucket/other', { sign: false })
await server.raw('DELETE', '/audited-bucket/docs/one.txt')
await server.journal()

test('a page ends at about one MiB and goes on from its cursor', async (t) => {
  const { client } = server.store
  const long = { principal: 'long', credentialId: undefined, sourceAddress: '127.0.0.1', requestId: 'long' }
  const audit = { ...long, operation: 'long', resource: 'r'.repeat(10_000), metadata: [] }
  for (let count = 0; count < 250; count += 1) await client.execute({ kind: 'record-read', result: 'success', audit })
  const lengths: number[] = []
  let cursor: Record<string, string> = {}
  for (;;) {
    const page = await events({ operation: 'long', limit: '1000', ...cursor })
    lengths.push(page.events.length)
    if (page.next_id === null || page.next_time === null) break
    t.equal(page.scan_truncated, true)
    cursor = { after_time: page.next_time, after_id: page.next_id }
  }
  t.match(lengths, [105, 105, 40])
  const exported = await api.send('GET', '/api/v1/audit/export')
  t.equal((exported.json as Event[]).filter(({ operation }) => operation === 'long').length, 250)
})

test('filters', async (t) => {
  const all = (await events({ limit: '1000' })).events
  const get = all.find(({ operation, result }) => operation === 's3:GET' && result === 'success') as Event
  const cases: [query: Record<string, string>, kept: (event: Event) => boolean][] = [
    [{ principal: 'anonymous' }, ({ principal }) => principal === 'anonymous'],
    [{ principal: 'anonym' }, () => false],
    [{ operation: 's3:DELETE' }, ({ operation }) => operation === 's3:DELETE'],
    [{ resource: 'bucket:audited-bucket/docs/' }, ({ resource }) => resource.startsWith('bucket:audited-bucket/docs/')],
    [{ result: 'denied' }, ({ result }) => result === 'denied'],
    [{ request_id: get.request_id as string }, ({ request_id }) => request_id === get.request_id],
    [{ since: get.timestamp }, ({ timestamp }) => timestamp >= get.timestamp],
    [{ until: get.timestamp }, ({ timestamp }) => timestamp < get.timestamp],
    [
      { source_ip: '127.0.0.1', operation: 's3:GET', result: 'failure' },
      ({ operation, result }) => operation === 's3:GET' && result === 'failure',
    ],
  ]
  const until = { until: new Date(Date.now() + 1000).toISOString(), limit: '1000' }
  for (const [query, kept] of cases) {
    const found = (await events({ ...until, ...query })).events.filter(
      ({ event_id }) => event_id <= (all.at(-1) as Event).event_id,
    )
    t.same(
      found.map(({ event_id }) => event_id),
      all.filter(kept).map(({ event_id }) => event_id),
      JSON.stringify(query),
    )
  }
  const shifted = get.timestamp.replace(/T(\d\d)/, (_, hour: string) => `T${hour}`).replace('Z', '+00:00')
  t.equal((await events({ since: shifted, limit: '1' })).events[0]?.event_id, get.event_id, 'any offset of time zone')
})

test('pages follow one another', async (t) => {
  const all = (await events({ limit: '1000' })).events
  const found: string[] = []
  let cursor: Record<string, string> = {}
  for (;;) {
    const page = await events({ limit: '3', ...cursor })
    found.push(...page.events.map(({ event_id }) => event_id))
    if (found.length >= all.length) break
    t.equal(page.events.length, 3)
    t.equal(page.next_id, page.events.at(-1)?.event_id)
    t.equal(page.next_time, page.events.at(-1)?.timestamp)
    cursor = { after_time: String(page.next_time), after_id: String(page.next_id) }
  }
  t.same(
    found.slice(0, all.length),
    all.map(({ event_id }) => event_id),
  )
  const audit = { principal: 'system:spec', operation: 'spec', resource: 'spec', metadata: [] }
  const nothing = { credentialId: undefined, sourceAddress: undefined, requestId: undefined }
  for (let count = 0; count < 120; count += 1) void server.store.client.record({ ...audit, ...nothing }, 'success')
  await server.journal()
  t.equal((await events({ principal: 'system:spec' })).events.length, 100, 'a page without a limit')
})

test('newest first, and from a record in both directions', async (t) => {
  const all = (await events({ limit: '1000' })).events.toReversed()
  const until = { until: (all[0] as Event).timestamp }
  const older = all.filter(({ timestamp }) => timestamp < until.until)
  const ids = (list: readonly Event[]) => list.map(({ event_id }) => event_id)
  const page = await events({ ...until, order: 'desc', limit: '4' })
  t.same(ids(page.events), ids(older.slice(0, 4)))
  const cursor = { after_time: String(page.next_time), after_id: String(page.next_id) }
  t.same(ids((await events({ order: 'desc', limit: '4', ...cursor })).events), ids(older.slice(4, 8)))
  t.same(ids((await events({ order: 'asc', limit: '3', ...cursor })).events), ids(older.slice(0, 3).toReversed()))
  await server.journal()
  const { head_time, head_id } = await events({ limit: '1' })
  await server.raw('GET', '/audited-bucket/new')
  await server.journal()
  const news = (await events({ after_time: head_time, after_id: head_id })).events
  t.match(news, [{ operation: 'GET /api/v1/audit/events' }, { resource: 'bucket:audited-bucket/new' }])
})

test('the chain is intact, span by span', async (t) => {
  let from: number | null = 0
  let expected = 0
  while (from !== null) {
    const span: Chain = await chain({ from: String(from), limit: '4' })
    t.match(span, { intact: true, from: expected, unchained: 0, problems: [] })
    t.equal(span.checked, span.verified)
    t.equal(span.checked, Math.min(4, span.head_sequence - expected + 1))
    expected += span.checked
    from = span.next_from
    if (from !== null) t.equal(from, expected)
  }
  const nothing = { credentialId: undefined, sourceAddress: undefined, requestId: undefined }
  const audit = { principal: 'system:spec', operation: 'spec', resource: 'spec', metadata: [], ...nothing }
  for (let count = 0; count < 1000; count += 1) void server.store.client.record(audit, 'success')
  await server.journal()
  t.match(await chain(), { from: 0, checked: 1000, next_from: 1000 }, 'a span without a limit')
  const beyond = await api.call('GET', '/audit/chain?from=9007199254740991')
  t.match(beyond, { status: 400, message: /^from: there is nothing to check: the last record of the log is \d+$/ })
})

test('what the document says is what is answered', async (t) => {
  t.same(server.undocumented, [])
  t.same(server.failures, [])
})

// The last test: the journal is not what it was any more.
test('a log that was tampered with', async (t) => {
  await server.journal()
  const path = join(server.paths.journal, '0000000000000000.segment')
  const bytes = readFileSync(path)
  const place = bytes.indexOf('docs/one.txt')
  bytes[place] = 'D'.charCodeAt(0)
  writeFileSync(path, bytes)
  const report = await chain({ limit: '10000' })
  t.equal(report.intact, false)
  t.match(report.problems, [{ verdict: 'content changed', segment: '0000000000000000.segment' }])
  t.equal(report.problems.length, 1)
  t.equal(report.verified, report.checked - 1)
  const page = await events({ limit: '1000' })
  t.equal(page.damaged, true)
  t.match(page, { damage_count: 1, damage: [{ verdict: 'content changed', segment: '0000000000000000.segment' }] })
  const { sequence, last_sequence: last } =
    (page as unknown as { damage: { sequence: number; last_sequence: number }[] }).damage[0] ?? {}
  const newest = await events({ principal: 'none', order: 'desc' })
  t.match(newest, { damage: [{ sequence, last_sequence: last }] }, 'the same from the end')
  const verdicts = (await events({ operation: 'GET /api/v1/audit/chain', order: 'desc', limit: '1' })).events
  t.match(verdicts, [{ metadata: { verified_from: 0, problems: 1, head_hash: /^[0-9a-f]{64}$/ } }])
  t.ok(page.events.length > 10, 'and what is behind it is there')
  const shown = (await api.get('GET', '/audit/export')) as unknown as readonly Event[]
  t.match(
    shown.filter(({ operation }) => operation === 'unreadable'),
    [{ result: 'failure', metadata: { verdict: 'content changed', segment: '0000000000000000.segment' } }],
    'an export has a record in the place of those that are missing',
  )
  t.same(server.failures, [])
  t.equal(server.slots.region(0)[server.slots.damageSlot('audit')], 4, 'the metrics count each of the three answers')
})
