/**
 * What the server says of itself.
 * Proves: API-SYS-02, API-SYS-03, API-OBJ-11, LIM-VAL-21.
 */
import { millisecondsOf } from '../../../engine/brands.ts'
import tap, { test } from 'tap'
import { managementErrors } from '../../../planes/management/errors.ts'
import { CounterHistory } from '../../../planes/metrics/counter-history.ts'
import { routeList } from '../../../planes/management/routing/route-list.ts'
import { HISTOGRAM_BOUNDS } from '../../../planes/metrics/metric-table.ts'
import { MetricSlots } from '../../../planes/metrics/metric-slots.ts'
import type { ReadinessCheck } from '../../../planes/management/services.ts'
import { bearer } from '../../support/api-client.ts'
import { SCRAPE_TOKEN, startManaged } from '../../support/management-server.ts'

let now = Date.UTC(2026, 5, 1)
let checks: readonly ReadinessCheck[] = []
const server = await startManaged({ clock: () => now, ready: async () => checks })
tap.teardown(() => server.stop())
const { api, slots, counterHistory } = server

interface Metrics {
  readonly metrics: readonly {
    readonly name: string
    readonly type: string
    readonly help: string
    readonly samples: readonly {
      readonly name: string
      readonly labels: Readonly<Record<string, string>>
      readonly value: number
    }[]
  }[]
}

test('the metrics as JSON are those of the text', async (t) => {
  const region = slots.region(0)
  region[slots.requestSlot('GetObject', 'success')] = 7
  region[slots.requestSlot('PutObject', 'denied')] = 2
  region[slots.slot('object_store_journal_sync_seconds_total')] = 0.25
  const { metrics } = await api.get<Metrics>('GET', '/system/metrics')
  const lines = metrics.flatMap(({ name, type, help, samples }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({ name: sample, labels, value }) => {
      const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text}"`)
      return `${sample}${pairs.length === 0 ? '' : `{${pairs.join()}}`} ${value}`
    }),
  ])
  const { text } = await api.as(bearer(SCRAPE_TOKEN)).send('GET', '/metrics')
  t.same(
    lines,
    text.split('\n').filter((line) => line !== ''),
  )
  t.ok(lines.includes('object_store_requests_total{operation="GetObject",result="success"} 7'))
})

interface History {
  readonly interval_seconds: number
  readonly histogram_bounds: readonly number[]
  readonly readings: readonly {
    readonly time: string
    readonly counters: Readonly<Record<string, number>>
    readonly histograms: readonly {
      readonly name: string
      readonly labels: Readonly<Record<string, string>>
      readonly buckets: readonly number[]
      readonly sum: number
    }[]
  }[]
}

test('the history holds the readings of an hour', async (t) => {
  const empty = await api.get<History>('GET', '/system/metrics/history')
  t.match(empty, { interval_seconds: 15, readings: [] })
  t.same(empty.histogram_bounds, HISTOGRAM_BOUNDS)
  for (let minute = 0; minute <= 70 * 4; minute += 1) {
    slots.region(0)[slots.requestSlot('GetObject', 'failure')] = minute
    counterHistory.sample()
    now += 15_000
  }
  const { readings } = await api.get<History>('GET', '/system/metrics/history')
  t.equal(readings.length, 241, 'both ends of the hour')
  const [first, last] = [readings[0], readings.at(-1)]
  t.equal(Date.parse(last?.time ?? '') - Date.parse(first?.time ?? ''), 3_600_000)
  t.equal(first?.counters['object_store_requests_total'], 40 + 9, 'summed over the labels')
  t.equal(last?.counters['object_store_requests_total'], 280 + 9)
  t.notOk('object_store_operations_active' in (last?.counters ?? {}), 'only what counts up')
})

test('the history has the buckets of histograms that have counted anything', async (t) => {
  const reads = slots.requestDuration(0, 's3', 'read')
  for (const seconds of [0.0003, 0.0003, 0.02, 99]) reads.observe(seconds)
  counterHistory.sample()
  now += 15_000
  const { readings } = await api.get<History>('GET', '/system/metrics/history')
  t.same(readings.at(-2)?.histograms, [], 'nothing was counted before')
  const found = readings.at(-1)?.histograms ?? []
  t.match(found, [{ name: 'object_store_request_duration_seconds', labels: { plane: 's3', class: 'read' } }])
  const buckets = [...HISTOGRAM_BOUNDS, Number.POSITIVE_INFINITY].map((bound) => {
    return bound === 0.0005 ? 2 : bound === 0.025 || bound === Number.POSITIVE_INFINITY ? 1 : 0
  })
  t.same(found[0]?.buckets, buckets, 'each of its own bucket alone')
  t.equal(found[0]?.sum, 0.0003 + 0.0003 + 0.02 + 99)
})

test('the history of a part of the hour begins with the reading of that time', async (t) => {
  const { readings } = await api.get<History>('GET', '/system/metrics/history')
  const since = readings.at(-3)?.time ?? ''
  const part = await api.get<History>('GET', `/system/metrics/history?since=${encodeURIComponent(since)}`)
  t.same(part.readings, readings.slice(-3))
  const none = await api.get<History>('GET', `/system/metrics/history?since=${new Date(now + 1000).toISOString()}`)
  t.same(none.readings, [])
  t.equal((await api.send('GET', '/api/v1/system/metrics/history?since=yesterday')).status, 400)
})

test('what workers count comes with what is counted in slots, once it is known', async (t) => {
  const history = new CounterHistory(MetricSlots.create([], 1), () => millisecondsOf(5))
  history.sample(() => ({ object_store_lifecycle_removed_total: undefined }))
  history.sample(() => ({ object_store_lifecycle_removed_total: 7 }))
  const values = history.readings.map(({ counters }) => counters.get('object_store_lifecycle_removed_total'))
  t.same(values, [undefined, 7])
})

test('a history that is started takes its first reading at once', async (t) => {
  const history = new CounterHistory(MetricSlots.create(['GetObject'], 1), () => millisecondsOf(5))
  history.start()
  t.match(history.readings, [{ timeMilliseconds: 5 }])
  history.stop()
})

interface Operation {
  readonly operationId: string
  readonly parameters: readonly { readonly name?: string; readonly in?: string }[]
  readonly requestBody?: unknown
  readonly responses: Readonly<Record<string, { readonly description: string }>>
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
}

interface Document {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

test('the OpenAPI document has every route and every error', async (t) => {
  const document = await api.get<Document>('GET', '/openapi.json')
  t.equal(document.openapi, '3.1.0')
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ route: `${method.toUpperCase()} ${path}`, operation })),
  )
  t.same(
    operations.map(({ route }) => route).toSorted(),
    routeList.map(({ method, path }) => `${method} ${path}`).toSorted(),
  )
  t.equal(new Set(operations.map(({ operation }) => operation.operationId)).size, routeList.length)
  const text = JSON.stringify(document)
  for (const code of Object.keys(managementErrors)) t.ok(text.includes(`"${code}"`), code)
  const names = [...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name)
  for (const name of names) t.ok(String(name) in document.components.schemas, String(name))
  for (const route of routeList) {
    const operation = document.paths[route.path]?.[route.method.toLowerCase()]
    const inQuery = operation?.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)
    t.same(inQuery, Object.keys(route.query), `${route.path}: query`)
    const tokens = operation?.security[0]?.['managementToken']
    t.same(tokens, typeof route.roles === 'string' ? undefined : route.roles, `${route.path}: roles`)
  }
})

test('no route changes the lock of an object', async (t) => {
  const locks = routeList.filter(({ method, path }) => method !== 'GET' && /\block|hold|retention/.test(path))
  t.same(
    locks.map(({ method, path }) => `${method} ${path}`),
    ['PUT /api/v1/buckets/{bucket}/default-retention'],
  )
})

test('nothing of this was a fault of the server, nor another answer than the document says', async (t) => {
  t.same(server.failures, [])
  t.same(server.undocumented, [])
})

test('what is degraded names a damaged row to system administrators alone', async (t) => {
  const token = await api.get<{ token: string }>('POST', '/management-tokens', {
    name: 'reader',
    role: 'auditor',
    expires_in_seconds: 3600,
  })
  const reason = 'a row is damaged; start the server again'
  checks = [{ name: 'projections', ready: false, degrades: true, reason, detail: 'table objects, key 0061' }]
  t.teardown(() => {
    checks = []
  })
  interface Info {
    readonly degraded: readonly unknown[]
  }
  t.match(await api.get<Info>('GET', '/system/info'), {
    degraded: [{ name: 'projections', reason: `${reason} (table objects, key 0061)` }],
  })
  t.match(await api.as(bearer(token.token)).get<Info>('GET', '/system/info'), {
    degraded: [{ name: 'projections', reason }],
  })
  t.match((await api.send('GET', '/ready')).json, { degraded: [{ name: 'projections', reason }] })
})
