import { microsecondsOf } from '../../../engine/brands.ts'
import { LOG_ROWS_MAXIMUM } from '../../../projections/webhooks/tables.ts'
import { ADMINISTRATORS, defineRoute, EVERYONE, json, type Route } from '../routing/define-route.ts'
import { invalid } from '../errors.ts'
import { jsonResponse } from '../responses.ts'
import { command } from '../routing/route-command.ts'
import { component } from '../schemas/components.ts'
import { queryNumber, queryText } from '../schemas/query.ts'
import { listOf, object, readAs, TIME } from '../schemas/schema.ts'
import { parseRfc3339 } from '../requests/timestamps.ts'
import { deliveryRecord, requireWebhook, webhookRecord } from './records.ts'

const getDeliveries = defineRoute({
  pattern: 'GET /webhook-deliveries',
  roles: EVERYONE,
  summary: 'The delivery log, newest first; the last 1000 attempts of each webhook.',
  query: { webhook_id: queryText, limit: queryNumber(100, { minimum: 1, maximum: LOG_ROWS_MAXIMUM }) },
  answer: { 200: json(object({ deliveries: listOf(component('WebhookDelivery'), { maximum: LOG_ROWS_MAXIMUM }) })) },
  errors: ['WEBHOOK_NOT_FOUND'],
  handle(request, services) {
    const webhook = request.query('webhook_id')
    if (webhook !== undefined) requireWebhook(webhook, services)
    const entries = services.webhooks.reader.log(webhook, request.query('limit'))
    return jsonResponse(200, { deliveries: entries.map(deliveryRecord) })
  },
  command: command('webhook deliveries', 'show the delivery log, newest first', {
    options: { 'webhook-id': 'of this webhook alone', limit: 'maximum number (default: 100)' },
    show: {
      list: 'deliveries',
      columns: ['timestamp', 'webhook_id', 'event_id', 'attempt', 'status', 'success', 'error'],
    },
  }),
})

const testWebhook = defineRoute({
  pattern: 'POST /webhooks/{id}/test',
  roles: ADMINISTRATORS,
  summary: 'Sends a made-up event once, marked as a test, and answers what came of it.',
  answer: { 200: json(component('WebhookDelivery')) },
  errors: ['WEBHOOK_NOT_FOUND'],
  /** A disabled webhook can be tested before it is enabled. */
  async handle(request, services) {
    const state = requireWebhook(request.parameters.id, services)
    await request.journal.attempt()
    const { webhook } = state
    const tested = await services.webhooks.test(state)
    await request.journal.execute({ kind: 'record-webhook-test', webhook, ...tested })
    const { event: testEvent, ...outcome } = tested
    const row = { kind: 'test', event: undefined, testEvent, attempt: 1, nextMicroseconds: undefined } as const
    return jsonResponse(200, deliveryRecord({ webhook, ...row, ...outcome }))
  },
  command: command('webhook test', 'send a made-up event to a webhook and show what came of it', {
    arguments: { webhook: 'text' },
    exit: ({ success }) => (success === true ? 'ok' : 'partly'),
  }),
})

const WHEN = readAs(TIME, (value, field) => {
  const microseconds = typeof value === 'string' ? parseRfc3339(value) : undefined
  if (microseconds === undefined) throw invalid(field, 'must be a time as in RFC 3339, such as 2026-08-01T12:00:00Z')
  return microsecondsOf(microseconds)
})

const replayWebhook = defineRoute({
  pattern: 'POST /webhooks/{id}/replay',
  roles: ADMINISTRATORS,
  summary: 'Delivers the events of a range of time once more, under their ids.',
  request: object({ since: WHEN }, { until: WHEN }),
  answer: { 202: json(component('Webhook')) },
  errors: ['WEBHOOK_NOT_FOUND', 'WEBHOOK_DISABLED', 'WEBHOOK_REPLAYING'],
  /** The range excludes its end, which is never after now. */
  async handle(request, services) {
    const now = microsecondsOf(services.clock() * 1000)
    const { since: sinceMicroseconds, until = now } = await request.body()
    // Read before the change: another request may delete the webhook before this one is answered.
    const before = requireWebhook(request.parameters.id, services)
    const { webhook } = before
    const untilMicroseconds = microsecondsOf(Math.min(until, now))
    if (sinceMicroseconds >= untilMicroseconds) throw invalid('since', 'must be before until, and before now')
    const change = { kind: 'replay-webhook', webhook, sinceMicroseconds, untilMicroseconds } as const
    await request.journal.execute(change)
    return jsonResponse(202, webhookRecord(before, services, request.identity.role))
  },
  command: command('webhook replay', 'deliver the events of a range of time once more', {
    arguments: { webhook: 'text', since: 'time' },
    options: { until: { time: 'the end, a time or how long ago; now by default' } },
    call: ({ webhook, since, until }) => ({ path: { id: webhook }, body: { since, until } }),
  }),
})

export const DELIVERY_ROUTES: readonly Route[] = [getDeliveries, testWebhook, replayWebhook]
