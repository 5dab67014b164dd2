import { isHeaderValue } from '../../../engine/domain/names.ts'
import { storeObject } from '../../objects/store-object.ts'
import { ADMINISTRATORS, defineRoute, EVERYONE, json, NOTHING, type Route } from '../routing/define-route.ts'
import { invalid, ManagementError } from '../errors.ts'
import type { ManagementRequest } from '../requests/management-request.ts'
import { requireKey, requireVersion, VERSION_ERRORS, VERSION_QUERY } from '../object-lookup.ts'
import { jsonResponse, noContent } from '../responses.ts'
import { command } from '../routing/route-command.ts'
import { component } from '../schemas/components.ts'
import { requireBucket } from './buckets.ts'
import { currentRecord, versionRecord, WRITE_ERRORS, WRITTEN } from './object-records.ts'
import { deleteVersion } from './object-versions.ts'

/** Largest upload in one request, as on the S3 plane. */
const OBJECT_BYTES_MAXIMUM = 5 * 1024 ** 3

const getObject = defineRoute({
  pattern: 'GET /buckets/{bucket}/object/{key}',
  roles: EVERYONE,
  summary: 'One object with its metadata and lock.',
  query: VERSION_QUERY,
  answer: { 200: json(component('ObjectVersion')) },
  errors: VERSION_ERRORS,
  handle: (request, services) => jsonResponse(200, versionRecord(requireVersion(request, services), services)),
  command: command('object show', 'show an object with its metadata and lock', {
    arguments: { bucket: 'text', key: 'text' },
    options: { 'version-id': 'this version instead of the current one' },
  }),
})

/** A request declares only the length of its body here, so there is no checksum to verify. */
const NO_CHECKS = { update: () => undefined, finish: () => undefined }

function ifAbsent({ http }: ManagementRequest): boolean {
  const value = http.header('if-none-match')
  if (value === undefined) return false
  if (value !== '*') throw invalid('if-none-match', 'must be *')
  return true
}

/** Headers of an S3 upload that this upload does not support. */
const S3_ONLY = new Set([
  'if-match',
  'if-modified-since',
  'if-unmodified-since',
  'content-md5',
  'content-encoding',
  'content-disposition',
  'content-language',
])

/** Refuses S3 headers, which are ignored here: a client must not believe that a digest was checked or a lock set. */
function refuseS3Headers({ http }: ManagementRequest): void {
  const sent = http.headers.find(([name]) => S3_ONLY.has(name) || name.startsWith('x-amz-'))
  if (sent !== undefined) throw invalid(sent[0], 'is not supported by this upload; send the object over S3')
}

const putObject = defineRoute({
  pattern: 'PUT /buckets/{bucket}/object/{key}',
  roles: ADMINISTRATORS,
  summary: 'Uploads an object; the body is its bytes.',
  takesObject: true,
  headers: { 'if-none-match': '`*`: an object that is there is kept, and the answer is CONFLICT.' },
  answer: { 201: WRITTEN },
  errors: [...WRITE_ERRORS, 'LENGTH_REQUIRED', 'OBJECT_TOO_LARGE'],
  /** With `If-None-Match: *` an existing object is kept. */
  async handle(request, services) {
    const { http } = request
    refuseS3Headers(request)
    const bucket = requireBucket(request, services)
    const key = requireKey(request)
    const length = http.contentLength
    if (length === undefined) throw new ManagementError('LENGTH_REQUIRED')
    if (length > OBJECT_BYTES_MAXIMUM) throw new ManagementError('OBJECT_TOO_LARGE')
    const contentType = http.header('content-type')
    if (contentType !== undefined && !isHeaderValue(contentType))
      throw invalid('content-type', 'is not a valid header value')
    const condition = ifAbsent(request) ? ({ kind: 'absent' } as const) : ({ kind: 'none' } as const)
    const headers = contentType === undefined || contentType === '' ? [] : ['content-type', contentType]
    const upload = { journal: request.journal, body: http.body, length, checks: NO_CHECKS }
    await storeObject(services, upload, (stored) => ({
      kind: 'write-object',
      bucket: bucket.name,
      key,
      ...stored,
      condition,
      headers,
      metadata: [],
    }))
    return jsonResponse(201, currentRecord(request, services))
  },
})

const deleteObject = defineRoute({
  pattern: 'DELETE /buckets/{bucket}/object/{key}',
  roles: ADMINISTRATORS,
  summary: 'Deletes an object, as S3 does when no version is given.',
  answer: { 204: NOTHING },
  /** Adds a delete marker in a versioned bucket. */
  async handle(request, services) {
    const bucket = requireBucket(request, services)
    await request.journal.execute({
      kind: 'delete-object',
      bucket: bucket.name,
      key: requireKey(request),
      condition: { kind: 'none' },
      bypassGovernance: false,
    })
    return noContent()
  },
  command: command('object delete', 'delete an object, or permanently one version', {
    arguments: { bucket: 'text', key: 'text' },
    options: { 'version-id': 'this version instead of the current one' },
    call: ({ 'version-id': version }) => (version === undefined ? {} : { instead: deleteVersion }),
    show: { done: 'deleted' },
  }),
})

export const OBJECT_ROUTES: readonly Route[] = [getObject, putObject, deleteObject]
