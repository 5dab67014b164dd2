import * as changes from '../../engine/webhooks/changes.ts'
import * as deliveries from '../../engine/webhooks/delivery-changes.ts'
import { WebhookRows } from './rows.ts'
import { webhookTables } from './tables.ts'

/** In the projections: its tables, and what its changes do to them. */
export const webhooks = {
  tables: webhookTables,
  changes: { ...changes, ...deliveries },
  rows: { webhooks: WebhookRows },
} as const
