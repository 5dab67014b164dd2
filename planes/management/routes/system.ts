import { EXTENSIONS, PROFILES } from '../../objects/s3-extensions.ts'
import { HISTOGRAM_BOUNDS } from '../../metrics/metric-table.ts'
import { type CounterReading, READINGS_MAXIMUM, SAMPLE_SECONDS } from '../../metrics/counter-history.ts'
import { defineRoute, EVERYONE, json, type Route } from '../routing/define-route.ts'
import { PRINCIPAL_NAME } from '../audit/audit-forms.ts'
import { PrincipalNames } from '../audit/principal-names.ts'
import { openApiDocument } from '../openapi/openapi.ts'
import { jsonResponse } from '../responses.ts'
import { command } from '../routing/route-command.ts'
import { queryTime } from '../schemas/query.ts'
import { component } from '../schemas/components.ts'
import { documented, FLAG, listOf, mapOf, NUMBER, object, oneOf, orNull, TIME, text, whole } from '../schemas/schema.ts'
import { rfc3339, rfc3339OrNull } from '../requests/timestamps.ts'

const PRODUCT = 'object-store'

/** Capabilities of this version: the names of the specification, and `sharing`. */
const CAPABILITIES = {
  versioning: true,
  webhooks: true,
  events: true,
  lifecycle: true,
  object_browser: true,
  erasure_coding: false,
} as const

/** @param routes every route, including this one */
export function openApiRoute(routes: () => readonly Route[]): Route {
  return defineRoute({
    pattern: 'GET /openapi.json',
    roles: EVERYONE,
    summary: 'This interface as an OpenAPI 3.1 document.',
    answer: { 200: json(documented({ type: 'object' })) },
    handle: (_request, { version }) => jsonResponse(200, openApiDocument(version, routes())),
  })
}

const getInfo = defineRoute({
  pattern: 'GET /system/info',
  roles: EVERYONE,
  summary: 'Name, version, commit (null: built without git), status and capabilities.',
  answer: {
    200: json(
      object({
        name: oneOf(PRODUCT),
        version: text(),
        commit: orNull(text()),
        status: oneOf('ready', 'not_ready'),
        degraded: listOf(object({ name: text(), reason: text() })),
        http_driver: oneOf('uws', 'node'),
        s3_profile: oneOf(...PROFILES),
        s3_profile_overrides: listOf(text()),
        s3_extensions: listOf(oneOf(...EXTENSIONS)),
        capabilities: object({
          versioning: FLAG,
          webhooks: FLAG,
          events: FLAG,
          lifecycle: FLAG,
          object_browser: FLAG,
          sharing: FLAG,
          erasure_coding: FLAG,
        }),
        record_index: object({ records: whole(), files: whole(), bytes: whole() }),
      }),
    ),
  },
  async handle({ identity }, { audit, ready, version, commit = null, httpDriver, s3, sharing }) {
    const missing = (await ready()).filter((check) => !check.ready)
    const isSystem = identity.role === 'system-administrator'
    const degraded = missing
      .filter(({ degrades }) => degrades)
      .map(({ name, reason = '', detail }) => {
        return { name, reason: isSystem && detail !== undefined ? `${reason} (${detail})` : reason }
      })
    const status = missing.length === degraded.length ? 'ready' : 'not_ready'
    const capabilities = { ...CAPABILITIES, sharing: sharing.settings().enabled }
    const how = {
      http_driver: httpDriver,
      s3_profile: s3.profile,
      s3_profile_overrides: s3.overrides,
      s3_extensions: s3.extensions,
    }
    return jsonResponse(200, {
      name: PRODUCT,
      version,
      commit,
      status,
      degraded,
      ...how,
      capabilities,
      record_index: audit.indexed,
    })
  },
  command: command('system info', 'show version and capabilities of the server'),
})

interface ShownMetrics {
  readonly metrics?: readonly {
    readonly samples: readonly { name: string; labels: Readonly<Record<string, string>>; value: number }[]
  }[]
}

/** One row for each sample, named as Prometheus writes it. */
function samplesShown({ metrics = [] }: ShownMetrics): unknown[][] {
  const samples = metrics.flatMap((metric) => metric.samples)
  const rows = samples.flatMap(({ name, labels, value }) => {
    const pairs = Object.entries(labels).map(([label, held]) => `${label}=${JSON.stringify(held)}`)
    if (pairs.length === 0) return [[name, value]]
    return value === 0 ? [] : [[`${name}{${pairs.join(',')}}`, value]]
  })
  return [['NAME', 'VALUE'], ...rows]
}

/** Counters in the table of the last hour; --json shows all. */
const COUNTERS_SHOWN = [
  ['REQUESTS', 'object_store_requests_total'],
  ['ERRORS', 'object_store_errors_total'],
  ['REJECTED', 'object_store_operations_rejected_total'],
  ['RECEIVED', 'object_store_received_bytes_total'],
  ['SENT', 'object_store_sent_bytes_total'],
  ['RECORDS', 'object_store_journal_records_total'],
] as const

interface ShownReadings {
  readonly readings?: readonly { readonly time: string; readonly counters: Readonly<Record<string, number>> }[]
}

function readingsShown({ readings = [] }: ShownReadings): unknown[][] {
  const rows = readings.map(({ time, counters }) => [time, ...COUNTERS_SHOWN.map(([, name]) => counters[name])])
  return [['TIME', ...COUNTERS_SHOWN.map(([title]) => title)], ...rows]
}

const getSystemMetrics = defineRoute({
  pattern: 'GET /system/metrics',
  roles: EVERYONE,
  summary: 'The values of /metrics as JSON.',
  answer: {
    200: json(
      object({
        metrics: listOf(
          object({
            name: text(),
            type: oneOf('counter', 'gauge', 'histogram'),
            help: text(),
            samples: listOf(object({ name: text(), labels: mapOf(text()), value: NUMBER })),
          }),
        ),
      }),
    ),
  },
  handle(_request, { metrics }) {
    const readings = metrics().map(({ row: { name, type, help }, samples }) => ({
      name,
      type,
      help,
      samples: samples.map(({ suffix, labels, value }) => ({ name: `${name}${suffix ?? ''}`, labels, value })),
    }))
    return jsonResponse(200, { metrics: readings })
  },
  command: command('system metrics', 'show the values of the metrics, without the labels that have counted nothing', {
    show: { rows: samplesShown },
  }),
})

const HISTOGRAM = object({
  name: text(),
  labels: mapOf(text()),
  buckets: listOf(whole(), { maximum: HISTOGRAM_BOUNDS.length + 1 }),
  sum: NUMBER,
})

const getMetricsHistory = defineRoute({
  pattern: 'GET /system/metrics/history',
  roles: EVERYONE,
  summary: 'Readings of the counters and histograms over the last hour.',
  query: { since: queryTime },
  answer: {
    200: json(
      object({
        interval_seconds: whole(),
        histogram_bounds: listOf(NUMBER),
        readings: listOf(object({ time: TIME, counters: mapOf(NUMBER), histograms: listOf(HISTOGRAM) }), {
          maximum: READINGS_MAXIMUM,
        }),
      }),
    ),
  },
  /**
   * Oldest first; everything counts from the start of the process. Counters are summed over their labels. `buckets` are
   * not cumulative: one number for each of `histogram_bounds` (upper bounds, in seconds) and one above them. Empty
   * histograms are left out.
   */
  handle(request, { counterHistory }) {
    const sinceMilliseconds = (request.query('since') ?? 0) / 1000
    const readings = counterHistory.readings.filter(({ timeMilliseconds }) => timeMilliseconds >= sinceMilliseconds)
    return jsonResponse(200, {
      interval_seconds: SAMPLE_SECONDS,
      histogram_bounds: HISTOGRAM_BOUNDS,
      readings: readings.map(readingRecord),
    })
  },
  command: command('system history', 'show readings of the counters over the last hour', {
    options: { since: { time: 'only the readings of this time or later; 10m is ten minutes ago' } },
    show: { rows: readingsShown },
  }),
})

function readingRecord({ timeMilliseconds, counters, histograms }: CounterReading) {
  return {
    time: rfc3339(timeMilliseconds * 1000),
    counters: Object.fromEntries(counters),
    histograms: histograms.map(({ row, labels, buckets, sumSeconds }) => {
      return { name: row.name, labels, buckets, sum: sumSeconds }
    }),
  }
}

const getSession = defineRoute({
  pattern: 'GET /auth/session',
  roles: EVERYONE,
  summary: 'The role of the credential of this request.',
  answer: {
    200: json(
      object({
        principal: text(),
        principal_name: PRINCIPAL_NAME,
        role: component('Role'),
        credential_id: text(),
        expires_at: orNull(TIME),
      }),
    ),
  },
  handle({ identity }, { access }) {
    const { role, credentialId, expiresMicroseconds } = identity
    const principal = `management:${role}`
    return jsonResponse(200, {
      principal,
      principal_name: new PrincipalNames(access).of({ principal, credentialId }),
      role,
      credential_id: credentialId,
      expires_at: rfc3339OrNull(expiresMicroseconds),
    })
  },
  command: command('session', 'show the role of the token in use'),
})

export const SYSTEM_ROUTES: readonly Route[] = [getInfo, getSystemMetrics, getMetricsHistory, getSession]
