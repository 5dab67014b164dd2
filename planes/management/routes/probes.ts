import { bytesOf, defineRoute, json, type Route } from '../routing/define-route.ts'
import type { ReadinessCheck } from '../services.ts'
import { METRICS_CONTENT_TYPE, renderMetrics } from '../../metrics/exposition.ts'
import { jsonResponse, textResponse } from '../responses.ts'
import { listOf, object, oneOf, text } from '../schemas/schema.ts'

const getHealth = defineRoute({
  pattern: 'GET /health',
  roles: 'none',
  summary: 'Answers 200 while the process runs and accepts connections.',
  answer: { 200: json(object({ status: oneOf('ok') })) },
  /** Constant on purpose: it reveals only that the process is alive. */
  handle: () => jsonResponse(200, { status: 'ok' }),
})

const CHECK = object({ name: text(), reason: text() })

function shown({ name, reason = 'not ready' }: ReadinessCheck) {
  return { name, reason }
}

const getReady = defineRoute({
  pattern: 'GET /ready',
  roles: 'none',
  summary:
    'Answers 200 if requests are served, with what is refused meanwhile, and 503 with the parts that are not ready.',
  answer: {
    200: json(object({ status: oneOf('ready') }, { degraded: listOf(CHECK) })),
    503: json(object({ status: oneOf('not_ready'), failing: listOf(CHECK) })),
  },
  async handle(_request, { ready }) {
    const checks = (await ready()).filter((check) => !check.ready)
    const failing = checks.filter(({ degrades }) => degrades !== true)
    if (failing.length > 0) return jsonResponse(503, { status: 'not_ready', failing: failing.map(shown) })
    const degraded = checks.map(shown)
    return jsonResponse(200, { status: 'ready', ...(degraded.length > 0 && { degraded }) })
  },
})

const getMetrics = defineRoute({
  pattern: 'GET /metrics',
  roles: 'scrape-token',
  summary: 'The metrics in the text format of Prometheus, or in that of OpenMetrics when the scraper asks for it.',
  answer: { 200: bytesOf(METRICS_CONTENT_TYPE) },
  async handle({ http }, { metrics }) {
    const rendered = await renderMetrics(metrics(), http.header('accept'))
    return textResponse(200, rendered.contentType, rendered.text)
  },
})

export const PROBE_ROUTES: readonly Route[] = [getHealth, getReady, getMetrics]
