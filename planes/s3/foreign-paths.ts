import { S3Error } from './errors/s3-errors.ts'
import type { Target } from './request/target.ts'

/** Paths of other vendors' own interfaces, which look like a bucket and a key. */
const FOREIGN_PATHS: readonly (readonly [bucket: string, keyStart: string])[] = [['minio', 'admin/']]

/**
 * Replaces NoSuchBucket and MethodNotAllowed on another vendor's path by a refusal that names the cause. Other failures
 * are returned unchanged, since a bucket with that name may exist.
 */
export function asForeign(failure: unknown, target: Target | undefined): unknown {
  if (!(failure instanceof S3Error) || (failure.code !== 'NoSuchBucket' && failure.code !== 'MethodNotAllowed')) {
    return failure
  }
  const isForeign = FOREIGN_PATHS.some(([bucket, start]) => target?.bucket === bucket && target.key?.startsWith(start))
  if (!isForeign) return failure
  return new S3Error('NotImplemented', { message: 'The administration of other vendors is not supported.' })
}
