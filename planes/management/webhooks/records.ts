import { randomBytes } from 'node:crypto'
import { maskedTarget, type WebhookState } from '../../../engine/webhooks/state.ts'
import type { ManagementRole } from '../../../engine/events/values.ts'
import { type SecretBox, SecretBoxError } from '../../../engine/keys/secret-box.ts'
import { openedTarget } from '../../../engine/webhooks/target-query.ts'
import { ADMINISTRATORS } from '../routing/define-route.ts'
import { storageEventId } from '../../../projections/events/storage-event.ts'
import type { DeliveryLogEntry } from '../../../projections/webhooks/reader.ts'
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

/** A new secret that signs deliveries, and its sealed form for the journal, bound to its webhook. */
export function newSigningSecret(webhook: string, { webhooks }: ManagementServices) {
  const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
  return { secret, sealedSecret: webhooks.secrets.seal(secret, webhook) }
}

/**
 * A webhook without its secret. The query of its URL, which may contain a password, is shown only to roles that manage
 * webhooks.
 */
export function webhookRecord(
  webhook: Omit<WebhookState, 'startSequence' | 'sealedSecret'>,
  { webhooks, clock }: ManagementServices,
  role: ManagementRole,
) {
  const progress = webhooks.reader.progress(webhook.webhook)
  const until = webhook.previousSecret?.untilMicroseconds
  return {
    id: webhook.webhook,
    target_url: shownTarget(webhook, role, webhooks.secrets),
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

function shownTarget(
  webhook: Pick<WebhookState, 'webhook' | 'target' | 'sealedQuery'>,
  role: ManagementRole,
  secrets: SecretBox,
): string {
  if (!ADMINISTRATORS.some((one) => one === role)) return maskedTarget(webhook)
  try {
    return openedTarget(webhook, secrets)
  } catch (error) {
    // Its deliveries fail with the reason; it must stay listed so that it can be found and deleted.
    if (error instanceof SecretBoxError) return maskedTarget(webhook)
    throw error
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
