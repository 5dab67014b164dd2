import type { HttpResponse } from '../../http/exchange.ts'
import { S3Error } from '../errors.ts'
import { retentionDocument } from '../retention.ts'
import { requireLockedObject } from '../lookup.ts'
import { objectKey, type S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'
import { xmlResponse } from '../xml-response.ts'

/** S3 API reference, GetObjectRetention. */
export function getObjectRetention(request: S3Request, services: S3Services): HttpResponse {
  const retention = requireLockedObject(request, services).object.lock?.retention
  if (retention === undefined) {
    throw new S3Error('NoSuchObjectLockConfiguration', { details: [['Key', objectKey(request)]] })
  }
  return xmlResponse(200, retentionDocument(retention))
}
