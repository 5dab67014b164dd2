import { documentOf } from '../bodies/read-document.ts'
import { objectLockConfiguration } from '../documents/object-lock-configuration.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { S3Error } from '../errors/s3-errors.ts'
import { requireBucket } from '../handling/lookup.ts'
import { defineOperation } from '../handling/operation.ts'

const OBJECT_LOCK = { level: 'bucket', subresource: 'object-lock' } as const

/**
 * S3 API reference, PutObjectLockConfiguration: sets or removes the default retention. It cannot turn Object Lock on;
 * that is chosen when a bucket is created (specification, Bucket).
 */
export const putObjectLockConfiguration = defineOperation({
  name: 'PutObjectLockConfiguration',
  method: 'PUT',
  ...OBJECT_LOCK,
  action: 's3:ManageBucket',
  async handle(request, services) {
    const bucket = requireBucket(request, services).name
    const retention = await documentOf(request, 'lock configuration', [])
    await request.journal.execute({ kind: 'set-default-retention', bucket, retention })
    return { status: 200, headers: [] }
  },
})

/** S3 API reference, GetObjectLockConfiguration. */
export const getObjectLockConfiguration = defineOperation({
  name: 'GetObjectLockConfiguration',
  method: 'GET',
  ...OBJECT_LOCK,
  action: 's3:GetBucketObjectLockConfiguration',
  coveredBy: 's3:ManageBucket',
  handle(request, services) {
    const { name, lockEnabled, defaultRetention } = requireBucket(request, services)
    if (lockEnabled) return xmlResponse(objectLockConfiguration(defaultRetention))
    throw new S3Error('ObjectLockConfigurationNotFoundError', { details: [['BucketName', name]] })
  },
})
