import type { ChangeOf } from '../events/schema/change.ts'
import * as changes from './changes.ts'
import * as deliveries from './delivery-changes.ts'

/** In the engine: where storage events are sent. */
export const webhooks = { changes: { ...changes, ...deliveries } }

/** A change of webhooks or of their deliveries. */
export type WebhookChange = ChangeOf<(typeof webhooks.changes)[keyof typeof webhooks.changes]>
