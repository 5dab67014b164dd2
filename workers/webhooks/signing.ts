import { createHmac } from 'node:crypto'
import { rfc3339 } from '../../engine/clock.ts'
import { eventResource, type StorageEvent, storageEventId } from '../../projections/events/storage-event.ts'

const SECRET_PREFIX = 'whsec_'
/** Characters that a header value of CloudEvents must percent-encode (HTTP protocol binding, 3.1.3.2). */
const NOT_IN_HEADERS = /[^\u0021\u0023\u0024\u0026-\u007e]+/gu

/** A delivery as it is sent. */
export interface SignedDelivery {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Secrets and addressee of a signed event. */
interface Signing {
  /** The secret as its owner was shown it, and the previous one while it signs too. */
  readonly secrets: readonly [current: string, ...previous: string[]]
  /** Whole seconds since 1970, of this attempt. */
  readonly timeSeconds: number
  readonly deploymentId: string
}

/**
 * The body and the headers of a delivery. The headers come in three families (spec/manual/management/webhooks.md): the
 * specification's, Standard Webhooks, and CloudEvents in binary mode.
 */
export function signedDelivery(
  event: StorageEvent,
  { id = storageEventId(event), ...signing }: Signing & { readonly id?: string },
): SignedDelivery {
  const body = Buffer.from(JSON.stringify({ ...eventResource(event), id }))
  const time = rfc3339(event.timeMicroseconds)
  const [current] = signing.secrets
  const subject = event.object === undefined ? event.bucket : `${event.bucket}/${event.object}`
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'content-length': String(body.length),
      'x-object-store-event-id': id,
      'x-object-store-event-type': event.type,
      'x-object-store-event-time': time,
      'x-object-store-signature': `sha256=${createHmac('sha256', current).update(body).digest('hex')}`,
      'webhook-id': id,
      'webhook-timestamp': String(signing.timeSeconds),
      'webhook-signature': signing.secrets.map((secret) => standardSignature(secret, id, signing, body)).join(' '),
      'ce-specversion': '1.0',
      'ce-id': id,
      'ce-type': event.type,
      'ce-time': time,
      'ce-source': `/object-store/${signing.deploymentId}`,
      'ce-subject': subject.replaceAll(NOT_IN_HEADERS, encodeURIComponent),
    },
  }
}

/** Standard Webhooks, "Signature scheme": the key is the decoded base64 of the secret. */
function standardSignature(secret: string, id: string, { timeSeconds }: Signing, body: Buffer): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timeSeconds}.`).update(body).digest('base64')
  return `v1,${signature}`
}
