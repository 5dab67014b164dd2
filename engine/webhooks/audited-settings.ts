import { listText, NONE, statusText, timeText, type Setting, type SettingReaders } from '../records/setting-texts.ts'
import type { WebhookCommands } from './commands.ts'
import { maskedTarget, type WebhooksState, type WebhookState } from './state.ts'

/** The query of a target may be a password of its owner, so it is left out. */
function settingsOfWebhook({
  target,
  sealedQuery,
  eventTypes,
  bucket,
  prefix,
}: Pick<WebhookState, 'target' | 'sealedQuery' | 'eventTypes' | 'bucket' | 'prefix'>): [name: string, value: string][] {
  return [
    ['target_url', maskedTarget({ target, sealedQuery })],
    ['event_types', listText(eventTypes)],
    ['bucket_filter', bucket ?? NONE],
    ['object_prefix_filter', prefix ?? NONE],
  ]
}

/** What a change of a webhook is, in its records. No secret is read. */
export const webhookSettings: SettingReaders<WebhookCommands, { readonly webhooks: WebhooksState }> = {
  'create-webhook'(command) {
    return [
      ...settingsOfWebhook(command).map(([name, value]): Setting => [name, undefined, value]),
      ['webhook_status', undefined, statusText(command.enabled)],
    ]
  },

  'set-webhook-status'({ webhook, enabled }, { webhooks }) {
    const present = webhooks.webhook(webhook)
    return [['webhook_status', present && statusText(present.enabled), statusText(enabled)]]
  },

  'delete-webhook'({ webhook }, { webhooks }) {
    const present = webhooks.webhook(webhook)
    if (present === undefined) return []
    return [
      ['webhook_status', statusText(present.enabled), 'deleted'],
      ...settingsOfWebhook(present).map(([name, value]): Setting => [name, value, NONE]),
    ]
  },

  'replay-webhook': ({ sinceMicroseconds, untilMicroseconds }) => [
    ['since', undefined, timeText(sinceMicroseconds / 1000)],
    ['until', undefined, timeText(untilMicroseconds / 1000)],
  ],
}
