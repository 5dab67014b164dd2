import { webhookSettings } from './audited-settings.ts'
import * as changes from './changes.ts'
import * as deliveries from './delivery-changes.ts'
import { webhookRules } from './rules.ts'

/** In the engine: where storage events are sent. */
export const webhooks = {
  changes: { ...changes, ...deliveries },
  rules: webhookRules,
  audited: webhookSettings,
  helpers: {},
  unattempted: [],
} as const
