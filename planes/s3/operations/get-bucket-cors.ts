import type { HttpResponse } from '../../http/exchange.ts'
import { corsConfiguration } from '../cors-configuration.ts'
import { S3Error } from '../errors.ts'
import { requireBucket } from '../lookup.ts'
import type { S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'
import { xmlResponse } from '../xml-response.ts'

/** S3 API reference, GetBucketCors. */
export function getBucketCors(request: S3Request, services: S3Services): HttpResponse {
  const { id, name } = requireBucket(request, services)
  const rules = services.catalog.cors(id)
  if (rules.length === 0) throw new S3Error('NoSuchCORSConfiguration', { details: [['BucketName', name]] })
  return xmlResponse(200, corsConfiguration(rules))
}
