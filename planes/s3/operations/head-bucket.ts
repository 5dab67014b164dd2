import type { HttpResponse } from '../../http/exchange.ts'
import { requireBucket } from '../lookup.ts'
import type { S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'

/** S3 API reference, HeadBucket. */
export function headBucket(request: S3Request, services: S3Services): HttpResponse {
  const bucket = requireBucket(request, services)
  return { status: 200, headers: [['x-amz-bucket-region', bucket.region]], contentLength: 0 }
}
