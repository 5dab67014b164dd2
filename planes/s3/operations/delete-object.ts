import type { VersionSelector } from '../../../engine/commands.ts'
import type { BucketState } from '../../../engine/state-ports.ts'
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
  const named = target.query.first('versionId')
  const headers = named === undefined ? deletedVersion(done.version, services) : namedVersion(bucket, named)
  if (done.marker === true) headers.push(['x-amz-delete-marker', 'true'])
  return { status: 204, headers }
}

/** A version that was named is named in the answer, whether it was there or not. */
function namedVersion(bucket: BucketState, named: string): HeaderLine[] {
  return bucket.versioning === 'off' ? [] : [['x-amz-version-id', named]]
}

/**
 * The marker that now hides the key, also one whose id is `null`. The engine knows whether there is one: versioning may
 * have been enabled since the bucket was looked at.
 */
function deletedVersion(version: VersionSelector | undefined, services: S3Services): HeaderLine[] {
  if (version === undefined) return []
  return [['x-amz-version-id', version === 'null' ? version : services.versionIds.encode(version)]]
}
