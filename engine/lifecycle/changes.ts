/** Changes of lifecycle rules, and of how far the worker has come with them. */
import { bucketName, identifier, objectKey } from '../events/names.ts'
import { defineChange } from '../events/schema/change.ts'
import { bucketId, microseconds, optional, sequence, wordOf } from '../events/schema/kinds.ts'
import { field } from '../events/schema/record.ts'
import { agePosition, LIFECYCLE_ACTIONS, lifecycleRule } from '../events/values.ts'

const bucket = { bucketId: field(bucketId, 'bucket id'), bucket: field(bucketName, 'name') }
const rule = field(identifier, 'rule id')

/** Adds a rule to its bucket, or replaces the rule with its id. A rule with another prefix starts over. */
export const lifecycleRuleSet = defineChange('lifecycle.rule-set', 60, {
  ...bucket,
  rule: field(lifecycleRule, 'rule'),
})

export const lifecycleRuleRemoved = defineChange('lifecycle.rule-removed', 61, { ...bucket, rule })

/** A rule has reached a place in the order of age: entries before it were removed or are held. */
export const lifecycleScanned = defineChange('lifecycle.scanned', 62, {
  bucketId: field(bucketId, 'bucket id'),
  rule,
  action: field(wordOf(LIFECYCLE_ACTIONS), 'action'),
  position: field(agePosition, 'place'),
})

/** A lock keeps a version that is due: it is left alone until then, or until its lock is changed. */
export const lifecycleVersionHeld = defineChange('lifecycle.version-held', 63, {
  bucketId: field(bucketId, 'bucket id'),
  key: field(objectKey, 'key'),
  version: field(sequence, 'version'),
  untilMicroseconds: field(optional(microseconds), 'until', 'since 1970; nil: until its lock is changed'),
})
