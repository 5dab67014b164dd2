import type { HttpResponse } from '../../http/exchange.ts'
import { S3Error } from '../errors.ts'
import { legalHoldDocument } from '../legal-hold.ts'
import { requireLockedObject } from '../lookup.ts'
import { objectKey, type S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'
import { xmlResponse } from '../xml-response.ts'

/** S3 API reference, GetObjectLegalHold. */
export function getObjectLegalHold(request: S3Request, services: S3Services): HttpResponse {
  const hold = requireLockedObject(request, services).object.lock?.hold
  if (hold === undefined) {
    throw new S3Error('NoSuchObjectLockConfiguration', { details: [['Key', objectKey(request)]] })
  }
  return xmlResponse(200, legalHoldDocument(hold))
}
