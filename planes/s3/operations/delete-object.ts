import type { VersionName } from '../../../engine/commands/version-name.ts'
import type { BucketState } from '../../../engine/state-ports.ts'
import type { HeaderLine } from '../../http/exchange.ts'
import { idOfSelector } from '../../objects/version-ids.ts'
import { writeCondition } from '../request/conditions.ts'
import { BYPASS_HEADER, bypassRequested } from '../request/lock-headers.ts'
import { requestedVersion, requireBucket } from '../handling/lookup.ts'
import type { S3Services } from '../handling/services.ts'
import { defineOperation } from '../handling/operation.ts'

/** S3 API reference, DeleteObject: 204 also for a missing object. */
export const deleteObject = defineOperation({
  name: 'DeleteObject',
  method: 'DELETE',
  level: 'object',
  action: 's3:DeleteObject',
  versionAction: 's3:DeleteObjectVersion',
  accepts: ['versionId'],
  headers: [BYPASS_HEADER],
  async handle(request, services) {
    const { http, target } = request
    const bucket = requireBucket(request, services)
    const version = requestedVersion(request, services)
    const done = await request.journal.execute({
      kind: 'delete-object',
      bucket: bucket.name,
      key: request.key,
      condition: writeCondition(http),
      bypassGovernance: bypassRequested(http, target),
      ...(version === undefined ? {} : { version }),
    })
    const named = target.query.first('versionId')
    const headers = named === undefined ? deletedVersion(done.version, services) : namedVersion(bucket, named)
    if (done.marker === true) headers.push(['x-amz-delete-marker', 'true'])
    return { status: 204, headers }
  },
})

/** The answer repeats the version id of the request, whether the version existed or not. */
function namedVersion(bucket: BucketState, named: string): HeaderLine[] {
  return bucket.versioning === 'off' ? [] : [['x-amz-version-id', named]]
}

/**
 * Headers for the delete marker that now hides the key, even with the id `null`. Decided by the engine's result,
 * because versioning may have been enabled since the bucket was read.
 */
function deletedVersion(version: VersionName | undefined, services: S3Services): HeaderLine[] {
  if (version === undefined) return []
  return [['x-amz-version-id', idOfSelector(version, services.versionIds)]]
}
