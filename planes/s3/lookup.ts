import type { BucketState, ObjectState } from '../../engine/state-ports.ts'
import { S3Error } from './errors.ts'
import { bucketName, objectKey, type S3Request } from './s3-request.ts'
import type { S3Services } from './services.ts'

/** @throws S3Error NoSuchBucket */
export function requireBucket(request: S3Request, services: S3Services): BucketState {
  return requireBucketNamed(bucketName(request), services)
}

/** @throws S3Error NoSuchBucket */
export function requireBucketNamed(name: string, services: S3Services): BucketState {
  const bucket = services.catalog.bucket(name)
  if (bucket === undefined) throw new S3Error('NoSuchBucket', { details: [['BucketName', name]] })
  return bucket
}

/**
 * The current object that a read asks for.
 * @throws S3Error NoSuchBucket, NoSuchKey, NoSuchVersion
 */
export function requireObject(request: S3Request, services: S3Services): ObjectState {
  const bucket = requireBucket(request, services)
  const key = objectKey(request)
  requireNullVersion(request.target.query.first('versionId'), key)
  const object = services.catalog.object(bucket.id, key)
  if (object === undefined) throw new S3Error('NoSuchKey', { details: [['Key', key]] })
  return object
}

const VERSION_ID = /^[\w.~-]{1,1024}$/

/** Whether a text has the form of a version id. */
export function isVersionId(text: string): boolean {
  return VERSION_ID.test(text)
}

/**
 * Objects of a bucket without versioning are the version `null`, and there is no other.
 * @throws S3Error InvalidArgument, NoSuchVersion
 */
export function requireNullVersion(versionId: string | undefined, key: string): void {
  if (versionId === undefined || versionId === 'null') return
  if (!isVersionId(versionId)) throw malformedVersionId(versionId)
  const details = [
    ['Key', key],
    ['VersionId', versionId],
  ] as const
  throw new S3Error('NoSuchVersion', { details })
}

export function malformedVersionId(versionId: string): S3Error {
  const details = [
    ['ArgumentName', 'versionId'],
    ['ArgumentValue', versionId],
  ] as const
  return new S3Error('InvalidArgument', { message: 'Invalid version id specified', details })
}
