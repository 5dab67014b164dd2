import type { HttpResponse } from '../../http/exchange.ts'
import { execute } from '../execute.ts'
import { objectKey, type S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'
import { requireUpload } from '../uploads.ts'

/** S3 API reference, AbortMultipartUpload. */
export async function abortMultipartUpload(request: S3Request, services: S3Services): Promise<HttpResponse> {
  const { bucket, upload } = requireUpload(request, services)
  const key = objectKey(request)
  await execute(request, services, { kind: 'abort-upload', bucket: bucket.name, key, upload: upload.upload })
  return { status: 204, headers: [] }
}
