import type { HttpResponse } from '../../http/exchange.ts'
import { readRequestDocument } from '../body-checks.ts'
import { execute } from '../execute.ts'
import { requireBucket } from '../lookup.ts'
import { parseObjectLockConfiguration } from '../object-lock-configuration.ts'
import type { S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'

/**
 * S3 API reference, PutObjectLockConfiguration: sets or removes the default retention. It cannot turn Object Lock on;
 * that is chosen when a bucket is created (specification, Bucket).
 */
export async function putObjectLockConfiguration(request: S3Request, services: S3Services): Promise<HttpResponse> {
  const bucket = requireBucket(request, services).name
  const body = await readRequestDocument(request)
  const retention = parseObjectLockConfiguration(body, request.operation.bodyBytesMaximum)
  await execute(request, services, { kind: 'set-default-retention', bucket, retention })
  return { status: 200, headers: [] }
}
