import type { HttpResponse } from '../../http/exchange.ts'
import { requireBucket } from '../lookup.ts'
import type { S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'
import { locationConstraint } from '../xml-documents.ts'
import { xmlResponse } from '../xml-response.ts'

/** S3 API reference, GetBucketLocation. */
export function getBucketLocation(request: S3Request, services: S3Services): HttpResponse {
  return xmlResponse(200, locationConstraint(requireBucket(request, services).region))
}
