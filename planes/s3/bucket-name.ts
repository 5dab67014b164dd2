import { isBucketName } from '../objects/names.ts'
import { S3Error } from './errors.ts'

/**
 * For creation. On other requests a name outside the rules simply belongs to no bucket.
 * @throws S3Error InvalidBucketName
 */
export function checkBucketName(name: string): void {
  if (!isBucketName(name)) throw new S3Error('InvalidBucketName', { details: [['BucketName', name]] })
}
