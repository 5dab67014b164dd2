/**
 * The metrics are in the text format of Prometheus, and named by its rules; the reader is first shown to find a breach.
 * Proves: API-MET-01.
 */
import tap, { test } from 'tap'
import { MetricSlots } from '../../../planes/metrics/metric-slots.ts'
import { metricTable } from '../../../planes/metrics/metric-table.ts'
import { readMetrics, renderMetrics } from '../../../planes/metrics/exposition.ts'
import { bearer } from '../../support/api-client.ts'
import { parseExposition } from '../../support/pages/exposition.ts'
import { SCRAPE_TOKEN, SCRAPED, startManaged } from '../../support/management-server.ts'

const server = await startManaged()
tap.teardown(() => server.stop())

/** A metric whose samples are these lines. */
function metric(name: string, type: string, ...lines: readonly string[]): string {
  return [`# HELP ${name} What it counts.`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n')
}

const SIZE = 'object_store_size_bytes'
const TIME = 'object_store_time_seconds'

function histogram(...lines: readonly string[]): string {
  return metric(TIME, 'histogram', ...lines.map((line) => `${TIME}_${line}`))
}

const GOOD = [
  metric(SIZE, 'gauge', `${SIZE} 5`),
  metric(SIZE, 'gauge', `${SIZE}{a="x\\\\y\\"z\\n"} 1.5e-7`, `${SIZE}{a=""} NaN`),
  histogram('bucket{le="0.5"} 1', 'bucket{le="+Inf"} 2', 'sum 1.25', 'count 2'),
]

const BREACHES: Readonly<Record<string, string>> = {
  'no end of line': metric(SIZE, 'gauge', `${SIZE} 5`).trimEnd(),
  'an empty line': metric(SIZE, 'gauge', `${SIZE} 5`, ''),
  'no HELP': `# TYPE ${SIZE} gauge\n${SIZE} 5\n`,
  'no TYPE': `# HELP ${SIZE} Text.\n${SIZE} 5\n`,
  'an unknown type': metric(SIZE, 'number', `${SIZE} 5`),
  'the same metric twice': metric(SIZE, 'gauge', `${SIZE} 5`).repeat(2),
  'a sample of another metric': metric(SIZE, 'gauge', `${TIME} 5`),
  'no sample': metric(SIZE, 'gauge'),
  'a series twice': metric(SIZE, 'gauge', `${SIZE}{a="1",b="2"} 5`, `${SIZE}{b="2",a="1"} 5`),
  'a label twice': metric(SIZE, 'gauge', `${SIZE}{a="1",a="2"} 5`),
  'a comma at the end': metric(SIZE, 'gauge', `${SIZE}{a="1",} 5`),
  'a quote that is not escaped': metric(SIZE, 'gauge', `${SIZE}{a="1"2"} 5`),
  'an unknown escape': metric(SIZE, 'gauge', `${SIZE}{a="\\t"} 5`),
  'a label that is reserved': metric(SIZE, 'gauge', `${SIZE}{__a="1"} 5`),
  'different labels': metric(SIZE, 'gauge', `${SIZE}{a="1"} 5`, `${SIZE}{b="1"} 5`),
  'not a number': metric(SIZE, 'gauge', `${SIZE} undefined`),
  'two blanks': metric(SIZE, 'gauge', `${SIZE}  5`),
  'a counter without _total': metric(SIZE, 'counter', `${SIZE} 5`),
  'a gauge with _total': metric('object_store_x_total', 'gauge', 'object_store_x_total 5'),
  'a negative counter': metric('object_store_x_total', 'counter', 'object_store_x_total -1'),
  'another unit': metric('object_store_x_milliseconds', 'gauge', 'object_store_x_milliseconds 5'),
  'a unit in the middle': metric('object_store_bytes_used', 'gauge', 'object_store_bytes_used 5'),
  'a foreign name': metric('minio_x', 'gauge', 'minio_x 5'),
  'information of 2': metric('object_store_x_info', 'gauge', 'object_store_x_info{a="1"} 2'),
  'a histogram without +Inf': histogram('bucket{le="0.5"} 1', 'sum 1', 'count 1'),
  'buckets that fall': histogram('bucket{le="0.5"} 2', 'bucket{le="+Inf"} 1', 'sum 1', 'count 1'),
  'bounds that fall': histogram('bucket{le="2"} 1', 'bucket{le="1"} 1', 'bucket{le="+Inf"} 1', 'sum 1', 'count 1'),
  'another count': histogram('bucket{le="+Inf"} 1', 'sum 1', 'count 2'),
  'no sum': histogram('bucket{le="+Inf"} 1', 'count 1'),
}

test('the strict reader takes what is right and finds each breach', async (t) => {
  for (const text of GOOD) t.doesNotThrow(() => parseExposition(text), text)
  for (const [breach, text] of Object.entries(BREACHES)) t.throws(() => parseExposition(text), breach)
})

test('a scrape keeps every rule and has every metric of the table', async (t) => {
  const { text } = await server.api.as(bearer(SCRAPE_TOKEN)).send('GET', '/metrics')
  const known = metricTable.filter(({ name }) => name !== 'object_store_objects')
  t.same(
    parseExposition(text).map(({ name, type, help }) => [name, type, help]),
    known.map(({ name, type, help }) => [name, type, help]),
  )
  for (const { name, samples } of parseExposition(text)) {
    const { labels = [] } = metricTable.find((row) => row.name === name) ?? {}
    for (const sample of samples)
      t.same(
        [...sample.labels.keys()].filter((label) => label !== 'le'),
        labels,
        name,
      )
  }
})

test('the metrics that the specification names are there', async (t) => {
  const names = [
    'errors_total',
    'operations_rejected_total',
    'operations_active',
    'operations_concurrency_limit',
    'operations_queued',
    'filesystem_available_bytes',
    'filesystem_capacity_bytes',
    'temporary_bytes',
    'storage_physical_bytes',
    'storage_logical_bytes',
    'multipart_bytes',
    'share_access_denied_total',
  ].map((name) => `object_store_${name}`)
  const { text } = await server.api.as(bearer(SCRAPE_TOKEN)).send('GET', '/metrics')
  const told = new Set(parseExposition(text).map(({ name }) => name))
  t.same(
    names.filter((name) => !told.has(name)),
    [],
  )
})

test('durations are counted in buckets, with their sum', async (t) => {
  const slots = MetricSlots.create(['GetObject'], 2)
  const [first, second] = [slots.requestDuration(0, 's3', 'read'), slots.requestDuration(1, 's3', 'read')]
  for (const seconds of [0, 0.0001, 0.00011, 0.0625]) first.observe(seconds)
  for (const seconds of [60, 61]) second.observe(seconds)
  slots.requestDuration(0, 'management', 'read').observe(0.002)
  const found = parseExposition((await renderMetrics(readMetrics(slots, SCRAPED))).text)
  const { samples = [] } = found.find(({ name }) => name === 'object_store_request_duration_seconds') ?? {}
  const of = (plane: string, end: string, le?: string) =>
    samples.find(({ name, labels }) => {
      const [isPlane, isClass] = [labels.get('plane') === plane, labels.get('class') === 'read']
      return isPlane && isClass && name.endsWith(end) && labels.get('le') === le
    })?.value
  const counts = ['0.0001', '0.00025', '0.05', '0.1', '30', '60', '+Inf'].map((le) => of('s3', '_bucket', le))
  t.same(counts, [2, 3, 3, 4, 4, 5, 6], 'a bound belongs to its bucket')
  t.equal(of('s3', '_sum'), 121.06271)
  t.equal(of('s3', '_count'), 6)
  t.equal(of('management', '_count'), 1)
  t.equal(samples.length, 14 * 21, 'no request makes a new series')
})

test('labels are escaped', async (t) => {
  const info = { labels: { version: 'a"b\\c\nd', node: 'v20' }, value: 1 }
  const slots = MetricSlots.create(['GetObject'], 1)
  const { text } = await renderMetrics(readMetrics(slots, { ...SCRAPED, object_store_build_info: [info] }))
  const found = parseExposition(text).find(({ name }) => name === 'object_store_build_info')
  t.same(found?.samples[0]?.labels.get('version'), 'a\\"b\\\\c\\nd')
})

test('a scraper that asks for OpenMetrics gets it', async (t) => {
  const api = server.api.as(bearer(SCRAPE_TOKEN))
  const plain = await api.send('GET', '/metrics')
  t.equal(plain.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
  const accept = 'application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'
  const open = await api.send('GET', '/metrics', { headers: [['accept', accept]] })
  t.equal(open.headers['content-type'], 'application/openmetrics-text; version=1.0.0; charset=utf-8')
  t.ok(open.text.endsWith('\n# EOF\n'))
  // The type is of the name without `_total`, its samples have it.
  t.match(open.text, /^# TYPE object_store_requests counter$/m)
  t.match(open.text, /^object_store_requests_total\{operation="GetObject",result="success"\} \d+$/m)
  t.notMatch(open.text, /_total_total/)
  const [durations, kept] = [open, plain].map(({ text }) => text.match(/^object_store_request_duration_seconds/gm))
  t.ok(durations)
  t.equal(durations?.length, kept?.length)
})
