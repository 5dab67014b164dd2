import { documentOf } from '../bodies/read-document.ts'
import { legalHoldDocument } from '../documents/legal-hold.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { S3Error } from '../errors/s3-errors.ts'
import { requestedVersion, requireLockedObject } from '../handling/lookup.ts'
import { defineOperation } from '../handling/operation.ts'

/** S3 API reference, PutObjectLegalHold. */
export const putObjectLegalHold = defineOperation({
  name: 'PutObjectLegalHold',
  method: 'PUT',
  level: 'object',
  subresource: 'legal-hold',
  action: 's3:PutObjectLegalHold',
  accepts: ['versionId'],
  async handle(request, services) {
    const { bucket, key } = requireLockedObject(request, services)
    const hold = await documentOf(request, 'legal hold', [])
    const version = requestedVersion(request, services)
    await request.journal.execute({ kind: 'set-legal-hold', bucket: bucket.name, key, version, hold })
    return { status: 200, headers: [] }
  },
})

/** S3 API reference, GetObjectLegalHold. */
export const getObjectLegalHold = defineOperation({
  name: 'GetObjectLegalHold',
  method: 'GET',
  level: 'object',
  subresource: 'legal-hold',
  action: 's3:GetObjectLegalHold',
  accepts: ['versionId'],
  handle(request, services) {
    const hold = requireLockedObject(request, services).object.lock?.hold
    if (hold !== undefined) return xmlResponse(legalHoldDocument(hold))
    throw new S3Error('NoSuchObjectLockConfiguration', { details: [['Key', request.key]] })
  },
})
