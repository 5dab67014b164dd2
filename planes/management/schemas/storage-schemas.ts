import { component } from './components.ts'
import { json, type RouteSchemas } from './route-schema.ts'
import { FLAG, listOf, object, oneOf, orNull, SHA256, text, whole } from './schema.ts'

const ENTRIES = whole({ minimum: 1, maximum: 10_000_000 })

export const STORAGE_SCHEMAS: RouteSchemas = {
  'GET /storage/status': json(
    200,
    object({ capacity_bytes: whole(), available_bytes: whole(), temporary_upload_bytes: whole() }),
  ),
  'GET /storage/usage': json(
    200,
    object({
      buckets: whole(),
      objects: whole(),
      versions: whole(),
      delete_markers: whole(),
      logical_bytes: whole(),
      physical_bytes: whole(),
      multipart_uploads: whole(),
      multipart_bytes: whole(),
      by_bucket: listOf(
        object({
          name: text(),
          objects: whole(),
          logical_bytes: whole(),
          noncurrent_versions: whole(),
          noncurrent_bytes: whole(),
          delete_markers: whole(),
        }),
      ),
    }),
  ),
  'GET /storage/inspect': json(200, component('StorageFindings'), { query: { maximum_entries: ENTRIES } }),
  'POST /storage/repair': json(200, component('StorageRepair'), {
    request: object({}, { maximum_entries: ENTRIES, dry_run: FLAG }),
  }),
  'POST /verify/objects/{bucket}/{key}': json(
    200,
    object({
      bucket: text(),
      key: text(),
      version_id: text(),
      size: whole(),
      status: oneOf('verified', 'damaged', 'pending'),
      expected_sha256: orNull(SHA256),
      computed_sha256: orNull(SHA256),
    }),
    { errors: ['OBJECT_NOT_FOUND', 'VERSION_NOT_FOUND', 'VERSION_IS_MARKER', 'CONFLICT'] },
  ),
  'POST /verify/buckets/{bucket}': json(
    200,
    object({
      bucket: text(),
      examined: whole(),
      verified: whole(),
      damaged: whole(),
      pending: whole(),
      damaged_objects: listOf(object({ key: text(), version_id: text() })),
      next_after: orNull(text()),
    }),
    { query: { maximum_entries: whole({ minimum: 1, maximum: 100_000 }) }, errors: ['CONFLICT'] },
  ),
}
