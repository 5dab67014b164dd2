import type { VersionSelector } from '../../../engine/commands.ts'
import type { HeaderLine, HttpResponse } from '../../http/exchange.ts'
import { writeCondition } from '../conditions.ts'
import { execute } from '../execute.ts'
import { bypassRequested } from '../lock-headers.ts'
import { requestedVersion, requireBucket } from '../lookup.ts'
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
  // A version that was named is named in the answer, whether it was there or not.
  const named = target.query.first('versionId')
  const headers: HeaderLine[] =
    named === undefined ? deletedVersion(done.version, services) : [['x-amz-version-id', named]]
  if (done.marker === true) headers.push(['x-amz-delete-marker', 'true'])
  return { status: 204, headers }
}

/** The marker that now hides the key, also one whose id is `null`. */
function deletedVersion(version: VersionSelector | undefined, services: S3Services): HeaderLine[] {
  if (version === undefined) return []
  return [['x-amz-version-id', version === 'null' ? version : services.versionIds.encode(version)]]
}
