import { component } from './components.ts'
import { bytes, json, nothing, type RouteSchema, type RouteSchemas } from './route-schema.ts'
import { FLAG, listOf, object, orNull, TIME, text, whole } from './schema.ts'

const FINDS_VERSION = ['OBJECT_NOT_FOUND', 'VERSION_NOT_FOUND', 'VERSION_IS_MARKER'] as const
const WRITES = ['QUOTA_EXCEEDED', 'STORAGE_FULL', 'CONFLICT'] as const
const LISTS = { limit: whole({ minimum: 1, maximum: 1000 }) } as const

/** A version that was written; only bucket and key when another request has removed it already. */
function writes(extras: Pick<RouteSchema, 'request' | 'errors'>): RouteSchema {
  return json(201, { anyOf: [component('ObjectVersion'), object({ bucket: text(), key: text() })] }, extras)
}

export const OBJECT_SCHEMAS: RouteSchemas = {
  'GET /buckets/{bucket}/objects': json(
    200,
    object({
      objects: listOf(object({ key: text(), size: whole(), etag: text(), created_at: TIME })),
      prefixes: listOf(text()),
      next_after: orNull(text()),
    }),
    { query: LISTS },
  ),
  'GET /buckets/{bucket}/object-versions': json(
    200,
    object({
      versions: listOf(
        object({
          key: text(),
          version_id: text(),
          is_latest: FLAG,
          delete_marker: FLAG,
          size: orNull(whole()),
          etag: orNull(text()),
          created_at: TIME,
        }),
      ),
      prefixes: listOf(text()),
      next_after: orNull(text()),
      next_after_version_id: orNull(text()),
    }),
    { query: LISTS, errors: ['VERSION_NOT_FOUND'] },
  ),
  'GET /buckets/{bucket}/object/{key}': json(200, component('ObjectVersion'), { errors: FINDS_VERSION }),
  'PUT /buckets/{bucket}/object/{key}': writes({ errors: [...WRITES, 'LENGTH_REQUIRED', 'OBJECT_TOO_LARGE'] }),
  'DELETE /buckets/{bucket}/object/{key}': nothing(),
  'GET /buckets/{bucket}/object-content/{key}': bytes(['application/octet-stream'], {
    errors: [...FINDS_VERSION, 'OBJECT_DAMAGED', 'CONFLICT'],
  }),
  'GET /buckets/{bucket}/object-preview/{key}': bytes(
    ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'text/plain; charset=utf-8'],
    { errors: [...FINDS_VERSION, 'NOT_PREVIEWABLE', 'OBJECT_DAMAGED', 'CONFLICT'] },
  ),
  'DELETE /buckets/{bucket}/object-versions/{key}': nothing({
    errors: ['VERSION_NOT_FOUND', 'VERSION_LOCKED', 'CLOCK_BEHIND'],
  }),
  'POST /buckets/{bucket}/object-copy/{key}': writes({
    request: object(
      { source_bucket: text({ minimum: 1 }), source_key: text({ minimum: 1 }) },
      { source_version_id: text({ minimum: 1 }) },
    ),
    errors: [...FINDS_VERSION, ...WRITES],
  }),
  'POST /restore/{bucket}/{key}': writes({
    request: object({ version_id: text({ minimum: 1 }) }),
    errors: [...FINDS_VERSION, ...WRITES],
  }),
}
