import { randomBytes } from 'node:crypto'
import type { WebhookState } from '../../../engine/domain/webhook-state.ts'
import { storageEventId } from '../../../projections/events/storage-event.ts'
import type { DeliveryLogEntry } from '../../../projections/catalog/webhook-reader.ts'
import { ManagementError } from '../errors.ts'
import type { ManagementServices } from '../services.ts'
import { rfc3339, rfc3339OrNull } from '../requests/timestamps.ts'

const SECRET_BYTES = 32

/** @throws ManagementError WEBHOOK_NOT_FOUND */
export function requireWebhook(id: string, { webhooks }: ManagementServices): WebhookState {
  const found = webhooks.reader.webhook(id)
  if (found === undefined) throw new ManagementError('WEBHOOK_NOT_FOUND')
  return found
}

/** A secret that signs deliveries, and how the journal has it: sealed for its webhook alone. */
export function newSigningSecret(webhook: string, { webhooks }: ManagementServices) {
  const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
  return { secret, sealedSecret: webhooks.secrets.seal(secret, webhook) }
}

/** A webhook without its secret. */
export function webhookRecord(
  webhook: Omit<WebhookState, 'startSequence' | 'sealedSecret'>,
  { webhooks, clock }: ManagementServices,
) {
  const progress = webhooks.reader.progress(webhook.webhook)
  const until = webhook.previousSecret?.untilMicroseconds
  return {
    id: webhook.webhook,
    target_url: webhook.target,
    event_types: webhook.eventTypes,
    bucket_filter: webhook.bucket ?? null,
    object_prefix_filter: webhook.prefix ?? null,
    enabled: webhook.enabled,
    created_at: rfc3339(webhook.createdMicroseconds),
    previous_secret_until: until !== undefined && until > clock() * 1000 ? rfc3339(until) : null,
    pending: (progress?.line.pending.length ?? 0) + (progress?.replay?.pending.length ?? 0),
    replaying: progress?.replay !== undefined,
  }
}

export function deliveryRecord(entry: DeliveryLogEntry) {
  const { webhook, kind, event, testEvent, attempt, timeMicroseconds, status, error, nextMicroseconds } = entry
  return {
    webhook_id: webhook,
    event_id: event === undefined ? (testEvent ?? '') : storageEventId(event),
    kind,
    attempt,
    timestamp: rfc3339(timeMicroseconds),
    success: error === undefined,
    status: status ?? null,
    error: error ?? null,
    next_attempt_at: rfc3339OrNull(nextMicroseconds),
  }
}
