/**
 * Exports of the audit trail over the wire: their records, their manifest, and that nothing goes out unrecorded.
 * Proves: DO-CAP-22, RES-AUD-03, RES-AUD-15, RES-EXP-05, RES-EXP-06, RES-EXP-07, RES-EXP-08, RES-EXP-10, RES-EXP-11,
 * API-AUD-10, API-AUD-11, API-AUD-12, ERR-OTH-04.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import tap, { test } from 'tap'
import type { EngineClient } from '../../../engine/client/engine-client.ts'
import { EngineUnavailableError } from '../../../engine/errors.ts'
import { csvRows, exportOf } from '../../support/export-client.ts'
import { readRecords } from '../../../cli/commands/journal/records/record-reader.ts'
import { startManaged, SYSTEM_TOKEN } from '../../support/management-server.ts'

const engineState = { down: false }

/** An engine whose journal can be broken as far as records of reads go. */
function breakable(engine: EngineClient): EngineClient {
  return {
    execute: (command) =>
      engineState.down && command.kind === 'record-read'
        ? Promise.reject(new EngineUnavailableError('the journal is broken'))
        : engine.execute(command),
    record: (...record) => engine.record(...record),
    recordFailedChange: (...record) => engine.recordFailedChange(...record),
  }
}

const server = await startManaged({ engine: breakable })
tap.teardown(() => server.stop())
const { api } = server

interface Event {
  readonly timestamp: string
  readonly event_id: string
  readonly operation: string
  readonly resource: string
  readonly principal: string
  readonly principal_name?: unknown
  readonly metadata: Readonly<Record<string, unknown>>
}

function exported(query: Readonly<Record<string, string>> = {}, method = 'GET') {
  return exportOf(server.apiEndpoint, SYSTEM_TOKEN, query, method)
}

async function exportedEvents(query: Readonly<Record<string, string>>): Promise<readonly Event[]> {
  const { text, complete } = await exported(query)
  if (!complete) throw new Error('the export was cut')
  return JSON.parse(text) as readonly Event[]
}

/** Exports that are recorded. */
async function exportCount(): Promise<number> {
  return (await server.journal()).filter(({ operation }) => operation === 'audit.export').length
}

/** Keys that a spreadsheet, a shell or a careless parser would make something of. */
const KEYS = [
  '=1+1',
  '+cmd|x',
  '-2',
  '@sum',
  'a,b',
  'say "hi"',
  'two\nlines',
  'cr\r\nlf',
  ' blank ',
  "it's",
  '日本',
  '\t=tab',
]

await api.get('POST', '/buckets', { name: 'exported-bucket' })
for (const key of KEYS) await server.raw('PUT', `/exported-bucket/${encodeURIComponent(key)}`, { body: 'x' })
await server.journal()
const FUTURE = new Date(Date.now() + 3_600_000).toISOString()

test('an export holds every record of its range, its own included', async (t) => {
  const { headers, text, status, complete } = await exported({ to: FUTURE })
  t.equal(status, 200)
  t.ok(complete)
  t.equal(headers['content-type'], 'application/json')
  t.equal(headers['content-disposition'], 'attachment; filename="audit.json"')
  t.equal(headers['transfer-encoding'], 'chunked')
  const all = JSON.parse(text) as readonly Event[]
  const own = all.at(-1) as Event
  t.match(own, {
    operation: 'audit.export',
    principal: 'management:system-administrator',
    resource: '/api/v1/audit/export',
    result: 'attempted',
    metadata: { export_id: headers['x-object-store-export-id'], to: FUTURE.replace('Z', '000Z'), format: 'json' },
  })
  const journal = await server.journal()
  t.same(
    all.map(({ event_id }) => Number(event_id)),
    journal.map(({ sequence }) => sequence).filter((sequence) => sequence <= Number(own.event_id)),
  )
  const requests = journal.filter(({ requestId }) => requestId === headers['x-request-id'])
  t.match(
    requests.map(({ operation, result, intent, details }) => [operation, result, intent, details.get('records')]),
    [
      ['audit.export', 'attempted', undefined, undefined],
      ['audit.export', 'success', requests[0]?.sequence, all.length],
    ],
    'its outcome comes after it',
  )
  t.equal(requests.length, 2)
  const page = (await api.get('GET', '/audit/events?limit=1000')) as { events: readonly Event[] }
  const named = all.map((record, at) => ({ ...record, principal_name: page.events[at]?.principal_name }))
  t.same(page.events.slice(0, all.length), named, 'the records are those of a query, which looks up names beside')
})

interface Manifest {
  readonly range: { readonly from: string; readonly to: string }
  readonly event_id: string
  readonly head_sequence: number
  readonly head_hash: string
  readonly records: number | null
  readonly outcome: { readonly result: string; readonly error: string | null } | null
  readonly damage: readonly { readonly sequence: number; readonly last_sequence: number; readonly verdict: string }[]
  readonly damage_count: number
  readonly damaged_records: number
  readonly sequences: { readonly first: number; readonly last: number; readonly last_hash: string } | null
}

async function manifestOf(headers: Readonly<Record<string, unknown>>): Promise<Manifest> {
  return api.get('GET', `/audit/export/manifest?export_id=${String(headers['x-object-store-export-id'])}`)
}

test('an export up to now has its own record, and its manifest ties it to the journal', async (t) => {
  const from = new Date(Date.now() - 3_600_000).toISOString()
  const { headers, text } = await exported({ from })
  const all = JSON.parse(text) as readonly Event[]
  const own = all.at(-1) as Event
  t.match(own, { operation: 'audit.export', metadata: { export_id: headers['x-object-store-export-id'], to: 'now' } })
  const manifest = await manifestOf(headers)
  t.equal(manifest.event_id, own.event_id)
  t.equal(manifest.records, all.length)
  t.equal(manifest.sequences?.last, Number(own.event_id))
  const chain = await api.get<{ head_sequence: number; head_hash: string }>('GET', '/audit/chain')
  const next = await exported({ from: manifest.range.to })
  t.same([manifest.damage, manifest.damage_count, manifest.outcome?.result], [[], 0, 'success'])
  t.equal((JSON.parse(next.text) as readonly Event[])[0]?.event_id, String(Number(own.event_id) + 1).padStart(16, '0'))
  // Of the chain report only the last record is known, so an export is made that ends where a report did.
  t.ok(chain.head_sequence > manifest.head_sequence)
  const printed = await journalHashes()
  t.equal(manifest.sequences?.last_hash, printed.get(Number(own.event_id)))
  t.equal(manifest.head_hash, printed.get(manifest.head_sequence))
  t.equal(chain.head_hash, printed.get(chain.head_sequence))
})

test('the manifest of a range is that of its last export, or of one to come', async (t) => {
  const range = { from: '2001-02-03T04:05:06Z', to: FUTURE, bucket: 'exported-bucket' }
  const asked = `/audit/export/manifest?${new URLSearchParams(range)}`
  t.match(await api.get('GET', asked), { export_id: null, exported_by: null, records: null, head_hash: null })
  await exported(range)
  const { headers } = await exported(range)
  const expected = await manifestOf(headers)
  const found = await api.get<Manifest & { exported_by: unknown; export_id: string }>('GET', asked)
  t.same(found, expected)
  t.match(found, { exported_by: { principal: 'management:system-administrator' } })
  t.equal(found.export_id, headers['x-object-store-export-id'])
  for (const other of [{ format: 'csv' }, { bucket: 'other' }, { key: 'a' }, { from: '2001-02-03T04:05:07Z' }]) {
    const query = new URLSearchParams({ ...range, ...other })
    t.match(await api.get('GET', `/audit/export/manifest?${query}`), { export_id: null }, JSON.stringify(other))
  }
})

/** The hash of each record, as `journal show` prints it. */
async function journalHashes(): Promise<ReadonlyMap<number, string>> {
  await server.journal()
  const records = readRecords(server.paths.journal, {}, ({ segment, offset }) => {
    throw new Error(`${segment} cannot be read at ${offset}`)
  })
  return new Map(Array.from(records, ({ sequence, hash }) => [sequence, hash]))
}

test('an export of one object', async (t) => {
  const { headers, text } = await exported({ bucket: 'exported-bucket', key: 'a,b' })
  const all = JSON.parse(text) as readonly Event[]
  t.same(
    all.map(({ resource }) => resource),
    ['bucket:exported-bucket/a,b', 'bucket:exported-bucket/a,b'],
  )
  const manifest = await manifestOf(headers)
  t.match(manifest, { records: null, filter: { bucket: 'exported-bucket', key: 'a,b', key_prefix: null } })
})

test('ranges that follow one another tile', async (t) => {
  const all = await exportedEvents({ to: FUTURE })
  const last = (all.at(-1) as Event).timestamp
  const cuts = [all[3], all[3], all[10], all.at(-2)].map((event) => (event as Event).timestamp)
  const ends = ['1970-01-01T00:00:00Z', ...cuts, last]
  const parts: Event[] = []
  for (const [index, from] of ends.entries()) {
    const to = ends[index + 1]
    if (to !== undefined) parts.push(...(await exportedEvents({ from, to })))
  }
  // Records of one batch may have one time, and the end of a range is not in it.
  const expected = all.filter(({ timestamp }) => timestamp < last)
  t.same(
    parts.map(({ event_id }) => event_id),
    expected.map(({ event_id }) => event_id),
  )
  t.same(await exportedEvents({ from: FUTURE, to: FUTURE }), [], 'an empty range is an empty array')
})

test('CSV is what RFC 4180 says, and holds what was there', async (t) => {
  const { text, headers, complete } = await exported({ to: FUTURE, format: 'csv' })
  t.ok(complete)
  t.equal(headers['content-type'], 'text/csv; charset=utf-8')
  t.equal(headers['content-disposition'], 'attachment; filename="audit.csv"')
  const [heading, ...rows] = csvRows(text)
  t.same(heading, [
    'timestamp',
    'event_id',
    'principal',
    'credential_id',
    'source_ip',
    'request_id',
    'operation',
    'resource',
    'result',
    'metadata',
  ])
  const journal = (await server.journal()).slice(0, rows.length)
  t.equal(rows.length, journal.length)
  for (const [index, row] of rows.entries()) {
    const entry = journal[index]
    const [timestamp, eventId, principal, credentialId, sourceIp, requestId, operation, resource, result, metadata] =
      row
    t.equal(row.length, 10)
    t.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    t.equal(Number(eventId), entry?.sequence)
    t.same(
      [principal, credentialId, sourceIp, requestId, operation, resource, result],
      [
        entry?.principal,
        entry?.credentialId ?? '',
        entry?.sourceAddress ?? '',
        entry?.requestId ?? '',
        entry?.operation,
        entry?.resource,
        entry?.result,
      ],
    )
    const { intent_event_id, ...details } = JSON.parse(String(metadata)) as Record<string, unknown>
    t.same(details, Object.fromEntries(entry?.details ?? []))
    t.equal(intent_event_id === undefined ? undefined : Number(intent_event_id), entry?.intent)
  }
  const resources = new Set(rows.map((row) => row[7]))
  for (const key of KEYS) t.ok(resources.has(`bucket:exported-bucket/${key}`), JSON.stringify(key))
})

test('what cannot be recorded is not exported', async (t) => {
  engineState.down = true
  t.teardown(() => {
    engineState.down = false
  })
  const before = await exportCount()
  const { status, code, message } = await api.call('GET', '/audit/export')
  t.same([status, code], [503, 'AUDIT_UNAVAILABLE'])
  t.match(message, /nothing is exported/)
  t.equal(await exportCount(), before)
})

test('a client that leaves in the middle is let go of', async (t) => {
  const audit = { principal: 'system:spec', operation: 'spec', resource: 'x'.repeat(20_000), metadata: [] }
  const nothing = { credentialId: undefined, sourceAddress: undefined, requestId: undefined }
  for (let count = 0; count < 2000; count += 1) void server.store.client.record({ ...audit, ...nothing }, 'success')
  await server.journal()
  const controller = new AbortController()
  const response = await fetch(`${server.apiEndpoint}/api/v1/audit/export`, {
    headers: { authorization: `Bearer ${SYSTEM_TOKEN}` },
    signal: controller.signal,
  })
  await response.body?.getReader().read()
  controller.abort()
  const { complete, text } = await exported({ to: FUTURE })
  t.ok(complete, 'and others get theirs')
  t.ok((JSON.parse(text) as unknown[]).length > 2000)
  t.same(server.failures, [])
  const left = (await server.journal()).filter(({ operation }) => operation === 'audit.export').at(-3)
  t.match([left?.result, left?.details.get('error')], ['failure', 'client-gone'], 'its outcome is no success')
})

test('what the document says is what is answered', async (t) => {
  t.same(server.undocumented, [])
})

// The last test: the journal is not what it was any more.
test('an export goes on after damage, and says what is missing', async (t) => {
  const { first, last } = damage()
  const { status, complete, text, headers } = await exported({ to: FUTURE })
  t.equal(status, 200)
  t.ok(complete)
  const all = JSON.parse(text) as readonly Event[]
  const gap = all.filter(({ operation }) => operation === 'unreadable')
  t.match(gap, [{ metadata: { verdict: 'content changed', segment: /\.segment$/, offset: Number } }])
  const missing = { sequence: Number(gap[0]?.event_id), last_sequence: Number(gap[0]?.metadata['last_event_id']) }
  t.ok(missing.sequence <= first && missing.last_sequence >= last)
  const manifest = await manifestOf(headers)
  t.match(manifest, {
    damage: [{ ...missing, verdict: 'content changed' }],
    damage_count: 1,
    damaged_records: missing.last_sequence - missing.sequence + 1,
    records: all.length - 1,
    outcome: { result: 'success', error: null },
  })
  t.same(server.failures, [], 'damage is no failure of the export')
})

test('a range beside the damage is whole', async (t) => {
  const { text: before, headers: beforeHeaders } = await exported({
    to: (await firstEvents(6)).at(-1)?.timestamp ?? '',
  })
  t.equal((JSON.parse(before) as readonly Event[]).length, 5)
  t.match(await manifestOf(beforeHeaders), { damage: [], damage_count: 0, records: 5 })
  const page = await api.get<{ events: readonly Event[] }>('GET', '/audit/events?order=desc&limit=3')
  const { text, headers } = await exported({ from: page.events.at(-1)?.timestamp ?? '', to: FUTURE })
  t.ok((JSON.parse(text) as readonly Event[]).every(({ operation }) => operation !== 'unreadable'))
  t.match(await manifestOf(headers), { damage: [], damage_count: 0, outcome: { result: 'success' } })
})

function firstEvents(count: number): Promise<readonly Event[]> {
  return api.get<{ events: readonly Event[] }>('GET', `/audit/events?limit=${count}`).then(({ events }) => events)
}

/** Changes a byte of a record in the journal; returns the first and the last sequence that cannot be read then. */
function damage(): { readonly first: number; readonly last: number } {
  const names = readdirSync(server.paths.journal).filter((name) => name.endsWith('.segment'))
  const path = join(server.paths.journal, names.toSorted().at(-1) as string)
  const bytes = readFileSync(path)
  const readable = () => Array.from(readRecords(server.paths.journal, {}, () => undefined))
  const records = readable().map(({ sequence }) => sequence)
  const place = bytes.lastIndexOf('x'.repeat(5000))
  if (place < 0) throw new Error('there is no such record')
  bytes[place] = 'y'.charCodeAt(0)
  writeFileSync(path, bytes)
  const left = new Set(readable().map(({ sequence }) => sequence))
  const lost = records.filter((sequence) => !left.has(sequence))
  return { first: Math.min(...lost), last: Math.max(...lost) }
}
