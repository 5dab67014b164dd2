import type { HeaderLine, HttpResponse } from '../../http/exchange.ts'
import { writeCondition } from '../conditions.ts'
import { execute } from '../execute.ts'
import { bypassRequested } from '../lock-headers.ts'
import { requestedVersion, requireBucket, writtenVersionHeader } from '../lookup.ts'
import { objectKey, type S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'

/** S3 API reference, DeleteObject: 204 also for what is not there. */
export async function deleteObject(request: S3Request, services: S3Services): Promise<HttpResponse> {
  const { http, target } = request
  const bucket = requireBucket(request, services)
  const version = requestedVersion(request, services)
  const done = await execute(request, services, {
    kind: 'delete-object',
    bucket: bucket.name,
    key: objectKey(request),
    condition: writeCondition(http),
    bypassGovernance: bypassRequested(http, target),
    ...(version === undefined ? {} : { version }),
  })
  if (bucket.versioning === 'off') return { status: 204, headers: [] }
  // An id that was never given out is echoed as it came: it names nothing that the engine knows.
  const unknown = version !== undefined && version !== 'null' && version < 0
  const headers: HeaderLine[] = unknown
    ? [['x-amz-version-id', target.query.first('versionId') ?? '']]
    : writtenVersionHeader(done.version, services)
  if (done.marker === true) headers.push(['x-amz-delete-marker', 'true'])
  return { status: 204, headers }
}
