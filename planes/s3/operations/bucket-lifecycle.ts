import { randomBytes } from 'node:crypto'
import type { LifecycleRule } from '../../../engine/events/values.ts'
import type { HeaderLine } from '../../http/exchange.ts'
import { documentOf } from '../bodies/read-document.ts'
import { lifecycleConfiguration, type SentRule } from '../documents/lifecycle-configuration.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { S3Error } from '../errors/s3-errors.ts'
import { bucketIn, requireBucket } from '../handling/lookup.ts'
import { defineOperation } from '../handling/operation.ts'

const LIFECYCLE = { extension: 'lifecycle-api', level: 'bucket', subresource: 'lifecycle' } as const
const MANAGED = 'Rules are also set by object-store lifecycle create.'

/** On S3 it says for which sizes transitions are; Terraform waits until the answer has it. */
const TRANSITIONS: HeaderLine = ['x-amz-transition-default-minimum-object-size', 'all_storage_classes_128K']

/**
 * S3 API reference, PutBucketLifecycleConfiguration: replaces all rules of the bucket at once. Not covered by managing the
 * bucket: a rule removes objects.
 */
export const putBucketLifecycleConfiguration = defineOperation({
  name: 'PutBucketLifecycleConfiguration',
  method: 'PUT',
  ...LIFECYCLE,
  action: 's3:PutLifecycleConfiguration',
  instead: MANAGED,
  async handle(request, services) {
    const bucket = requireBucket(request, services).name
    const sent = await documentOf(request, 'lifecycle', [])
    const snapshot = services.catalog.snapshot()
    const present = new Set(snapshot.lifecycleRules(bucketIn(snapshot, bucket).id).map(({ rule }) => rule))
    const rules = sent.map((rule) => ruleOf(bucket, present, rule))
    await request.journal.execute({ kind: 'set-lifecycle-rules', bucket, rules })
    return { status: 200, headers: [TRANSITIONS] }
  },
})

/** S3 API reference, GetBucketLifecycleConfiguration, of the rules of the management plane too. */
export const getBucketLifecycleConfiguration = defineOperation({
  name: 'GetBucketLifecycleConfiguration',
  method: 'GET',
  ...LIFECYCLE,
  action: 's3:GetLifecycleConfiguration',
  coveredBy: 's3:ManageBucket',
  instead: MANAGED,
  handle(request, services) {
    const snapshot = services.catalog.snapshot()
    const { id, name } = bucketIn(snapshot, request.bucket)
    const rules = snapshot.lifecycleRules(id)
    if (rules.length === 0) throw new S3Error('NoSuchLifecycleConfiguration', { details: [['BucketName', name]] })
    return xmlResponse(
      lifecycleConfiguration(rules, (rule) => shownId(name, rule)),
      [TRANSITIONS],
    )
  },
})

/** S3 API reference, DeleteBucketLifecycle. The answer is the same where there are no rules. */
export const deleteBucketLifecycle = defineOperation({
  name: 'DeleteBucketLifecycle',
  method: 'DELETE',
  ...LIFECYCLE,
  action: 's3:PutLifecycleConfiguration',
  instead: MANAGED,
  async handle(request, services) {
    const bucket = requireBucket(request, services).name
    await request.journal.execute({ kind: 'set-lifecycle-rules', bucket, rules: [] })
    return { status: 204, headers: [] }
  },
})

const ID_BYTES = 15

/**
 * Ids of rules are of the whole store. An id that a client gives is of its bucket, whose name goes before it; the id of a rule of
 * the management plane, which has no slash, stays as it is.
 */
function ruleOf(bucket: string, present: ReadonlySet<string>, { id, ...sent }: SentRule): LifecycleRule {
  const own = id ?? randomBytes(ID_BYTES).toString('base64url')
  const isManaged = !own.includes('/') && present.has(own)
  return { rule: isManaged ? own : `${bucket}/${own}`, ...sent }
}

/** The id that a client knows. */
function shownId(bucket: string, rule: string): string {
  return rule.startsWith(`${bucket}/`) ? rule.slice(bucket.length + 1) : rule
}
