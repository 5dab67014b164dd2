import { AUDIT_RESULT_NAMES } from '../../../engine/events/audit.ts'
import { EXPORT_FORMATS } from '../audit-forms.ts'
import { component } from './components.ts'
import { json, type RouteSchemas } from './route-schema.ts'
import { FLAG, form, listOf, mapOf, object, oneOf, orNull, type Schema, TIME, text, whole } from './schema.ts'

const EVENT_ID = form('\\d{16}')
const RESULT = oneOf(...AUDIT_RESULT_NAMES)
const FORMAT = oneOf(...EXPORT_FORMATS)
const EXPORT_ID = form('\\d{16}-[0-9a-f]{16}')

const EVENT = object({
  timestamp: TIME,
  event_id: EVENT_ID,
  principal: text(),
  credential_id: orNull(text()),
  source_ip: orNull(text()),
  request_id: orNull(text()),
  operation: text(),
  resource: text(),
  result: RESULT,
  metadata: mapOf({ type: ['string', 'integer'] }),
})

const RANGE: Readonly<Record<string, Schema>> = { from: TIME, to: TIME, format: FORMAT }

export const AUDIT_SCHEMAS: RouteSchemas = {
  'GET /audit/events': json(
    200,
    object({
      events: listOf(EVENT, { maximum: 1000 }),
      next_time: orNull(TIME),
      next_id: orNull(EVENT_ID),
      scan_truncated: FLAG,
      damaged: FLAG,
    }),
    {
      query: {
        since: TIME,
        until: TIME,
        result: RESULT,
        limit: whole({ minimum: 1, maximum: 1000 }),
        after_time: TIME,
        after_id: EVENT_ID,
      },
      errors: ['INVALID_AUDIT_CURSOR'],
    },
  ),
  'GET /audit/chain': json(
    200,
    object({
      intact: FLAG,
      from: whole(),
      checked: whole(),
      verified: whole(),
      unchained: whole(),
      head_sequence: whole(),
      next_from: orNull(whole()),
      problems: listOf(
        object({
          sequence: whole(),
          last_sequence: whole(),
          verdict: oneOf('content changed', 'broken link to the previous record', 'record is missing from the log'),
          segment: text(),
          offset: whole(),
          detail: text(),
        }),
      ),
    }),
    { query: { from: whole(), limit: whole({ minimum: 1, maximum: 10_000 }) } },
  ),
  'GET /audit/export': {
    answers: { 200: { 'application/json': listOf(EVENT), 'text/csv; charset=utf-8': {} } },
    query: RANGE,
  },
  'GET /audit/export/manifest': json(
    200,
    object({
      deployment_id: text(),
      range: object({ from: TIME, to: TIME }),
      format: FORMAT,
      export_id: orNull(EXPORT_ID),
      exported_at: orNull(TIME),
      exported_by: orNull(object({ principal: text(), credential_id: orNull(text()) })),
      event_id: orNull(EVENT_ID),
    }),
    { query: { ...RANGE, export_id: EXPORT_ID }, errors: ['NOT_FOUND'] },
  ),
  'GET /reports/retention': json(
    200,
    object({
      generated_at: TIME,
      buckets: listOf(object({ bucket: text(), default_retention: orNull(component('DefaultRetention')) })),
      versions: listOf(
        object({
          bucket: text(),
          key: text(),
          version_id: text(),
          retention_mode: orNull(oneOf('GOVERNANCE', 'COMPLIANCE')),
          retain_until: orNull(TIME),
          legal_hold: FLAG,
          status: oneOf('held', 'elapsed'),
        }),
      ),
      held_count: whole(),
      truncated: FLAG,
    }),
    { query: { limit: whole({ minimum: 1, maximum: 100_000 }) }, errors: ['BUCKET_NOT_FOUND'] },
  ),
}
