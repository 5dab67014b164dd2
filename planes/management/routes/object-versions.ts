import { KEY_BYTES_MAXIMUM } from '../../../engine/domain/names.ts'
import { copyVersion } from '../../objects/copy-object.ts'
import { findObject } from '../../objects/find-object.ts'
import { versionIdOf } from '../../objects/version-ids.ts'
import { ADMINISTRATORS, defineRoute, NOTHING, type Route } from '../routing/define-route.ts'
import { invalid, ManagementError } from '../errors.ts'
import type { ManagementRequest } from '../requests/management-request.ts'
import {
  bucketIn,
  type ObjectRequest,
  requireFound,
  requireKey,
  VERSION_ERRORS,
  VERSION_QUERY,
  versionOf,
} from '../object-lookup.ts'
import { jsonResponse, noContent } from '../responses.ts'
import { command } from '../routing/route-command.ts'
import { object, readAs, readText, text } from '../schemas/schema.ts'
import type { ManagementServices } from '../services.ts'
import { requireBucket } from './buckets.ts'
import { currentRecord, WRITE_ERRORS, WRITTEN } from './object-records.ts'

/** Text without an upper bound in OpenAPI. */
const SOME_TEXT = text({ minimum: 1 })
const NAME = readAs(SOME_TEXT, text({ minimum: 1, maximum: 255 }).read)
/** Keys may hold control characters. */
const KEY = readAs(SOME_TEXT, (value, field) => readText(value, field, { minimum: 1, maximum: KEY_BYTES_MAXIMUM }))

export const deleteVersion = defineRoute({
  pattern: 'DELETE /buckets/{bucket}/object-versions/{key}',
  roles: ADMINISTRATORS,
  summary: 'Permanently deletes one version.',
  query: VERSION_QUERY,
  answer: { 204: NOTHING },
  errors: ['VERSION_NOT_FOUND', 'VERSION_LOCKED', 'CLOCK_BEHIND'],
  /** This plane cannot bypass a lock. */
  async handle(request, services) {
    const bucket = requireBucket(request, services)
    const key = requireKey(request)
    const id = request.query('version_id')
    if (id === undefined) throw invalid('version_id', 'is missing')
    const version = versionOf(id, services)
    if (services.catalog.snapshot().version(bucket.id, key, version) === undefined)
      throw new ManagementError('VERSION_NOT_FOUND')
    await request.journal.execute({
      kind: 'delete-object',
      bucket: bucket.name,
      key,
      version,
      condition: { kind: 'none' },
      bypassGovernance: false,
    })
    return noContent()
  },
})

async function copy(
  request: ManagementRequest & ObjectRequest,
  services: ManagementServices,
  sourceBucket: string,
  sourceKey: string,
  sourceVersionId: string | undefined,
): Promise<void> {
  const target = request.parameters
  request.journal.note('source', `${sourceBucket}/${sourceKey}`)
  const find = () => {
    const snapshot = services.catalog.snapshot()
    const bucket = bucketIn(snapshot, sourceBucket)
    const version = sourceVersionId === undefined ? undefined : versionOf(sourceVersionId, services)
    const found = requireFound(findObject(snapshot, bucket, sourceKey, version))
    bucketIn(snapshot, target.bucket)
    requireKey(request)
    return found
  }
  await copyVersion(
    request.journal,
    { ...target, replacement: undefined, condition: { kind: 'none' } },
    find,
    ({ object: copied }) => ['source_version_id', versionIdOf(copied, services.versionIds)],
  )
}

const copyObject = defineRoute({
  pattern: 'POST /buckets/{bucket}/object-copy/{key}',
  roles: ADMINISTRATORS,
  summary: 'Copies an object to this key.',
  request: object({ source_bucket: NAME, source_key: KEY }, { source_version_id: NAME }),
  answer: { 201: WRITTEN },
  errors: [...VERSION_ERRORS, ...WRITE_ERRORS],
  async handle(request, services) {
    const { source_bucket, source_key, source_version_id } = await request.body()
    await copy(request, services, source_bucket, source_key, source_version_id)
    return jsonResponse(201, currentRecord(request, services))
  },
  command: command('object copy', 'copy an object', {
    arguments: { 'source-bucket': 'text', 'source-key': 'text', bucket: 'text', key: 'text' },
    options: { 'version-id': 'this version instead of the current one' },
    call: ({ bucket, key, ...source }) => ({
      path: { bucket, key },
      body: {
        source_bucket: source['source-bucket'],
        source_key: source['source-key'],
        source_version_id: source['version-id'],
      },
    }),
  }),
})

const restore = defineRoute({
  pattern: 'POST /restore/{bucket}/{key}',
  roles: ADMINISTRATORS,
  summary: 'Makes an earlier version the current one, as a new version.',
  request: object({ version_id: NAME }),
  answer: { 201: WRITTEN },
  errors: [...VERSION_ERRORS, ...WRITE_ERRORS],
  async handle(request, services) {
    const { version_id } = await request.body()
    await copy(request, services, requireBucket(request, services).name, requireKey(request), version_id)
    return jsonResponse(201, currentRecord(request, services))
  },
  command: command('object restore', 'make an earlier version the current one', {
    arguments: { bucket: 'text', key: 'text', 'version-id': 'text' },
    call: ({ 'version-id': version }) => ({ body: { version_id: version } }),
  }),
})

export const VERSION_ROUTES: readonly Route[] = [deleteVersion, copyObject, restore]
