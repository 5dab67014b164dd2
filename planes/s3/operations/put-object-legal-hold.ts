import type { HttpResponse } from '../../http/exchange.ts'
import { readRequestDocument } from '../body-checks.ts'
import { execute } from '../execute.ts'
import { parseLegalHold } from '../legal-hold.ts'
import { requestedVersion, requireLockedObject } from '../lookup.ts'
import { objectKey, type S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'

/** S3 API reference, PutObjectLegalHold. */
export async function putObjectLegalHold(request: S3Request, services: S3Services): Promise<HttpResponse> {
  const { bucket } = requireLockedObject(request, services)
  const body = await readRequestDocument(request)
  await execute(request, services, {
    kind: 'set-legal-hold',
    bucket: bucket.name,
    key: objectKey(request),
    version: requestedVersion(request, services),
    hold: parseLegalHold(body, request.operation.bodyBytesMaximum),
  })
  return { status: 200, headers: [] }
}
