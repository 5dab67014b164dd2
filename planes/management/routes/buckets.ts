import { BUCKET_NAME_LENGTH, isBucketName } from '../../../engine/domain/names.ts'
import type { BucketState } from '../../../engine/state-ports.ts'
import type { CatalogSnapshot } from '../../../projections/catalog/catalog-snapshot.ts'
import { ADMINISTRATORS, defineRoute, EVERYONE, json, NOTHING, type Route } from '../routing/define-route.ts'
import { invalid, ManagementError } from '../errors.ts'
import { NAMED_OPTIONS, NAMED_QUERY, namedPage, NEXT_AFTER } from '../requests/named-pages.ts'
import { bucketIn } from '../object-lookup.ts'
import { jsonResponse, noContent } from '../responses.ts'
import { command } from '../routing/route-command.ts'
import { component } from '../schemas/components.ts'
import { queryText } from '../schemas/query.ts'
import { FLAG, listOf, object, oneOf, orNull, readAs, text, whole } from '../schemas/schema.ts'
import type { ManagementServices } from '../services.ts'
import { rfc3339 } from '../requests/timestamps.ts'

/** Region of buckets created here. */
const REGION = 'us-east-1'

/** @throws ManagementError BUCKET_NOT_FOUND */
export function requireBucket(
  { parameters }: { readonly parameters: { readonly bucket: string } },
  { catalog }: ManagementServices,
): BucketState {
  return bucketIn(catalog.snapshot(), parameters.bucket)
}

/** A bucket of a snapshot, with its usage. */
function bucketRecord(snapshot: CatalogSnapshot, bucket: BucketState): Record<string, unknown> {
  const usage = snapshot.bucketUsage(bucket.id)
  return {
    name: bucket.name,
    region: bucket.region,
    created_at: rfc3339(bucket.createdMicroseconds),
    versioning: bucket.versioning,
    object_lock: bucket.lockEnabled,
    default_retention: defaultRetentionRecord(bucket.defaultRetention),
    quota: quotaRecord(bucket.quota),
    usage: {
      objects: usage.objects,
      bytes: usage.bytes,
      noncurrent_versions: usage.noncurrent,
      noncurrent_bytes: usage.noncurrentBytes,
      delete_markers: usage.markers,
    },
  }
}

const listBuckets = defineRoute({
  pattern: 'GET /buckets',
  roles: EVERYONE,
  summary: 'A page of the buckets, by name.',
  query: { ...NAMED_QUERY, prefix: queryText },
  answer: { 200: json(object({ buckets: listOf(component('Bucket')), ...NEXT_AFTER })) },
  handle(request, services) {
    const snapshot = services.catalog.snapshot()
    const prefix = request.query('prefix') ?? ''
    const { records, next } = namedPage(request, {
      entries: snapshot.buckets().filter(({ name }) => name.startsWith(prefix)),
      placeOf: ({ name }) => [name],
      recordOf: (bucket) => bucketRecord(snapshot, bucket),
    })
    return jsonResponse(200, { buckets: records, next_after: next })
  },
  command: command('bucket list', 'list the buckets', {
    options: { ...NAMED_OPTIONS, prefix: 'only buckets whose name begins so' },
    show: { page: 'buckets', columns: ['name', 'created_at', 'versioning', 'object_lock'] },
  }),
})

const NAME = text(BUCKET_NAME_LENGTH)
const BUCKET_NAME = readAs(NAME, (value, field) => {
  const name = NAME.read(value, field)
  if (!isBucketName(name)) throw invalid(field, 'The specified bucket is not valid.')
  return name
})

const createBucket = defineRoute({
  pattern: 'POST /buckets',
  roles: ADMINISTRATORS,
  summary: 'Creates a bucket.',
  request: object({ name: BUCKET_NAME }, { object_lock: FLAG }),
  answer: { 201: json(component('Bucket')) },
  errors: ['BUCKET_EXISTS'],
  async handle(request, services) {
    const { name: bucket, object_lock: lockEnabled = false } = await request.body()
    request.journal.note('bucket', bucket)
    if (services.catalog.snapshot().bucket(bucket) !== undefined) throw new ManagementError('BUCKET_EXISTS')
    const change = { kind: 'create-bucket', bucket, region: REGION, lockEnabled } as const
    await request.journal.execute(change)
    const snapshot = services.catalog.snapshot()
    const created = snapshot.bucket(bucket)
    return jsonResponse(201, created === undefined ? { name: bucket } : bucketRecord(snapshot, created))
  },
  command: command('bucket create', 'create a bucket', {
    arguments: { bucket: 'text' },
    options: { 'object-lock': { flag: 'with Object Lock, which cannot be undone' } },
    call: ({ bucket, 'object-lock': lock }) => ({ body: { name: bucket, ...(lock ? { object_lock: true } : {}) } }),
  }),
})

const getBucket = defineRoute({
  pattern: 'GET /buckets/{bucket}',
  roles: EVERYONE,
  summary: 'One bucket with its settings and usage.',
  answer: { 200: json(component('Bucket')) },
  handle(request, services) {
    const snapshot = services.catalog.snapshot()
    return jsonResponse(200, bucketRecord(snapshot, bucketIn(snapshot, request.parameters.bucket)))
  },
  command: command('bucket show', 'show a bucket with its settings and usage', { arguments: { bucket: 'text' } }),
})

const deleteBucket = defineRoute({
  pattern: 'DELETE /buckets/{bucket}',
  roles: ADMINISTRATORS,
  summary: 'Deletes an empty bucket.',
  answer: { 204: NOTHING },
  errors: ['BUCKET_NOT_EMPTY'],
  async handle(request) {
    await request.journal.execute({ kind: 'delete-bucket', bucket: request.parameters.bucket })
    return noContent()
  },
  command: command('bucket delete', 'delete an empty bucket', {
    arguments: { bucket: 'text' },
    show: { done: 'deleted' },
  }),
})

const STATUS_OF = { off: 'Off', enabled: 'Enabled', suspended: 'Suspended' } as const

const getVersioning = defineRoute({
  pattern: 'GET /buckets/{bucket}/versioning',
  roles: EVERYONE,
  summary: 'The versioning state of a bucket.',
  answer: { 200: json(object({ status: oneOf('Off', 'Enabled', 'Suspended') })) },
  handle(request, services) {
    const { versioning } = requireBucket(request, services)
    return jsonResponse(200, { status: STATUS_OF[versioning] })
  },
})

const WANTED = oneOf('Enabled', 'Suspended')
const ANY_STATUS = text({ minimum: 1, maximum: 16 })
/** Documented in the spelling of S3; accepted in any case. */
const STATUS = readAs(WANTED, (value, field) => {
  const status = ANY_STATUS.read(value, field).toLowerCase()
  if (status !== 'enabled' && status !== 'suspended') throw invalid(field, 'must be Enabled or Suspended')
  return status
})

const putVersioning = defineRoute({
  pattern: 'PUT /buckets/{bucket}/versioning',
  roles: ADMINISTRATORS,
  summary: 'Enables or suspends versioning.',
  request: object({ status: STATUS }),
  answer: { 200: json(object({ status: WANTED })) },
  errors: ['BUCKET_STATE'],
  async handle(request, services) {
    const bucket = requireBucket(request, services).name
    const { status } = await request.body()
    await request.journal.execute({ kind: 'set-versioning', bucket, versioning: status })
    return jsonResponse(200, { status: STATUS_OF[status] })
  },
  command: command('bucket versioning', 'show the versioning of a bucket, or set it to Enabled or Suspended', {
    arguments: { bucket: 'text', status: 'optional' },
    call: ({ status }) => (status === undefined ? { instead: getVersioning } : { body: { status } }),
  }),
})

/** A quota in the form of the specification (Quota). */
function quotaRecord({ bytes, objects }: BucketState['quota']): Record<string, unknown> {
  return {
    bytes: bytes === undefined ? { mode: 'unlimited' } : { mode: 'limit', bytes },
    objects: objects === undefined ? { mode: 'unlimited' } : { mode: 'limit', objects },
  }
}

const getQuota = defineRoute({
  pattern: 'GET /buckets/{bucket}/quota',
  roles: EVERYONE,
  summary: 'The quota of a bucket and how much of it is used.',
  answer: { 200: json(object({ quota: component('Quota'), used: object({ bytes: whole(), objects: whole() }) })) },
  handle(request, services) {
    const snapshot = services.catalog.snapshot()
    const bucket = bucketIn(snapshot, request.parameters.bucket)
    const { bytes, objects } = snapshot.bucketUsage(bucket.id)
    return jsonResponse(200, { quota: quotaRecord(bucket.quota), used: { bytes, objects } })
  },
  command: command('quota show', 'show the quota of a bucket and how much of it is used', {
    arguments: { bucket: 'text' },
  }),
})

const putQuota = defineRoute({
  pattern: 'PUT /buckets/{bucket}/quota',
  roles: ADMINISTRATORS,
  summary: 'Sets the quota of a bucket.',
  request: object({ quota: component('Quota') }),
  answer: { 200: json(object({ quota: component('Quota') })) },
  async handle(request, services) {
    const bucket = requireBucket(request, services).name
    const { quota } = await request.body()
    await request.journal.execute({ kind: 'set-quota', bucket, quota })
    return jsonResponse(200, { quota: quotaRecord(quota) })
  },
})

const DEFAULT_RETENTION = orNull(component('DefaultRetention'))

function defaultRetentionRecord(retention: BucketState['defaultRetention']): unknown {
  if (retention === undefined) return null
  const { mode, unit, value } = retention
  return { mode, period: { unit, value } }
}

const getDefaultRetention = defineRoute({
  pattern: 'GET /buckets/{bucket}/default-retention',
  roles: EVERYONE,
  summary: 'The default retention of a bucket with Object Lock.',
  answer: { 200: json(object({ object_lock: FLAG, default_retention: DEFAULT_RETENTION })) },
  handle(request, services) {
    const bucket = requireBucket(request, services)
    return jsonResponse(200, {
      object_lock: bucket.lockEnabled,
      default_retention: defaultRetentionRecord(bucket.defaultRetention),
    })
  },
  command: command('bucket retention', 'show the default retention of a bucket with Object Lock', {
    arguments: { bucket: 'text' },
  }),
})

const putDefaultRetention = defineRoute({
  pattern: 'PUT /buckets/{bucket}/default-retention',
  roles: ADMINISTRATORS,
  summary: 'Sets or removes the default retention.',
  request: object({ default_retention: DEFAULT_RETENTION }),
  answer: { 200: json(object({ default_retention: DEFAULT_RETENTION })) },
  errors: ['BUCKET_STATE'],
  async handle(request, services) {
    const bucket = requireBucket(request, services).name
    const { default_retention: sent } = await request.body()
    const retention = sent === null ? undefined : { mode: sent.mode, ...sent.period }
    await request.journal.execute({ kind: 'set-default-retention', bucket, retention })
    return jsonResponse(200, { default_retention: defaultRetentionRecord(retention) })
  },
  command: command('bucket retain', 'set the default retention of a bucket: GOVERNANCE, COMPLIANCE, or none', {
    arguments: { bucket: 'text', mode: 'text' },
    options: { days: { days: 'how many days; required, or --years' }, years: { number: 'how many years' } },
    call: ({ mode, days, years }) => {
      const period = years === undefined ? { unit: 'days', value: days } : { unit: 'years', value: years }
      return { body: { default_retention: mode === 'none' ? null : { mode, period } } }
    },
  }),
})

export const BUCKET_ROUTES: readonly Route[] = [
  listBuckets,
  createBucket,
  getBucket,
  deleteBucket,
  getVersioning,
  putVersioning,
  getQuota,
  putQuota,
  getDefaultRetention,
  putDefaultRetention,
]
