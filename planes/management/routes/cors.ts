import { defineRoute, EVERYONE, json, type Route } from '../routing/define-route.ts'
import { bucketIn } from '../object-lookup.ts'
import { jsonResponse } from '../responses.ts'
import { command } from '../routing/route-command.ts'
import { listOf, object, orNull, text, whole } from '../schemas/schema.ts'

const RULE = object({
  id: orNull(text()),
  allowed_origins: listOf(text()),
  allowed_methods: listOf(text()),
  allowed_headers: listOf(text()),
  expose_headers: listOf(text()),
  max_age_seconds: orNull(whole()),
})

const getCors = defineRoute({
  pattern: 'GET /buckets/{bucket}/cors',
  roles: EVERYONE,
  summary: 'Which pages of other origins may use a bucket over S3.',
  answer: { 200: json(object({ rules: listOf(RULE) })) },
  /** In order of evaluation. Rules are set over S3 (PutBucketCors). */
  handle(request, services) {
    const snapshot = services.catalog.snapshot()
    const bucket = bucketIn(snapshot, request.parameters.bucket)
    const rules = snapshot.cors(bucket.id).map(({ id, origins, methods, headers, exposed, maxAgeSeconds }) => ({
      id: id ?? null,
      allowed_origins: origins,
      allowed_methods: methods,
      allowed_headers: headers,
      expose_headers: exposed,
      max_age_seconds: maxAgeSeconds ?? null,
    }))
    return jsonResponse(200, { rules })
  },
  command: command('bucket cors', 'show which pages of other origins may use a bucket over S3', {
    arguments: { bucket: 'text' },
    show: {
      list: 'rules',
      columns: ['id', 'allowed_origins', 'allowed_methods', 'allowed_headers', 'max_age_seconds'],
    },
  }),
})

export const CORS_ROUTES: readonly Route[] = [getCors]
