import type { HttpResponse } from '../../http/exchange.ts'
import { execute } from '../execute.ts'
import { bucketName, type S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'

/** S3 API reference, DeleteBucket: only an empty bucket. */
export async function deleteBucket(request: S3Request, services: S3Services): Promise<HttpResponse> {
  await execute(request, services, { kind: 'delete-bucket', bucket: bucketName(request) })
  return { status: 204, headers: [] }
}
