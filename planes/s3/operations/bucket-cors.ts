import { documentOf } from '../bodies/read-document.ts'
import { corsConfiguration } from '../cors/cors-configuration.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { S3Error } from '../errors/s3-errors.ts'
import { bucketIn, requireBucket } from '../handling/lookup.ts'
import { defineOperation } from '../handling/operation.ts'

const CORS = { level: 'bucket', subresource: 'cors' } as const

/** S3 API reference, PutBucketCors. */
export const putBucketCors = defineOperation({
  name: 'PutBucketCors',
  method: 'PUT',
  ...CORS,
  action: 's3:ManageBucket',
  async handle(request, services) {
    const bucket = requireBucket(request, services).name
    const rules = await documentOf(request, 'cors', [])
    await request.journal.execute({ kind: 'set-cors', bucket, rules })
    return { status: 200, headers: [] }
  },
})

/** S3 API reference, GetBucketCors. */
export const getBucketCors = defineOperation({
  name: 'GetBucketCors',
  method: 'GET',
  ...CORS,
  action: 's3:GetBucketCORS',
  coveredBy: 's3:ManageBucket',
  handle(request, services) {
    const snapshot = services.catalog.snapshot()
    const { id, name } = bucketIn(snapshot, request.bucket)
    const rules = snapshot.cors(id)
    if (rules.length === 0) throw new S3Error('NoSuchCORSConfiguration', { details: [['BucketName', name]] })
    return xmlResponse(corsConfiguration(rules))
  },
})

/** S3 API reference, DeleteBucketCors. The answer is the same where there is no configuration. */
export const deleteBucketCors = defineOperation({
  name: 'DeleteBucketCors',
  method: 'DELETE',
  ...CORS,
  action: 's3:ManageBucket',
  async handle(request, services) {
    const bucket = requireBucket(request, services).name
    await request.journal.execute({ kind: 'set-cors', bucket, rules: [] })
    return { status: 204, headers: [] }
  },
})
