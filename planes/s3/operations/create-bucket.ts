import type { HttpResponse } from '../../http/exchange.ts'
import { readDocument } from '../body-checks.ts'
import { checkBucketName } from '../bucket-name.ts'
import { parseCreateBucketConfiguration } from '../create-bucket-configuration.ts'
import { effectiveHeader } from '../effective-headers.ts'
import { invalidArgument } from '../errors.ts'
import { execute } from '../execute.ts'
import { bucketName, type S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'

export const DEFAULT_REGION = 'us-east-1'

/** S3 API reference, CreateBucket. A second creation is 200 in us-east-1 when it asks for the same, else 409 (spec/decisions/0022). */
export async function createBucket(request: S3Request, services: S3Services): Promise<HttpResponse> {
  const bucket = bucketName(request)
  checkBucketName(bucket)
  const { bodyBytesMaximum } = request.operation
  const body = await readDocument(request.http, request.identity.payload, bodyBytesMaximum)
  const { locationConstraint } = parseCreateBucketConfiguration(body, bodyBytesMaximum)
  const region = locationConstraint ?? DEFAULT_REGION
  await execute(request, services, { kind: 'create-bucket', bucket, region, lockEnabled: wantsLock(request) })
  return { status: 200, headers: [['location', `/${bucket}`]] }
}

const LOCK_HEADER = 'x-amz-bucket-object-lock-enabled'

/** @throws S3Error InvalidArgument */
function wantsLock({ http, target }: S3Request): boolean {
  const value = effectiveHeader(http, target, LOCK_HEADER)?.toLowerCase()
  if (value === undefined || value === 'false') return false
  if (value === 'true') return true
  throw invalidArgument(LOCK_HEADER, value, 'The value is true or false.')
}
