import type { HttpResponse } from '../../http/exchange.ts'
import { writeCondition } from '../conditions.ts'
import { execute } from '../execute.ts'
import { isVersionId, malformedVersionId, requireBucket } from '../lookup.ts'
import { bucketName, objectKey, type S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'

/** S3 API reference, DeleteObject: 204 also for what is not there. */
export async function deleteObject(request: S3Request, services: S3Services): Promise<HttpResponse> {
  requireBucket(request, services)
  const versionId = request.target.query.first('versionId')
  if (versionId !== undefined && !isVersionId(versionId)) throw malformedVersionId(versionId)
  const version = versionId === undefined ? {} : { version: versionId }
  const condition = writeCondition(request.http)
  const bucket = bucketName(request)
  const key = objectKey(request)
  await execute(request, services, { kind: 'delete-object', bucket, key, condition, ...version })
  return { status: 204, headers: [] }
}
