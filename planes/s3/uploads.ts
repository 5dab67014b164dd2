import type { BucketState, UploadState } from '../../engine/state-ports.ts'
import { S3Error } from './errors.ts'
import { requireBucket } from './lookup.ts'
import { objectKey, type S3Request } from './s3-request.ts'
import type { S3Services } from './services.ts'

/** No entry has it, so that no upload is found by it. */
const NO_UPLOAD = -1

/** Number of the upload that a request names; an id of any other shape names none. */
export function uploadNumber(request: S3Request, services: S3Services): number {
  return services.uploadIds.decode(request.target.query.first('uploadId') ?? '') ?? NO_UPLOAD
}

/**
 * The upload in progress that a request names.
 * @throws S3Error NoSuchBucket, NoSuchUpload
 */
export function requireUpload(
  request: S3Request,
  services: S3Services,
): { readonly bucket: BucketState; readonly upload: UploadState } {
  const bucket = requireBucket(request, services)
  const number = uploadNumber(request, services)
  const upload = number < 0 ? undefined : services.catalog.upload(bucket.id, objectKey(request), number)
  if (upload === undefined) throw noSuchUpload(request)
  return { bucket, upload }
}

export function noSuchUpload(request: S3Request): S3Error {
  return new S3Error('NoSuchUpload', { details: [['UploadId', request.target.query.first('uploadId') ?? '']] })
}
