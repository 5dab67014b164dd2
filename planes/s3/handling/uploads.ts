import type { UploadId } from '../../../engine/brands.ts'
import type { BucketState, UploadState } from '../../../engine/state-ports.ts'
import type { CatalogSnapshot } from '../../../projections/catalog/catalog-snapshot.ts'
import { S3Error } from '../errors/s3-errors.ts'
import { bucketIn } from './lookup.ts'
import type { ObjectRequest, S3Request } from './s3-request.ts'
import type { S3Services } from './services.ts'

/** The upload that a request names; undefined for an id that was never issued. */
export function uploadNumber(request: S3Request, services: S3Services): UploadId | undefined {
  return services.uploadIds.decode(request.target.query.first('uploadId') ?? '')
}

/** An upload in progress, and the snapshot it was found in. */
interface FoundUpload {
  readonly snapshot: CatalogSnapshot
  readonly bucket: BucketState
  readonly upload: UploadState
}

/**
 * The upload in progress that a request names.
 * @throws S3Error NoSuchBucket, NoSuchUpload
 */
export function requireUpload(request: ObjectRequest, services: S3Services): FoundUpload {
  const snapshot = services.catalog.snapshot()
  const bucket = bucketIn(snapshot, request.bucket)
  const number = uploadNumber(request, services)
  const upload = number === undefined ? undefined : snapshot.upload(bucket.id, request.key, number)
  if (upload === undefined) throw noSuchUpload(request)
  return { snapshot, bucket, upload }
}

export function noSuchUpload(request: S3Request): S3Error {
  return new S3Error('NoSuchUpload', { details: [['UploadId', request.target.query.first('uploadId') ?? '']] })
}
