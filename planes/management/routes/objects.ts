import { PayloadDamagedError } from '../../../engine/payloads/payload-errors.ts'
import { BodyRemovedError, type BodySource, type HeaderLine, type HttpResponse } from '../../http/exchange.ts'
import { isHeaderValue } from '../../objects/names.ts'
import { openPayload } from '../../objects/payload-body.ts'
import { receivePayload } from '../../objects/receive-payload.ts'
import { invalid, ManagementError } from '../errors.ts'
import { execute } from '../execute.ts'
import { optionalText, readJson, requiredText } from '../json-body.ts'
import { auditOf, type ManagementRequest } from '../management-request.ts'
import { type FoundVersion, requireKey, requireVersion, versionIdOf, versionOf } from '../object-lookup.ts'
import { jsonResponse, noContent } from '../responses.ts'
import type { ManagementServices } from '../services.ts'
import { requireBucket } from './buckets.ts'
import { versionRecord } from './object-records.ts'

/** Largest object of one request, as on the S3 plane. */
const OBJECT_BYTES_MAXIMUM = 5 * 1024 ** 3
const TEXT = { minimum: 1, maximum: 1024 } as const
const NAME = { minimum: 1, maximum: 255 } as const

export function getObject(request: ManagementRequest, services: ManagementServices): HttpResponse {
  return jsonResponse(200, versionRecord(requireVersion(request, services), services))
}

/** Answers 201 with what is stored now. `If-None-Match: *` keeps what is there. */
export async function putObject(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  const { http } = request
  const bucket = requireBucket(request, services)
  const key = requireKey(request)
  const length = http.contentLength
  if (length === undefined) throw new ManagementError('LENGTH_REQUIRED')
  if (length > OBJECT_BYTES_MAXIMUM) throw new ManagementError('OBJECT_TOO_LARGE')
  const contentType = http.header('content-type')
  if (contentType !== undefined && !isHeaderValue(contentType)) throw invalid('content-type', 'is no header value')
  const condition = ifAbsent(request) ? ({ kind: 'absent' } as const) : ({ kind: 'none' } as const)
  const received = await receivePayload(http.body, length, services, NO_CHECKS, async () => {
    const { sequence } = await services.engine.execute({ kind: 'record-attempt', audit: auditOf(request) })
    request.journaled = { kind: 'attempt', sequence }
  })
  const { size, digest, md5: etag, body } = received
  const object = { bucket: bucket.name, key, size, digest, etag, body, condition, metadata: [] }
  const headers = contentType === undefined || contentType === '' ? [] : ['content-type', contentType]
  try {
    await execute(request, services, { kind: 'write-object', ...object, headers })
  } catch (error) {
    // Only a refusal is certain: after any other failure an entry may already refer to the file.
    if (body.kind === 'file' && error instanceof ManagementError && request.journaled.kind === 'outcome') {
      await services.uploads.discard(body.name)
    }
    throw error
  }
  return current(201, request, services)
}

/** What this plane takes on trust: it is told nothing of the body beside its length. */
const NO_CHECKS = { update: () => undefined, finish: () => undefined }

function ifAbsent({ http }: ManagementRequest): boolean {
  const value = http.header('if-none-match')
  if (value === undefined) return false
  if (value !== '*') throw invalid('if-none-match', 'must be *')
  return true
}

/** The current object, as it is after a change. */
function current(status: number, request: ManagementRequest, services: ManagementServices): HttpResponse {
  const bucket = requireBucket(request, services)
  const key = requireKey(request)
  const object = services.catalog.object(bucket.id, key)
  // Another request removed it already.
  if (object === undefined) return jsonResponse(status, { bucket: bucket.name, key })
  return jsonResponse(status, versionRecord({ bucket, key, object }, services))
}

/** As S3 does without a version: a delete marker where there is versioning. */
export async function deleteObject(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  const bucket = requireBucket(request, services)
  await execute(request, services, {
    kind: 'delete-object',
    bucket: bucket.name,
    key: requireKey(request),
    condition: { kind: 'none' },
    bypassGovernance: false,
  })
  return noContent()
}

/** One version for ever. This plane has no way past a lock. */
export async function deleteVersion(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  const bucket = requireBucket(request, services)
  const key = requireKey(request)
  const id = request.query.get('version_id')
  if (id === undefined) throw invalid('version_id', 'is missing')
  const version = versionOf(id, services)
  if (services.catalog.version(bucket.id, key, version) === undefined) throw new ManagementError('VERSION_NOT_FOUND')
  await execute(request, services, {
    kind: 'delete-object',
    bucket: bucket.name,
    key,
    version,
    condition: { kind: 'none' },
    bypassGovernance: false,
  })
  return noContent()
}

/** Copies the object or version that the body names to the key of the path. */
export async function copyObject(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  const members = await readJson(request, ['source_bucket', 'source_key', 'source_version_id'])
  const sourceBucket = requiredText(members, 'source_bucket', NAME)
  const sourceKey = requiredText(members, 'source_key', TEXT)
  const id = optionalText(members, 'source_version_id', NAME)
  await copy(request, services, sourceBucket, sourceKey, id)
  return current(201, request, services)
}

/** Makes an earlier version current again, by a new version; the history stays. */
export async function restore(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  const id = requiredText(await readJson(request, ['version_id']), 'version_id', NAME)
  await copy(request, services, requireBucket(request, services).name, requireKey(request), id)
  return current(201, request, services)
}

async function copy(
  request: ManagementRequest,
  services: ManagementServices,
  sourceBucket: string,
  sourceKey: string,
  sourceVersionId: string | undefined,
): Promise<void> {
  const source = services.catalog.bucket(sourceBucket)
  if (source === undefined) throw new ManagementError('BUCKET_NOT_FOUND')
  const version = sourceVersionId === undefined ? undefined : versionOf(sourceVersionId, services)
  const object =
    version === undefined
      ? services.catalog.object(source.id, sourceKey)
      : services.catalog.version(source.id, sourceKey, version)
  if (object === undefined) {
    throw new ManagementError(version === undefined ? 'OBJECT_NOT_FOUND' : 'VERSION_NOT_FOUND')
  }
  if (object.isMarker) throw new ManagementError('VERSION_IS_MARKER')
  const change = {
    kind: 'copy-object' as const,
    sourceBucket,
    sourceKey,
    sourceSequence: object.sequence,
    sourceIsVersion: version !== undefined,
    bucket: requireBucket(request, services).name,
    key: requireKey(request),
    replacement: undefined,
    condition: { kind: 'none' as const },
  }
  const details = ['source', `${sourceBucket}/${sourceKey}`, 'source_version_id', versionIdOf(object, services)]
  await execute(request, services, change, details)
}

/** The bytes, always as an attachment: this listener shows nothing that a stranger stored (S20). */
export async function getContent(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  const found = requireVersion(request, services)
  const name = encodeURIComponent(found.key.slice(found.key.lastIndexOf('/') + 1) || 'object').replaceAll("'", '%27')
  const headers: HeaderLine[] = [
    ['content-type', 'application/octet-stream'],
    ['content-disposition', `attachment; filename*=UTF-8''${name}`],
    ['etag', `"${found.object.etag}"`],
    ...SAFE_HEADERS,
  ]
  return { status: 200, headers, body: await openBytes(found, services) }
}

/** What keeps a browser from taking stored bytes for a page of this origin (S20). */
export const SAFE_HEADERS: readonly HeaderLine[] = [
  ['x-content-type-options', 'nosniff'],
  ['content-security-policy', "sandbox; default-src 'none'"],
  ['cache-control', 'no-store'],
]

/** @throws ManagementError OBJECT_DAMAGED, CONFLICT when the object was removed meanwhile */
export async function openBytes(
  { object }: FoundVersion,
  services: ManagementServices,
): Promise<BodySource | Buffer | ''> {
  if (object.size === 0) return ''
  const location = services.catalog.payload(object.payload)
  if (location === undefined) throw new ManagementError('CONFLICT')
  try {
    return await openPayload(services, object.payload, location, 0, object.size)
  } catch (error) {
    if (error instanceof BodyRemovedError) throw new ManagementError('CONFLICT')
    if (error instanceof PayloadDamagedError) throw new ManagementError('OBJECT_DAMAGED')
    throw error
  }
}
