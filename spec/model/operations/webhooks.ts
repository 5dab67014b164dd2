/** Requests on webhooks (spec/manual/management/webhooks.md). */
import type { EventType } from '../../../engine/events/values.ts'
import { API } from '../../../planes/management/routing/define-route.ts'
import * as commands from '../../support/webhooks/webhook-commands.ts'
import type { WireAnswer } from '../../support/wire-client.ts'
import type { Operation } from '../expectation.ts'
import type { ModelWebhook } from '../naive-webhooks.ts'
import { sameText } from './buckets.ts'
import { byRules, MANAGEMENT_CODES } from './by-rules.ts'
import { type Named, namesOf, rename, unknownName } from './listed-names.ts'

const WEBHOOKS = `${API}/webhooks`

export interface WebhookSettings {
  readonly target: string
  readonly eventTypes: readonly EventType[]
  readonly bucket: string | undefined
  readonly enabled: boolean
}

function fieldsOf({ target, eventTypes, bucket, enabled }: WebhookSettings | ModelWebhook) {
  return { target_url: target, event_types: eventTypes, bucket_filter: bucket ?? null, enabled }
}

interface Subscription extends Readonly<Record<string, unknown>> {
  readonly id: string
}

/** What the model knows of a webhook. */
function namedIn({ id, target_url, event_types, bucket_filter, enabled }: Subscription): Named {
  return [id, { target_url, event_types, bucket_filter, enabled }]
}

function created({ text }: WireAnswer): Named {
  return namedIn((JSON.parse(text) as { readonly subscription: Subscription }).subscription)
}

export function createWebhook(settings: WebhookSettings): Operation {
  const fields = fieldsOf(settings)
  return {
    request: { method: 'POST', target: WEBHOOKS, body: JSON.stringify(fields) },
    outcomes: byRules(
      ({ sequence }) => commands.createWebhook(unknownName(sequence + 1), { ...settings, prefix: undefined }),
      () => ({ status: 201, check: (answer) => sameText(created(answer)[1], fields) }),
      (after, answer) =>
        rename(after.webhooks, new Map([[unknownName(after.sequence), created(answer)[0]]]), (webhook) => webhook),
      MANAGEMENT_CODES,
    ),
  }
}

export function setWebhookStatus(id: string, enabled: boolean): Operation {
  return {
    request: { method: 'PUT', target: `${WEBHOOKS}/${id}/status`, body: JSON.stringify({ enabled }) },
    outcomes: byRules(
      () => commands.setWebhookStatus(id, enabled),
      () => ({ status: 200, check: ({ text }) => sameText((JSON.parse(text) as Subscription)['enabled'], enabled) }),
      undefined,
      MANAGEMENT_CODES,
    ),
  }
}

export function deleteWebhook(id: string): Operation {
  return {
    request: { method: 'DELETE', target: `${WEBHOOKS}/${id}` },
    outcomes: byRules(
      () => commands.deleteWebhook(id),
      () => ({ status: 204 }),
      undefined,
      MANAGEMENT_CODES,
    ),
  }
}

/**
 * All webhooks, which tells the ids of those whose creation was never answered. Many are made in the same moment of a
 * clock that stands still, so that their order says nothing.
 */
export function listWebhooks(): Operation {
  return {
    request: { method: 'GET', target: WEBHOOKS },
    outcomes: (world) => {
      const expected = [...world.webhooks].map(([id, webhook]): Named => [id, fieldsOf(webhook)])
      const names = ({ text }: WireAnswer) => {
        const { webhooks } = JSON.parse(text) as { readonly webhooks: readonly Subscription[] }
        return namesOf(sorted(expected), sorted(webhooks.map(namedIn)))
      }
      const check = (answer: WireAnswer) =>
        names(answer) === undefined ? `${answer.text} instead of ${JSON.stringify(expected)}` : undefined
      const next = (answer: WireAnswer | undefined) => {
        const found = answer && names(answer)
        if (found === undefined || [...found].every(([id, name]) => id === name)) return world
        const named = world.copy()
        rename(named.webhooks, found, (webhook) => webhook)
        return named
      }
      return [{ pattern: { status: 200, check }, next }]
    },
  }
}

/** By their targets, of which no two are the same. */
function sorted(webhooks: readonly Named[]): Named[] {
  return webhooks.toSorted((left, right) => (targetIn(left) < targetIn(right) ? -1 : 1))
}

function targetIn([, content]: Named): string {
  return (content as { readonly target_url: string }).target_url
}
