import { documentOf } from '../bodies/read-document.ts'
import { isBucketName } from '../../../engine/domain/names.ts'
import { effectiveHeader } from '../request/effective-headers.ts'
import { invalidArgument, S3Error } from '../errors/s3-errors.ts'
import type { BucketRequest } from '../handling/s3-request.ts'
import { defineOperation } from '../handling/operation.ts'

const DEFAULT_REGION = 'us-east-1'
const LOCK_HEADER = 'x-amz-bucket-object-lock-enabled'

/**
 * S3 API reference, CreateBucket. Creating a bucket again is 200 in us-east-1 with equal settings, else 409
 * (spec/decisions/0001).
 */
export const createBucket = defineOperation({
  name: 'CreateBucket',
  method: 'PUT',
  level: 'bucket',
  action: 's3:CreateBucket',
  bodyBytesMaximum: 64 * 1024,
  headers: [LOCK_HEADER],
  async handle(request) {
    const { bucket } = request
    // Other requests answer NoSuchBucket for an invalid name.
    if (!isBucketName(bucket)) throw new S3Error('InvalidBucketName', { details: [['BucketName', bucket]] })
    const region = (await documentOf(request, 'bucket configuration', [])) ?? DEFAULT_REGION
    await request.journal.execute({ kind: 'create-bucket', bucket, region, lockEnabled: wantsLock(request) })
    return { status: 200, headers: [['location', `/${bucket}`]] }
  },
})

/** @throws S3Error InvalidArgument */
function wantsLock({ http, target }: BucketRequest): boolean {
  const value = effectiveHeader(http, target, LOCK_HEADER)?.toLowerCase()
  if (value === undefined || value === 'false') return false
  if (value === 'true') return true
  throw invalidArgument(LOCK_HEADER, value, 'The value is true or false.')
}
