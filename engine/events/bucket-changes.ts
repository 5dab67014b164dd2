import { bucketName, headerText, tagPairs } from './names.ts'
import { defineChange } from './schema/change.ts'
import { bucketId, eitherOf, flag, integer, optional } from './schema/kinds.ts'
import { field } from './schema/record.ts'
import { corsRules, defaultRetention } from './values.ts'

const bucket = { bucketId: field(bucketId, 'bucket id'), bucket: field(bucketName, 'name') }

export const bucketCreated = defineChange('bucket.created', 1, {
  bucketId: field(bucketId, 'bucket id', 'the sequence of this entry'),
  bucket: field(bucketName, 'name'),
  region: field(headerText, 'region'),
  lockEnabled: field(flag, 'Object Lock', 'versioning is enabled with it'),
})

export const bucketDeleted = defineChange('bucket.deleted', 2, bucket)

export const bucketVersioningSet = defineChange('bucket.versioning-set', 8, {
  ...bucket,
  versioning: field(eitherOf('suspended', 'enabled'), 'versioning'),
})

export const bucketRetentionSet = defineChange('bucket.retention-set', 9, {
  ...bucket,
  retention: field(optional(defaultRetention), 'retention'),
})

export const bucketCorsSet = defineChange('bucket.cors-set', 10, {
  ...bucket,
  rules: field(corsRules, 'rules', 'without any the configuration is removed'),
})

export const bucketQuotaSet = defineChange('bucket.quota-set', 11, {
  ...bucket,
  bytes: field(optional(integer), 'bytes', 'nil: unlimited'),
  objects: field(optional(integer), 'objects', 'nil: unlimited'),
})

export const bucketTagged = defineChange('bucket.tagged', 84, {
  ...bucket,
  tags: field(tagPairs, 'tags', 'all that it has now; none: they are removed'),
})
