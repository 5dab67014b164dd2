import type { Microseconds, Sequence } from '../brands.ts'
import type { EventType } from '../events/values.ts'

/** A webhook as it was set up. */
export interface WebhookState {
  readonly webhook: string
  /** Without its query. */
  readonly target: string
  /** The query of the target, after the `?`: it may be a password. Undefined without one. */
  readonly sealedQuery: Uint8Array | undefined
  readonly eventTypes: readonly EventType[]
  /** Undefined: all buckets. */
  readonly bucket: string | undefined
  /** Undefined: all keys, and events of buckets. */
  readonly prefix: string | undefined
  readonly enabled: boolean
  readonly createdMicroseconds: Microseconds
  /** Sequence of the entry that created it or enabled it last: it gets the events after this one. */
  readonly startSequence: Sequence
  readonly sealedSecret: Uint8Array
  /** The secret before, which signs along until a time. */
  readonly previousSecret: { readonly sealedSecret: Uint8Array; readonly untilMicroseconds: Microseconds } | undefined
}

/** A target without its query, which may be a password. */
export function maskedTarget({ target, sealedQuery }: Pick<WebhookState, 'target' | 'sealedQuery'>): string {
  return sealedQuery === undefined ? target : `${target}?...`
}

/** Events of the past that are delivered again. */
export interface ReplayState {
  /** Sequence of the entry that began it. */
  readonly replay: Sequence
  readonly sinceMicroseconds: Microseconds
  readonly untilMicroseconds: Microseconds
}

/** State of webhooks as the rules read it. Implemented by the projections. */
export interface WebhooksState {
  webhook(webhook: string): WebhookState | undefined
  readonly webhookCount: number
  /** The replay of a webhook that is not over. */
  replayOf(webhook: string): ReplayState | undefined
}
