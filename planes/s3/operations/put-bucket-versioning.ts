import type { HttpResponse } from '../../http/exchange.ts'
import { readRequestDocument } from '../body-checks.ts'
import { execute } from '../execute.ts'
import { requireBucket } from '../lookup.ts'
import type { S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'
import { parseVersioningConfiguration } from '../versioning-configuration.ts'

/** S3 API reference, PutBucketVersioning. */
export async function putBucketVersioning(request: S3Request, services: S3Services): Promise<HttpResponse> {
  const bucket = requireBucket(request, services).name
  const body = await readRequestDocument(request)
  const versioning = parseVersioningConfiguration(body, request.operation.bodyBytesMaximum)
  await execute(request, services, { kind: 'set-versioning', bucket, versioning })
  return { status: 200, headers: [] }
}
