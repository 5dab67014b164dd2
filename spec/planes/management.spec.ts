import { test } from 'tap'
import { MetricSlots } from '../../planes/http/metric-slots.ts'
import { type MetricRow, metricTable, type ScrapeValues } from '../../planes/http/metric-table.ts'
import type { HeaderLine, HttpRequest, HttpResponse } from '../../planes/http/exchange.ts'
import { managementErrors } from '../../planes/management/errors.ts'
import {
  createManagementHandler,
  type ManagementExchange,
  type ManagementOptions,
} from '../../planes/management/management-handler.ts'
import { renderMetrics } from '../../planes/management/metrics.ts'
import { routeTable } from '../../planes/management/route-table.ts'

const scrapeToken = 'scrape-token-0123456789'
const rows: readonly MetricRow[] = metricTable

function request(method: string, path: string, headers: readonly HeaderLine[] = []): HttpRequest {
  return {
    method,
    path,
    query: '',
    headers,
    header(name) {
      const values = headers.filter(([each]) => each === name).map(([, value]) => value)
      return values.length === 0 ? undefined : values.join(',')
    },
    remoteAddress: '127.0.0.1',
    secure: false,
    contentLength: undefined,
    body: {
      readAll: async () => Buffer.alloc(0),
      pipe: async () => {},
    },
    onAborted() {},
  }
}

interface Exchange {
  readonly response: HttpResponse
  readonly observed: ManagementExchange
  /** The body, parsed when it is JSON. */
  readonly body: unknown
}

async function ask(sent: HttpRequest, options: Partial<ManagementOptions> = {}): Promise<Exchange> {
  const observed: ManagementExchange[] = []
  const handler = createManagementHandler({
    ready: async () => [{ name: 'journal', ready: true }],
    metrics: async () => 'a_metric 1\n',
    scrapeToken,
    observe: (exchange) => observed.push(exchange),
    ...options,
  })
  const response = await handler(sent)
  const [only] = observed
  if (only === undefined || observed.length > 1) throw new Error('every request is observed once')
  const json = header(response, 'content-type') === 'application/json' && typeof response.body === 'string'
  return { response, observed: only, body: json ? JSON.parse(String(response.body)) : response.body }
}

function header(response: HttpResponse, name: string): string | undefined {
  return response.headers.find(([each]) => each === name)?.[1]
}

function scrape(authorization: string): HttpRequest {
  return request('GET', '/metrics', [['authorization', authorization]])
}

test('health is constant', async (t) => {
  const { response, body } = await ask(request('GET', '/health'), { ready: () => Promise.reject(new Error('down')) })
  t.equal(response.status, 200)
  t.strictSame(body, { status: 'ok' })
  t.equal(header(response, 'content-type'), 'application/json')
  t.equal(header(response, 'cache-control'), 'no-store')
})

test('ready tells what is not', async (t) => {
  const good = await ask(request('GET', '/ready'))
  t.equal(good.response.status, 200)
  t.strictSame(good.body, { status: 'ready' })
  const bad = await ask(request('GET', '/ready'), {
    ready: async () => [
      { name: 'journal', ready: true },
      { name: 'metadata', ready: false, reason: 'it is being rebuilt' },
      { name: 'audit', ready: false },
    ],
  })
  t.equal(bad.response.status, 503)
  t.strictSame(bad.body, {
    status: 'not_ready',
    failing: [
      { name: 'metadata', reason: 'it is being rebuilt' },
      { name: 'audit', reason: 'not ready' },
    ],
  })
})

test('metrics need the scrape token', async (t) => {
  const good = await ask(scrape(`Bearer ${scrapeToken}`))
  t.equal(good.response.status, 200)
  t.equal(good.body, 'a_metric 1\n')
  t.match(header(good.response, 'content-type'), /^text\/plain; version=0\.0\.4/)
  t.equal((await ask(scrape(`bearer  ${scrapeToken}`))).response.status, 200, 'the scheme is not case-sensitive')
  const wrong = ['', 'Bearer', 'Bearer ', `Bearer ${scrapeToken}x`, `Bearer ${scrapeToken.slice(1)}`, scrapeToken]
  wrong.push(`Basic ${scrapeToken}`, `Bearer ${scrapeToken},Bearer ${scrapeToken}`, `Bearer ${scrapeToken} x`)
  for (const authorization of wrong) {
    const { response, body } = await ask(scrape(authorization))
    t.equal(response.status, 401, authorization)
    t.match(body, { error: { code: 'UNAUTHENTICATED' } })
    t.match(header(response, 'www-authenticate'), /^Bearer/)
  }
  t.equal((await ask(request('GET', '/metrics'))).response.status, 401)
  for (const sent of [request('GET', '/metrics'), scrape('Bearer undefined'), scrape('Bearer ')]) {
    const closed = await ask(sent, { scrapeToken: undefined })
    t.equal(closed.response.status, 403)
    t.match(closed.body, { error: { code: 'METRICS_CLOSED', message: /OBJECT_STORE_METRICS_SCRAPE_TOKEN/ } })
  }
})

test('whatever is not in the table does not exist', async (t) => {
  for (const path of ['/', '/health/', '/Health', '//health', '/api/v1/buckets', '/%68ealth', '/constructor']) {
    const { response, body, observed } = await ask(request('GET', path))
    t.equal(response.status, 404, path)
    t.match(body, { error: { code: 'NOT_FOUND' } })
    t.equal(observed.route, undefined)
  }
  for (const { path } of routeTable) {
    const { response, body, observed } = await ask(request('POST', path))
    t.equal(response.status, 405, path)
    t.match(body, { error: { code: 'METHOD_NOT_ALLOWED' } })
    t.equal(header(response, 'allow'), 'GET, HEAD')
    t.equal(observed.route, path)
  }
})

test('HEAD is GET without its body', async (t) => {
  const got = await ask(request('GET', '/health'))
  const { response } = await ask(request('HEAD', '/health'))
  t.equal(response.status, 200)
  t.equal(response.body, undefined)
  t.equal(response.contentLength, String(got.response.body).length)
  const missing = await ask(request('HEAD', '/none'))
  t.equal(missing.response.status, 404)
  t.equal(missing.response.body, undefined)
})

test('a handler that fails is a 500 that tells nothing', async (t) => {
  const error = new Error('canary in /secret/path')
  const { response, body, observed } = await ask(request('GET', '/ready'), { ready: () => Promise.reject(error) })
  t.equal(response.status, 500)
  t.match(body, { error: { code: 'INTERNAL_ERROR' } })
  t.notMatch(String(response.body), /canary/)
  t.equal(observed.error, error, 'the log gets it')
})

test('request ids', async (t) => {
  for (const id of ['a', 'A.b_c-9', 'x'.repeat(128)]) {
    const { response, observed } = await ask(request('GET', '/health', [['x-request-id', id]]))
    t.equal(header(response, 'x-request-id'), id)
    t.equal(observed.requestId, id)
  }
  const seen = new Set<string | undefined>()
  for (const id of ['', 'x'.repeat(129), 'a b', 'a,b', 'a\r\nset-cookie: x', 'é', '{}']) {
    const { response, body } = await ask(request('GET', '/none', [['x-request-id', id]]))
    const made = header(response, 'x-request-id')
    t.match(made, /^[0-9a-f-]{36}$/, JSON.stringify(id))
    t.match(body, { error: { request_id: made } })
    seen.add(made)
  }
  t.equal(seen.size, 7, 'each is a new one')
})

test('every error of the table is one the listener gives, as the table says', async (t) => {
  const failing = { ready: () => Promise.reject(new Error('down')) }
  const answers = [
    await ask(request('GET', '/none')),
    await ask(request('PUT', '/ready')),
    await ask(request('GET', '/metrics'), { scrapeToken: undefined }),
    await ask(request('GET', '/metrics')),
    await ask(request('GET', '/ready'), failing),
  ]
  const given = answers.map(({ response, body }) => {
    const { error } = body as { error: { code: string; message: string; request_id: string } }
    t.strictSame(Object.keys(error), ['code', 'message', 'request_id'])
    return [error.code, { status: response.status, sentence: error.message }]
  })
  t.strictSame(Object.fromEntries(given), managementErrors)
})

const values: ScrapeValues = {
  object_store_operations_concurrency_limit: 1024,
  object_store_filesystem_available_bytes: 5e12,
  object_store_filesystem_capacity_bytes: 8e12,
  object_store_temporary_bytes: 0,
  object_store_storage_physical_bytes: 3000,
  object_store_storage_logical_bytes: 2000,
  object_store_buckets: 2,
  object_store_objects: undefined,
}

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
  const lines = (await renderMetrics(slots, values)).split('\n')
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
  const again = (await renderMetrics(slots, values)).split('\n')
  t.strictSame(again, lines, 'reading changes nothing')
})

test('the metric table', async (t) => {
  const slots = MetricSlots.create(['GetObject'], 1)
  const text = await renderMetrics(slots, { ...values, object_store_objects: 9 })
  const exposed = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`)
  t.strictSame(exposed.sort(), rows.map((row) => `${row.name} ${row.type}`).sort())
  for (const row of rows) {
    t.equal(row.type === 'counter', row.name.endsWith('_total'), `${row.name}: counters end in _total`)
    if (row.origin === 'scrape') t.equal(row.labels.length, 0, `${row.name}: no labels`)
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
