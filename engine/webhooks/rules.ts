import { microsecondsOf, type Sequence } from '../brands.ts'
import { DomainError } from '../errors.ts'
import { boundedText } from '../events/bounded-text.ts'
import type { ChangeNamed } from '../events/schema/change.ts'
import { NOTHING_CHANGES, type RulesOf } from '../domain/decision.ts'
import type { WebhooksState, WebhookState } from './state.ts'
import type { WebhookChange } from './change-types.ts'
import type { WebhookCommands } from './commands.ts'

/** Every event is matched against each of them. */
const WEBHOOKS_MAXIMUM = 100
/** How long the secret before a rotation signs along. */
const ROTATION_MICROSECONDS = 24 * 60 * 60 * 1_000_000
/**
 * For errors of deliveries; a longer text is cut by boundedText, which adds a digest of 64 digits and a few characters.
 */
const ERROR_BYTES_MAXIMUM = 256

function requireWebhook(webhooks: WebhooksState, webhook: string): WebhookState {
  const found = webhooks.webhook(webhook)
  if (found === undefined) throw new DomainError('webhook-not-found', webhook)
  return found
}

function boundedError(error: string | undefined): string | undefined {
  return error === undefined ? undefined : boundedText(error, ERROR_BYTES_MAXIMUM)
}

export const webhookRules: RulesOf<WebhookCommands, WebhookChange, { readonly webhooks: WebhooksState }> = {
  'create-webhook'(command, { webhooks }) {
    const { webhook, target, sealedQuery, eventTypes, bucket, prefix, enabled, sealedSecret } = command
    if (webhooks.webhook(webhook) !== undefined) throw new DomainError('webhook-exists', webhook)
    if (webhooks.webhookCount >= WEBHOOKS_MAXIMUM) throw new DomainError('too-many-webhooks')
    const sealed = { sealedSecret, sealedQuery }
    return { changes: [{ name: 'webhook.created', webhook, target, eventTypes, bucket, prefix, enabled, ...sealed }] }
  },

  /** Enabling a webhook that is enabled does not drop its pending deliveries. */
  'set-webhook-status'({ webhook, enabled }, { webhooks }) {
    if (requireWebhook(webhooks, webhook).enabled === enabled) return NOTHING_CHANGES
    return { changes: [{ name: 'webhook.status-set', webhook, enabled }] }
  },

  'delete-webhook'({ webhook }, { webhooks }) {
    requireWebhook(webhooks, webhook)
    return { changes: [{ name: 'webhook.deleted', webhook }] }
  },

  'rotate-webhook-secret'({ webhook, sealedSecret }, { webhooks, now }) {
    requireWebhook(webhooks, webhook)
    const previousUntilMicroseconds = microsecondsOf(now * 1000 + ROTATION_MICROSECONDS)
    return { changes: [{ name: 'webhook.secret-rotated', webhook, sealedSecret, previousUntilMicroseconds }] }
  },

  /** One at a time, and only of a webhook that is enabled: a disabled one has nothing pending. */
  'replay-webhook'({ webhook, sinceMicroseconds, untilMicroseconds }, { webhooks }) {
    if (!requireWebhook(webhooks, webhook).enabled) throw new DomainError('webhook-disabled', webhook)
    if (webhooks.replayOf(webhook) !== undefined) throw new DomainError('webhook-replaying', webhook)
    return { changes: [{ name: 'webhook.replayed', webhook, sinceMicroseconds, untilMicroseconds }] }
  },

  /** The webhook may be deleted while its target is asked. */
  'record-webhook-test'({ webhook, event, timeMicroseconds, status, error }, { webhooks }) {
    requireWebhook(webhooks, webhook)
    const tested = { webhook, event, timeMicroseconds, status, error: boundedError(error) }
    return { changes: [{ name: 'webhook.tested', ...tested }] }
  },

  /**
   * Deliveries of a webhook that was disabled meanwhile were dropped and stay dropped, even if it was enabled again.
   * Their attempts were made, so they go to its log; a deleted webhook has no log.
   */
  'record-deliveries'({ reports }, { webhooks }) {
    const changes: ChangeNamed<WebhookChange, 'webhook.delivered' | 'webhook.attempted'>[] = []
    for (const { start, ...report } of reports) {
      const { webhook, replay } = report
      const attempts = report.attempts.map((attempt) => ({ ...attempt, error: boundedError(attempt.error) }))
      if (isCurrent(webhooks, webhook, start, replay)) {
        changes.push({ name: 'webhook.delivered', ...report, attempts })
      } else if (attempts.length > 0 && webhooks.webhook(webhook) !== undefined) {
        const last = attempts.map((attempt) => ({ ...attempt, nextMicroseconds: undefined }))
        changes.push({ name: 'webhook.attempted', webhook, replay, attempts: last })
      }
    }
    return { changes }
  },
}

function isCurrent(webhooks: WebhooksState, webhook: string, start: Sequence, replay: Sequence | undefined): boolean {
  const found = webhooks.webhook(webhook)
  if (found?.enabled !== true || found.startSequence !== start) return false
  return replay === undefined || webhooks.replayOf(webhook)?.replay === replay
}
