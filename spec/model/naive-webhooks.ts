/** Which webhooks there are, and which events each of them is owed: by the specification, from acknowledged commands alone. */
import type { Command } from '../../engine/commands/commands.ts'
import { type Outcome, refuse } from './refusals.ts'
import type { ModelEvent } from './naive-events.ts'
import type { ModelState } from './state.ts'

const DONE: Outcome = { code: 'done' }
const WEBHOOKS_MAXIMUM = 100

export interface ModelWebhook {
  readonly target: string
  readonly eventTypes: readonly string[]
  readonly bucket: string | undefined
  readonly prefix: string | undefined
  readonly enabled: boolean
  /** Sequence of the command that created or enabled it last: it is owed what comes after. */
  readonly start: number
  /** Sequences of the commands that had everything before them sent once more. */
  readonly replays: readonly number[]
}

/** Carries out a command about webhooks; undefined for any other. */
export function changeWebhooks({ webhooks }: ModelState, command: Command, sequence: number): Outcome | undefined {
  switch (command.kind) {
    case 'create-webhook': {
      const { webhook, target, eventTypes, bucket, prefix, enabled } = command
      if (webhooks.has(webhook)) refuse('webhook-exists', webhook)
      if (webhooks.size >= WEBHOOKS_MAXIMUM) refuse('too-many-webhooks')
      webhooks.set(webhook, { target, eventTypes, bucket, prefix, enabled, start: sequence, replays: [] })
      return DONE
    }
    case 'set-webhook-status': {
      const before = webhooks.get(command.webhook) ?? refuse('webhook-not-found', command.webhook)
      const { enabled } = command
      if (before.enabled !== enabled)
        webhooks.set(command.webhook, { ...before, enabled, start: enabled ? sequence : before.start })
      return DONE
    }
    case 'delete-webhook':
      if (!webhooks.delete(command.webhook)) refuse('webhook-not-found', command.webhook)
      return DONE
    case 'replay-webhook': {
      const before = webhooks.get(command.webhook) ?? refuse('webhook-not-found', command.webhook)
      webhooks.set(command.webhook, { ...before, replays: [...before.replays, sequence] })
      return DONE
    }
    case 'rotate-webhook-secret':
      if (!webhooks.has(command.webhook)) refuse('webhook-not-found', command.webhook)
      return DONE
    default:
      return undefined
  }
}

/** How often an event must come to a webhook at least, by its filters, its beginning and its replays. */
export function timesOwed({ eventTypes, bucket, prefix, start, replays }: ModelWebhook, event: ModelEvent): number {
  if (event.sequence <= start || !eventTypes.includes(event.type)) return 0
  if (bucket !== undefined && event.bucket !== bucket) return 0
  if (prefix !== undefined && event.key?.startsWith(prefix) !== true) return 0
  return 1 + replays.filter((replay) => replay > event.sequence).length
}
