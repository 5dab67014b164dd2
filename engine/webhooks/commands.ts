import type { Microseconds, Sequence } from '../brands.ts'
import type { DeliveryAttempt, EventPlace, EventType } from '../events/values.ts'

/** Outcomes of deliveries to one webhook since the last report. */
export interface DeliveryReport {
  readonly webhook: string
  /** Its `startSequence` when the deliveries were begun: what an earlier enabling began is only logged. */
  readonly start: Sequence
  /** The replay that they belong to; undefined for the events as they come. */
  readonly replay: Sequence | undefined
  readonly position: EventPlace
  readonly waiting: readonly EventPlace[]
  readonly attempts: readonly DeliveryAttempt[]
  readonly isOver: boolean
}

/** Commands on webhooks. The caller makes the ids; an id already in use is refused. */
export interface WebhookCommands {
  'create-webhook': {
    webhook: string
    /** A valid target (planes/management/webhooks/routes.ts), without its query. */
    target: string
    sealedQuery: Uint8Array | undefined
    eventTypes: readonly EventType[]
    bucket: string | undefined
    prefix: string | undefined
    enabled: boolean
    sealedSecret: Uint8Array
  }
  'set-webhook-status': { webhook: string; enabled: boolean }
  'delete-webhook': { webhook: string }
  'rotate-webhook-secret': { webhook: string; sealedSecret: Uint8Array }
  /** Delivers the events from `since` on, and before `until`, again. */
  'replay-webhook': { webhook: string; sinceMicroseconds: Microseconds; untilMicroseconds: Microseconds }
  'record-webhook-test': {
    webhook: string
    event: string
    timeMicroseconds: Microseconds
    status: number | undefined
    error: string | undefined
  }
  /** Sent by the worker that delivers. */
  'record-deliveries': { reports: readonly DeliveryReport[] }
}
