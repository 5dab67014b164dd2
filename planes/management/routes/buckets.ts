import type { BucketState } from '../../../engine/state-ports.ts'
import type { HttpResponse } from '../../http/exchange.ts'
import { isBucketName } from '../../objects/names.ts'
import { invalid, ManagementError } from '../errors.ts'
import { execute } from '../execute.ts'
import {
  type JsonObject,
  jsonObject,
  readJson,
  requiredBoolean,
  requiredInteger,
  requiredMember,
  requiredText,
} from '../json-body.ts'
import { type ManagementRequest, pathParameter } from '../management-request.ts'
import { jsonResponse, noContent } from '../responses.ts'
import type { ManagementServices } from '../services.ts'
import { rfc3339 } from '../timestamps.ts'

/** Region of buckets created on this plane. */
const REGION = 'us-east-1'
const NAME = { minimum: 3, maximum: 63 } as const

/** @throws ManagementError BUCKET_NOT_FOUND */
export function requireBucket(request: ManagementRequest, services: ManagementServices): BucketState {
  const bucket = services.catalog.bucket(pathParameter(request, 'bucket'))
  if (bucket === undefined) throw new ManagementError('BUCKET_NOT_FOUND')
  return bucket
}

function bucketRecord(bucket: BucketState, { catalog }: ManagementServices): Record<string, unknown> {
  const usage = catalog.bucketUsage(bucket.id)
  return {
    name: bucket.name,
    region: bucket.region,
    created_at: rfc3339(bucket.createdMicroseconds),
    versioning: bucket.versioning,
    object_lock: bucket.lockEnabled,
    default_retention: defaultRetentionRecord(bucket),
    quota: quotaRecord(bucket),
    usage: {
      objects: usage.objects,
      bytes: usage.bytes,
      noncurrent_versions: usage.noncurrent,
      noncurrent_bytes: usage.noncurrentBytes,
      delete_markers: usage.markers,
    },
  }
}

export function listBuckets(_request: ManagementRequest, services: ManagementServices): HttpResponse {
  const buckets = services.catalog.buckets().map((bucket) => bucketRecord(bucket, services))
  return jsonResponse(200, { buckets })
}

export function getBucket(request: ManagementRequest, services: ManagementServices): HttpResponse {
  return jsonResponse(200, bucketRecord(requireBucket(request, services), services))
}

export async function createBucket(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  const members = await readJson(request, ['name', 'object_lock'])
  const bucket = requiredText(members, 'name', NAME)
  if (!isBucketName(bucket)) throw invalid('name', 'is no name for a bucket')
  const lockEnabled = members.has('object_lock') && requiredBoolean(members, 'object_lock')
  if (services.catalog.bucket(bucket) !== undefined) throw new ManagementError('BUCKET_EXISTS')
  await execute(request, services, { kind: 'create-bucket', bucket, region: REGION, lockEnabled }, ['bucket', bucket])
  const created = services.catalog.bucket(bucket)
  return jsonResponse(201, created === undefined ? { name: bucket } : bucketRecord(created, services))
}

export async function deleteBucket(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  await execute(request, services, { kind: 'delete-bucket', bucket: pathParameter(request, 'bucket') })
  return noContent()
}

export function getVersioning(request: ManagementRequest, services: ManagementServices): HttpResponse {
  const { versioning } = requireBucket(request, services)
  return jsonResponse(200, { status: STATUS_OF[versioning] })
}

const STATUS_OF = { off: 'Off', enabled: 'Enabled', suspended: 'Suspended' } as const

export async function putVersioning(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  const bucket = requireBucket(request, services).name
  const status = requiredText(await readJson(request, ['status']), 'status', { minimum: 1, maximum: 16 }).toLowerCase()
  if (status !== 'enabled' && status !== 'suspended') throw invalid('status', 'must be Enabled or Suspended')
  await execute(request, services, { kind: 'set-versioning', bucket, versioning: status }, ['status', status])
  return jsonResponse(200, { status: STATUS_OF[status] })
}

/** A limit as the specification writes it (Quota); `limit` of objects carries its number in `objects`. */
function quotaRecord({ quota }: BucketState): Record<string, unknown> {
  return {
    bytes: quota.bytes === undefined ? { mode: 'unlimited' } : { mode: 'limit', bytes: quota.bytes },
    objects: quota.objects === undefined ? { mode: 'unlimited' } : { mode: 'limit', objects: quota.objects },
  }
}

export function getQuota(request: ManagementRequest, services: ManagementServices): HttpResponse {
  const bucket = requireBucket(request, services)
  const { bytes, objects } = services.catalog.bucketUsage(bucket.id)
  return jsonResponse(200, { quota: quotaRecord(bucket), used: { bytes, objects } })
}

export async function putQuota(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  const bucket = requireBucket(request, services).name
  const body = await readJson(request, ['quota'])
  const members = jsonObject('quota', requiredMember(body, 'quota'), ['bytes', 'objects'])
  const quota = { bytes: limitOf(members, 'bytes'), objects: limitOf(members, 'objects') }
  await execute(request, services, { kind: 'set-quota', bucket, quota })
  return jsonResponse(200, { quota: quotaRecord(requireBucket(request, services)) })
}

function limitOf(quota: JsonObject, name: 'bytes' | 'objects'): number | undefined {
  const members = jsonObject(quota.path(name), requiredMember(quota, name), ['mode', name])
  const mode = requiredText(members, 'mode', { minimum: 1, maximum: 16 })
  if (mode === 'unlimited') {
    if (members.has(name)) throw invalid(members.path(name), 'stands only beside the mode limit')
    return undefined
  }
  if (mode !== 'limit') throw invalid(members.path('mode'), 'must be limit or unlimited')
  return requiredInteger(members, name, { minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
}

function defaultRetentionRecord({ defaultRetention }: BucketState): unknown {
  if (defaultRetention === undefined) return null
  const { mode, unit, value } = defaultRetention
  return { mode, period: { unit, value } }
}

export function getDefaultRetention(request: ManagementRequest, services: ManagementServices): HttpResponse {
  const bucket = requireBucket(request, services)
  return jsonResponse(200, { object_lock: bucket.lockEnabled, default_retention: defaultRetentionRecord(bucket) })
}

const RETENTION_MAXIMUM = { days: 36_500, years: 100 } as const

export async function putDefaultRetention(
  request: ManagementRequest,
  services: ManagementServices,
): Promise<HttpResponse> {
  const bucket = requireBucket(request, services).name
  const body = await readJson(request, ['default_retention'])
  const retention = retentionOf(requiredMember(body, 'default_retention'))
  await execute(request, services, { kind: 'set-default-retention', bucket, retention })
  return jsonResponse(200, { default_retention: defaultRetentionRecord(requireBucket(request, services)) })
}

/** Null removes it. */
function retentionOf(value: unknown): BucketState['defaultRetention'] {
  if (value === null) return undefined
  const members = jsonObject('default_retention', value, ['mode', 'period'])
  const mode = requiredText(members, 'mode', { minimum: 1, maximum: 16 })
  if (mode !== 'GOVERNANCE' && mode !== 'COMPLIANCE') {
    throw invalid(members.path('mode'), 'must be GOVERNANCE or COMPLIANCE')
  }
  const period = jsonObject(members.path('period'), requiredMember(members, 'period'), ['unit', 'value'])
  const unit = requiredText(period, 'unit', { minimum: 1, maximum: 8 })
  if (unit !== 'days' && unit !== 'years') throw invalid(period.path('unit'), 'must be days or years')
  return { mode, unit, value: requiredInteger(period, 'value', { minimum: 1, maximum: RETENTION_MAXIMUM[unit] }) }
}
