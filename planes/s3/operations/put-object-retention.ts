import type { HttpResponse } from '../../http/exchange.ts'
import { readRequestDocument } from '../body-checks.ts'
import { execute } from '../execute.ts'
import { bypassRequested } from '../lock-headers.ts'
import { requestedVersion, requireLockedObject } from '../lookup.ts'
import { parseRetention } from '../retention.ts'
import { objectKey, type S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'

/** S3 API reference, PutObjectRetention. */
export async function putObjectRetention(request: S3Request, services: S3Services): Promise<HttpResponse> {
  const { http, target, operation } = request
  const { bucket } = requireLockedObject(request, services)
  const body = await readRequestDocument(request)
  await execute(request, services, {
    kind: 'set-retention',
    bucket: bucket.name,
    key: objectKey(request),
    version: requestedVersion(request, services),
    retention: parseRetention(body, operation.bodyBytesMaximum, services.clock()),
    bypassGovernance: bypassRequested(http, target),
  })
  return { status: 200, headers: [] }
}
