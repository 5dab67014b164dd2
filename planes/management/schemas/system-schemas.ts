import { METRICS_CONTENT_TYPE } from '../metrics.ts'
import { component } from './components.ts'
import { bytes, json, type RouteSchemas } from './route-schema.ts'
import { FLAG, listOf, mapOf, NUMBER, object, oneOf, orNull, TIME, text, whole } from './schema.ts'

export const SYSTEM_SCHEMAS: RouteSchemas = {
  'GET /health': json(200, object({ status: oneOf('ok') })),
  'GET /ready': {
    answers: {
      200: { 'application/json': object({ status: oneOf('ready') }) },
      503: {
        'application/json': object({
          status: oneOf('not_ready'),
          failing: listOf(object({ name: text(), reason: text() })),
        }),
      },
    },
  },
  'GET /metrics': bytes([METRICS_CONTENT_TYPE]),
  'GET /openapi.json': json(200, { type: 'object' }),
  'GET /system/info': json(
    200,
    object({
      name: oneOf('object-store'),
      version: text(),
      status: oneOf('ready', 'not_ready'),
      capabilities: object({
        versioning: FLAG,
        webhooks: FLAG,
        events: FLAG,
        lifecycle: FLAG,
        object_browser: FLAG,
        erasure_coding: FLAG,
      }),
    }),
  ),
  'GET /system/metrics': json(
    200,
    object({
      metrics: listOf(
        object({
          name: text(),
          type: oneOf('counter', 'gauge'),
          help: text(),
          samples: listOf(object({ labels: mapOf(text()), value: NUMBER })),
        }),
      ),
    }),
  ),
  'GET /system/metrics/history': json(
    200,
    object({ interval_seconds: whole(), readings: listOf(object({ time: TIME, counters: mapOf(NUMBER) })) }),
  ),
  'GET /auth/session': json(
    200,
    object({ principal: text(), role: component('Role'), credential_id: text(), expires_at: orNull(TIME) }),
  ),
}
