import type { HttpResponse } from '../../http/exchange.ts'
import { requireBucket } from '../lookup.ts'
import type { S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'
import { versioningConfiguration } from '../versioning-configuration.ts'
import { xmlResponse } from '../xml-response.ts'

/** S3 API reference, GetBucketVersioning. */
export function getBucketVersioning(request: S3Request, services: S3Services): HttpResponse {
  return xmlResponse(200, versioningConfiguration(requireBucket(request, services).versioning))
}
