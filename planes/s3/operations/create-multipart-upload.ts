import type { HttpResponse } from '../../http/exchange.ts'
import { execute } from '../execute.ts'
import { requestedLock } from '../lock-headers.ts'
import { requireBucket, requireLockable } from '../lookup.ts'
import { contentHeaders, userMetadata } from '../metadata.ts'
import { initiateMultipartUploadResult } from '../multipart-documents.ts'
import { objectKey, type S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'
import { xmlResponse } from '../xml-response.ts'

/** S3 API reference, CreateMultipartUpload. What the object is to be is said here and fixed. */
export async function createMultipartUpload(request: S3Request, services: S3Services): Promise<HttpResponse> {
  const { http, target } = request
  const { name: bucket, ...state } = requireBucket(request, services)
  const lock = requireLockable({ name: bucket, ...state }, requestedLock(http, target, services.clock()))
  const key = objectKey(request)
  const done = await execute(request, services, {
    kind: 'create-upload',
    bucket,
    key,
    headers: contentHeaders(http).flat(),
    metadata: userMetadata(http, target).flat(),
    ...(lock === undefined ? {} : { lock }),
  })
  return xmlResponse(200, initiateMultipartUploadResult(bucket, key, services.uploadIds.encode(done.sequence)))
}
