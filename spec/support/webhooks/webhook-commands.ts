/** Commands of webhooks as the management plane and the worker send them. */
import { microsecondsOf, type Sequence, sequenceOf } from '../../../engine/brands.ts'
import type { CommandOf } from '../../../engine/commands/commands.ts'
import type { DeliveryReport } from '../../../engine/webhooks/commands.ts'
import type { DeliveryAttempt } from '../../../engine/events/values.ts'
import { auditOf } from '../commands.ts'

const audit = auditOf('POST /spec', '/spec')

export function createWebhook(
  webhook: string,
  changed: Partial<CommandOf<'create-webhook'>> = {},
): CommandOf<'create-webhook'> {
  const filters = { eventTypes: ['object.created', 'object.deleted'], bucket: 'photos', prefix: '2026/' } as const
  const target = `https://receiver.example/${webhook}`
  const sealedSecret = Buffer.from(`secret of ${webhook}`)
  const sealed = { sealedSecret, sealedQuery: Buffer.from(`query of ${webhook}`) }
  return { kind: 'create-webhook', audit, webhook, target, ...filters, enabled: true, ...sealed, ...changed }
}

export function setWebhookStatus(webhook: string, enabled: boolean): CommandOf<'set-webhook-status'> {
  return { kind: 'set-webhook-status', audit, webhook, enabled }
}

export function deleteWebhook(webhook: string): CommandOf<'delete-webhook'> {
  return { kind: 'delete-webhook', audit, webhook }
}

export function rotateSecret(webhook: string): CommandOf<'rotate-webhook-secret'> {
  return { kind: 'rotate-webhook-secret', audit, webhook, sealedSecret: Buffer.from(`new secret of ${webhook}`) }
}

export function replayWebhook(webhook: string): CommandOf<'replay-webhook'> {
  const range = { sinceMicroseconds: microsecondsOf(0), untilMicroseconds: microsecondsOf(1_767_323_045_000_001) }
  return { kind: 'replay-webhook', audit, webhook, ...range }
}

export function recordTest(webhook: string, error?: string): CommandOf<'record-webhook-test'> {
  const tested = { event: 'test-1', timeMicroseconds: microsecondsOf(5), status: error === undefined ? 200 : undefined }
  return { kind: 'record-webhook-test', audit, webhook, ...tested, error }
}

/** An attempt of the event of this sequence; it is tried again at `next`. */
export function attemptOf(sequence: number, attempt: number, error?: string, next?: number): DeliveryAttempt {
  return {
    event: { sequence: sequenceOf(sequence), index: 0 },
    attempt,
    timeMicroseconds: microsecondsOf(1_000_000 + attempt),
    status: error === undefined ? 200 : 500,
    error,
    nextMicroseconds: next === undefined ? undefined : microsecondsOf(next),
  }
}

export function reportOf(
  webhook: string,
  start: Sequence,
  position: number,
  changed: Partial<DeliveryReport> = {},
): DeliveryReport {
  const place = { sequence: sequenceOf(position), index: 0 }
  return { webhook, start, replay: undefined, position: place, waiting: [], attempts: [], isOver: false, ...changed }
}

export function recordDeliveries(...reports: DeliveryReport[]): CommandOf<'record-deliveries'> {
  return { kind: 'record-deliveries', audit, reports }
}
