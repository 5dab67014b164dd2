import { documentOf } from '../bodies/read-document.ts'
import { retentionDocument } from '../documents/retention.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { S3Error } from '../errors/s3-errors.ts'
import { requestedVersion, requireLockedObject } from '../handling/lookup.ts'
import { defineOperation } from '../handling/operation.ts'
import { BYPASS_HEADER, bypassRequested } from '../request/lock-headers.ts'

/** S3 API reference, PutObjectRetention. */
export const putObjectRetention = defineOperation({
  name: 'PutObjectRetention',
  method: 'PUT',
  level: 'object',
  subresource: 'retention',
  action: 's3:PutObjectRetention',
  accepts: ['versionId'],
  headers: [BYPASS_HEADER],
  async handle(request, services) {
    const { bucket, key } = requireLockedObject(request, services)
    const retention = await documentOf(request, 'retention', [services.clock()])
    await request.journal.execute({
      kind: 'set-retention',
      bucket: bucket.name,
      key,
      version: requestedVersion(request, services),
      retention,
      bypassGovernance: bypassRequested(request.http, request.target),
    })
    return { status: 200, headers: [] }
  },
})

/** S3 API reference, GetObjectRetention. */
export const getObjectRetention = defineOperation({
  name: 'GetObjectRetention',
  method: 'GET',
  level: 'object',
  subresource: 'retention',
  action: 's3:GetObjectRetention',
  accepts: ['versionId'],
  handle(request, services) {
    const retention = requireLockedObject(request, services).object.lock?.retention
    if (retention !== undefined) return xmlResponse(retentionDocument(retention))
    throw new S3Error('NoSuchObjectLockConfiguration', { details: [['Key', request.key]] })
  },
})
