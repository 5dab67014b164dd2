import { KEY_BYTES_MAXIMUM, overlongKeyBytes } from '../../../engine/domain/names.ts'
import { EXPIRY_DAYS, type LifecycleRule } from '../../../engine/events/values.ts'
import { ADMINISTRATORS, defineRoute, EVERYONE, json, NOTHING, type Route } from '../routing/define-route.ts'
import { invalid, ManagementError } from '../errors.ts'
import { newId } from '../requests/identifiers.ts'
import { bucketIn } from '../object-lookup.ts'
import { jsonResponse, noContent } from '../responses.ts'
import { command } from '../routing/route-command.ts'
import { component } from '../schemas/components.ts'
import { BODY, FLAG, listOf, object, orNull, readAs, readText, text, whole } from '../schemas/schema.ts'
import { requireBucket } from '../routes/buckets.ts'

function ruleRecord({ rule, prefix, enabled, expirationDays, noncurrentDays }: LifecycleRule) {
  return {
    id: rule,
    prefix,
    enabled,
    expiration: expirationDays ?? null,
    noncurrent_version_expiration: noncurrentDays ?? null,
  }
}

/** Any characters; at most as many bytes as a key. */
const PREFIX = readAs(text({ maximum: KEY_BYTES_MAXIMUM }), (value, field) => {
  const prefix = readText(value, field, {})
  if (overlongKeyBytes(prefix) !== undefined) throw invalid(field, `has more than ${KEY_BYTES_MAXIMUM} bytes`)
  return prefix
})
const DAYS = orNull(whole(EXPIRY_DAYS))
const PERIODS = { expiration: DAYS, noncurrent_version_expiration: DAYS }

const CREATION = object({}, { prefix: PREFIX, enabled: FLAG, ...PERIODS })
/** Every field is required: without a prefix, the rule would apply to the whole bucket by mistake. */
const REPLACEMENT = object({ prefix: PREFIX, enabled: FLAG }, PERIODS)

interface SentRule {
  readonly prefix?: string
  readonly enabled?: boolean
  readonly expiration?: number | null
  readonly noncurrent_version_expiration?: number | null
}

/** @throws ManagementError INVALID_REQUEST for a rule that would do nothing */
function ruleOf(id: string, sent: SentRule): LifecycleRule {
  const { prefix = '', enabled = true, expiration, noncurrent_version_expiration: noncurrent } = sent
  const expirationDays = expiration ?? undefined
  const noncurrentDays = noncurrent ?? undefined
  if (expirationDays === undefined && noncurrentDays === undefined) {
    throw invalid(BODY, 'needs expiration, noncurrent_version_expiration, or both')
  }
  return { rule: id, prefix, enabled, expirationDays, noncurrentDays }
}

const RULE = component('LifecycleRule')

const listRules = defineRoute({
  pattern: 'GET /buckets/{bucket}/lifecycle',
  roles: EVERYONE,
  summary: 'The lifecycle rules of a bucket.',
  answer: { 200: json(object({ rules: listOf(RULE) })) },
  handle(request, services) {
    const snapshot = services.catalog.snapshot()
    const bucket = bucketIn(snapshot, request.parameters.bucket)
    return jsonResponse(200, { rules: snapshot.lifecycleRules(bucket.id).map(ruleRecord) })
  },
  command: command('lifecycle list', 'list the lifecycle rules of a bucket', {
    arguments: { bucket: 'text' },
    show: { list: 'rules', columns: ['id', 'prefix', 'enabled', 'expiration', 'noncurrent_version_expiration'] },
  }),
})

const PERIOD_OPTIONS = {
  expiration: { days: 'days after which a current object expires' },
  'noncurrent-version-expiration': { days: 'days after which a noncurrent version is permanently removed' },
} as const

const createRule = defineRoute({
  pattern: 'POST /buckets/{bucket}/lifecycle',
  roles: ADMINISTRATORS,
  summary: 'Creates a lifecycle rule.',
  request: CREATION,
  answer: { 201: json(RULE) },
  errors: ['TOO_MANY_LIFECYCLE_RULES'],
  async handle(request, services) {
    const bucket = requireBucket(request, services).name
    const rule = ruleOf(newId('rule'), await request.body())
    await request.journal.execute({ kind: 'create-lifecycle-rule', bucket, rule }, ['rule_id', rule.rule])
    return jsonResponse(201, ruleRecord(rule))
  },
  command: command('lifecycle create', 'create a lifecycle rule: at least one period is required', {
    arguments: { bucket: 'text' },
    options: {
      prefix: 'only keys that begin so; all by default',
      ...PERIOD_OPTIONS,
      disabled: { flag: 'it does nothing until it is replaced by one that is enabled' },
    },
    call: ({ prefix, disabled, expiration, 'noncurrent-version-expiration': noncurrent }) => ({
      body: { prefix, enabled: !disabled, expiration, noncurrent_version_expiration: noncurrent },
    }),
  }),
})

const replaceRule = defineRoute({
  pattern: 'PUT /buckets/{bucket}/lifecycle/{rule_id}',
  roles: ADMINISTRATORS,
  summary: 'Replaces a lifecycle rule.',
  request: REPLACEMENT,
  answer: { 200: json(RULE) },
  errors: ['LIFECYCLE_RULE_NOT_FOUND'],
  /** An omitted period is cleared. */
  async handle(request, services) {
    const bucket = requireBucket(request, services).name
    const rule = ruleOf(request.parameters.rule_id, await request.body())
    await request.journal.execute({ kind: 'replace-lifecycle-rule', bucket, rule })
    return jsonResponse(200, ruleRecord(rule))
  },
  command: command('lifecycle replace', 'replace a whole lifecycle rule: options not given are cleared', {
    arguments: { bucket: 'text', rule: 'text' },
    options: {
      prefix: 'only keys that begin so; all by default',
      ...PERIOD_OPTIONS,
      disabled: { flag: 'it does nothing, and goes on where it was when it is enabled again' },
    },
    call: ({ prefix = '', disabled, expiration, 'noncurrent-version-expiration': noncurrent }) => ({
      body: { prefix, enabled: !disabled, expiration, noncurrent_version_expiration: noncurrent },
    }),
  }),
})

const deleteRule = defineRoute({
  pattern: 'DELETE /lifecycle-rules/{id}',
  roles: ADMINISTRATORS,
  summary: 'Deletes a lifecycle rule.',
  answer: { 204: NOTHING },
  errors: ['LIFECYCLE_RULE_NOT_FOUND'],
  /** Does not restore expired versions. */
  async handle(request, services) {
    const rule = request.parameters.id
    const bucket = services.catalog.snapshot().bucketOfLifecycleRule(rule)
    if (bucket === undefined) throw new ManagementError('LIFECYCLE_RULE_NOT_FOUND')
    request.journal.note('bucket', bucket)
    await request.journal.execute({ kind: 'delete-lifecycle-rule', rule })
    return noContent()
  },
  command: command('lifecycle delete', 'delete a lifecycle rule', {
    arguments: { 'rule-id': 'text' },
    show: { done: 'deleted' },
  }),
})

export const LIFECYCLE_ROUTES: readonly Route[] = [listRules, createRule, replaceRule, deleteRule]
