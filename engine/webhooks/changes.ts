/**
 * Changes of webhooks: which events go to whom. They are authenticated as changes of access are, because a forged one would
 * send names of buckets and objects to a stranger.
 */
import { bucketName, identifier } from '../events/names.ts'
import { defineChange } from '../events/schema/change.ts'
import { bytes, flag, listOf, microseconds, optional, text, wordOf } from '../events/schema/kinds.ts'
import { field } from '../events/schema/record.ts'
import { EVENT_TYPES } from '../events/values.ts'

const webhook = field(identifier, 'webhook id')
const enabled = field(flag, 'enabled')
/** Under the master key (engine/keys/secret-box.ts); never the secret itself. */
const sealedSecret = field(bytes, 'sealed secret')

export const webhookCreated = defineChange('webhook.created', 40, {
  webhook,
  target: field(text, 'target', 'an http or https URL'),
  eventTypes: field(listOf(wordOf(EVENT_TYPES)), 'event types'),
  bucket: field(optional(bucketName), 'bucket', 'nil: of all'),
  prefix: field(optional(text), 'prefix of keys', 'nil: all, and events of buckets'),
  enabled,
  sealedSecret,
  sealedQuery: field(optional(bytes), 'sealed query', 'what follows the `?` of the target'),
})

/** Disabled, it drops pending events; enabled, it starts with the events after this entry. */
export const webhookStatusSet = defineChange('webhook.status-set', 41, { webhook, enabled })

/** Its pending deliveries and its log go with it. */
export const webhookDeleted = defineChange('webhook.deleted', 42, { webhook })

/** For a while the previous secret signs too. */
export const webhookSecretRotated = defineChange('webhook.secret-rotated', 43, {
  webhook,
  sealedSecret,
  previousUntilMicroseconds: field(microseconds, 'end of the secret before'),
})
