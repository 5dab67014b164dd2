import type { HttpResponse } from '../../http/exchange.ts'
import { S3Error } from '../errors.ts'
import { requireBucket } from '../lookup.ts'
import { objectLockConfiguration } from '../object-lock-configuration.ts'
import type { S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'
import { xmlResponse } from '../xml-response.ts'

/** S3 API reference, GetObjectLockConfiguration. */
export function getObjectLockConfiguration(request: S3Request, services: S3Services): HttpResponse {
  const bucket = requireBucket(request, services)
  if (!bucket.lockEnabled) {
    throw new S3Error('ObjectLockConfigurationNotFoundError', { details: [['BucketName', bucket.name]] })
  }
  return xmlResponse(200, objectLockConfiguration(bucket.defaultRetention))
}
