/** Storage events and webhooks for specs of what delivers them. */
import { microsecondsOf, sequenceOf } from '../../../engine/brands.ts'
import type { WebhookState } from '../../../engine/webhooks/state.ts'
import { SecretBox } from '../../../engine/keys/secret-box.ts'
import type { StorageEvent } from '../../../projections/events/storage-event.ts'

export const SIGNING_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
export const EARLIER_SECRET = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
export const SECRETS = new SecretBox(Buffer.alloc(32, 9))

export function storageEvent(sequence: number, changed: Partial<StorageEvent> = {}): StorageEvent {
  return {
    sequence: sequenceOf(sequence),
    index: 0,
    timeMicroseconds: microsecondsOf(1_767_323_045_000_001),
    type: 'object.created',
    bucket: 'photos',
    object: `2026/${sequence}.jpg`,
    versionId: 'null',
    size: 12,
    metadata: { etag: 'e' },
    ...changed,
  }
}

export function webhookTo(target: string, changed: Partial<WebhookState> = {}): WebhookState {
  return {
    webhook: 'wh-sample',
    target,
    sealedQuery: undefined,
    eventTypes: ['object.created'],
    bucket: undefined,
    prefix: undefined,
    enabled: true,
    createdMicroseconds: microsecondsOf(0),
    startSequence: sequenceOf(1),
    sealedSecret: SECRETS.seal(SIGNING_SECRET, 'wh-sample'),
    previousSecret: undefined,
    ...changed,
  }
}
