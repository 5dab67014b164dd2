import { randomBytes } from 'node:crypto'
import { microsecondsOf, type Milliseconds, sequenceOf } from '../../engine/brands.ts'
import type { WebhookState } from '../../engine/webhooks/state.ts'
import type { StorageEvent } from '../../projections/events/storage-event.ts'

const ID_BYTES = 10

/** An event as the webhook would get one, of an object that is not there; its id is of no event of the journal. */
export function testEvent(
  { bucket = 'example', prefix = '' }: Pick<WebhookState, 'bucket' | 'prefix'>,
  now: Milliseconds,
): { readonly id: string; readonly event: StorageEvent } {
  const event: StorageEvent = {
    sequence: sequenceOf(0),
    index: 0,
    timeMicroseconds: microsecondsOf(now * 1000),
    type: 'object.created',
    bucket,
    object: `${prefix}example.txt`,
    versionId: 'null',
    size: 0,
    metadata: {},
  }
  return { id: `test-${randomBytes(ID_BYTES).toString('hex')}`, event }
}
