import { component } from './components.ts'
import { json, nothing, type RouteSchemas } from './route-schema.ts'
import { FLAG, listOf, object, oneOf, orNull, text, whole } from './schema.ts'

const DEFAULT_RETENTION = orNull(component('DefaultRetention'))
const QUOTA = component('Quota')

export const BUCKET_SCHEMAS: RouteSchemas = {
  'GET /buckets': json(200, object({ buckets: listOf(component('Bucket')) })),
  'POST /buckets': json(201, component('Bucket'), {
    request: object({ name: text({ minimum: 3, maximum: 63 }) }, { object_lock: FLAG }),
    errors: ['BUCKET_EXISTS'],
  }),
  'GET /buckets/{bucket}': json(200, component('Bucket')),
  'DELETE /buckets/{bucket}': nothing({ errors: ['BUCKET_NOT_EMPTY'] }),
  'GET /buckets/{bucket}/versioning': json(200, object({ status: oneOf('Off', 'Enabled', 'Suspended') })),
  'PUT /buckets/{bucket}/versioning': json(200, object({ status: oneOf('Enabled', 'Suspended') }), {
    request: object({ status: oneOf('Enabled', 'Suspended') }),
    errors: ['BUCKET_STATE'],
  }),
  'GET /buckets/{bucket}/quota': json(
    200,
    object({ quota: QUOTA, used: object({ bytes: whole(), objects: whole() }) }),
  ),
  'PUT /buckets/{bucket}/quota': json(200, object({ quota: QUOTA }), { request: object({ quota: QUOTA }) }),
  'GET /buckets/{bucket}/default-retention': json(
    200,
    object({ object_lock: FLAG, default_retention: DEFAULT_RETENTION }),
  ),
  'PUT /buckets/{bucket}/default-retention': json(200, object({ default_retention: DEFAULT_RETENTION }), {
    request: object({ default_retention: DEFAULT_RETENTION }),
    errors: ['BUCKET_STATE'],
  }),
}
