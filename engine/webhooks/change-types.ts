import type { ChangesOf } from '../events/schema/change.ts'
import type * as changes from './changes.ts'
import type * as deliveries from './delivery-changes.ts'

/** A change of webhooks or of their deliveries. */
export type WebhookChange = ChangesOf<typeof changes> | ChangesOf<typeof deliveries>
