import type { HttpResponse } from '../../http/exchange.ts'
import { readRequestDocument } from '../body-checks.ts'
import { parseCorsConfiguration } from '../cors-configuration.ts'
import { execute } from '../execute.ts'
import { requireBucket } from '../lookup.ts'
import type { S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'

/** S3 API reference, PutBucketCors. */
export async function putBucketCors(request: S3Request, services: S3Services): Promise<HttpResponse> {
  const bucket = requireBucket(request, services).name
  const body = await readRequestDocument(request)
  const rules = parseCorsConfiguration(body, request.operation.bodyBytesMaximum)
  await execute(request, services, { kind: 'set-cors', bucket, rules })
  return { status: 200, headers: [] }
}
