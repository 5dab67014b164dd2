/**
 * The probes and the metrics: what the listener tells without a management token, and how it counts.
 * Proves: API-PRO-02, ERR-OTH-02.
 */
import tap, { test } from 'tap'
import { MetricSlots } from '../../planes/metrics/metric-slots.ts'
import { type MetricRow, metricTable, type ScrapeValues } from '../../planes/metrics/metric-table.ts'
import { readMetrics, renderMetrics } from '../../planes/metrics/exposition.ts'
import type { ReadinessCheck } from '../../planes/management/services.ts'
import type { ApiAnswer } from '../support/api-client.ts'
import { bearer } from '../support/api-client.ts'
import { SCRAPE_TOKEN, SCRAPED, startManaged } from '../support/management-server.ts'

const rows: readonly MetricRow[] = metricTable
let checks: () => Promise<readonly ReadinessCheck[]> = async () => []
const server = await startManaged({ ready: () => checks() })
const closed = await startManaged({ scrapeToken: null })
tap.teardown(async () => {
  await server.stop()
  await closed.stop()
})
const nobody = server.api.as(undefined)

function scrape(authorization: string | undefined, api = server.api): Promise<ApiAnswer> {
  return api.as(authorization).send('GET', '/metrics')
}

async function rendered(slots: MetricSlots, values: ScrapeValues): Promise<string> {
  return (await renderMetrics(readMetrics(slots, values))).text
}

test('ready tells what is not', async (t) => {
  checks = async () => [{ name: 'journal', ready: true }]
  const good = await nobody.send('GET', '/ready')
  t.equal(good.status, 200)
  t.strictSame(good.json, { status: 'ready' })
  checks = async () => [
    { name: 'journal', ready: true },
    { name: 'metadata', ready: false, reason: 'it is being rebuilt' },
    { name: 'audit', ready: false },
  ]
  const bad = await nobody.send('GET', '/ready')
  t.equal(bad.status, 503)
  t.strictSame(bad.json, {
    status: 'not_ready',
    failing: [
      { name: 'metadata', reason: 'it is being rebuilt' },
      { name: 'audit', reason: 'not ready' },
    ],
  })
})

test('a check that fails is a 500 that tells nothing', async (t) => {
  const error = new Error('canary in /secret/path')
  checks = () => Promise.reject(error)
  const { status, code, text } = await nobody.send('GET', '/ready')
  t.equal(status, 500)
  t.equal(code, 'INTERNAL_ERROR')
  t.notMatch(text, /canary/)
  t.equal(server.exchanges.at(-1)?.error, error, 'the log gets it')
})

test('what is open to everyone, and what a scrape sees, leaves no audit record', async (t) => {
  const before = (await server.journal()).length
  for (const path of ['/health', '/ready', '/metrics']) await nobody.send('GET', path)
  await scrape(bearer(SCRAPE_TOKEN))
  t.equal((await server.journal()).length, before)
})

test('metrics are counted by threads and summed when they are read', async (t) => {
  const slots = MetricSlots.create(['GetObject', 'PutObject'], 3)
  const attached = new MetricSlots(structuredClone(slots.shared))
  const [first, second] = [slots.region(0), attached.region(2)]
  const get = slots.requestSlot('GetObject', 'success')
  for (let count = 0; count < 5; count += 1) first[get]! += 1
  second[attached.requestSlot('GetObject', 'success')]! += 2
  second[attached.requestSlot('PutObject', 'denied')]! += 1
  second[attached.slot('object_store_journal_sync_seconds_total')]! += 0.25
  first[slots.slot('object_store_operations_active')]! += 3
  second[slots.slot('object_store_operations_active')]! -= 1
  const lines = (await rendered(slots, SCRAPED)).split('\n')
  for (const line of [
    'object_store_requests_total{operation="GetObject",result="success"} 7',
    'object_store_requests_total{operation="PutObject",result="denied"} 1',
    'object_store_requests_total{operation="PutObject",result="failure"} 0',
    'object_store_journal_sync_seconds_total 0.25',
    'object_store_operations_active 2',
    'object_store_errors_total 0',
    'object_store_filesystem_available_bytes 5000000000000',
    'object_store_buckets 2',
    '# TYPE object_store_requests_total counter',
    '# TYPE object_store_operations_active gauge',
  ]) {
    t.ok(lines.includes(line), line)
  }
  t.notOk(
    lines.some((line) => line.includes('object_store_objects')),
    'what is not known is left out',
  )
  const again = (await rendered(slots, SCRAPED)).split('\n')
  t.strictSame(again, lines, 'reading changes nothing')
})

test('the metric table', async (t) => {
  const slots = MetricSlots.create(['GetObject'], 1)
  const text = await rendered(slots, { ...SCRAPED, object_store_objects: 9 })
  const exposed = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`)
  t.strictSame(exposed.sort(), rows.map((row) => `${row.name} ${row.type}`).sort())
  for (const row of rows) {
    t.equal(row.type === 'counter', row.name.endsWith('_total'), `${row.name}: counters end in _total`)
  }
})

test('slots are apart', async (t) => {
  const slots = MetricSlots.create(['A', 'B'], 2)
  const indexes = [
    ...(['A', 'B'] as const).flatMap((operation) =>
      (['success', 'denied', 'failure'] as const).map((result) => slots.requestSlot(operation, result)),
    ),
    slots.slot('object_store_errors_total'),
    slots.slot('object_store_sent_bytes_total'),
  ]
  t.equal(new Set(indexes).size, indexes.length)
  t.equal(slots.region(1).byteOffset % 128, 0, 'regions share no cache line')
  t.ok(slots.region(0).byteLength <= slots.region(1).byteOffset, 'regions do not overlap')
  t.throws(() => slots.region(2), RangeError)
  t.throws(() => slots.region(-1), RangeError)
  t.throws(() => slots.requestSlot('C', 'success'), RangeError)
  t.throws(() => new MetricSlots({ ...slots.shared, threads: 3 }), RangeError)
})

test('the document agrees with every answer', async (t) => {
  t.same(server.undocumented, [])
  t.same(closed.undocumented, [])
})
