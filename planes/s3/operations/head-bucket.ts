import { defineOperation } from '../handling/operation.ts'
import { requireBucket } from '../handling/lookup.ts'

/** S3 API reference, HeadBucket. */
export const headBucket = defineOperation({
  name: 'HeadBucket',
  method: 'HEAD',
  level: 'bucket',
  action: 's3:ListBucket',
  handle(request, services) {
    const bucket = requireBucket(request, services)
    return { status: 200, headers: [['x-amz-bucket-region', bucket.region]], contentLength: 0 }
  },
})
