import type { HttpResponse } from '../../http/exchange.ts'
import { execute } from '../execute.ts'
import { requireBucket } from '../lookup.ts'
import type { S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'

/** S3 API reference, DeleteBucketCors. The answer is the same where there is no configuration. */
export async function deleteBucketCors(request: S3Request, services: S3Services): Promise<HttpResponse> {
  const bucket = requireBucket(request, services).name
  await execute(request, services, { kind: 'set-cors', bucket, rules: [] })
  return { status: 204, headers: [] }
}
