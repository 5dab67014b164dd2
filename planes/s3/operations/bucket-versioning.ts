import { documentOf } from '../bodies/read-document.ts'
import { versioningConfiguration } from '../documents/versioning-configuration.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { requireBucket } from '../handling/lookup.ts'
import { defineOperation } from '../handling/operation.ts'

const VERSIONING = { level: 'bucket', subresource: 'versioning' } as const

/** S3 API reference, PutBucketVersioning. */
export const putBucketVersioning = defineOperation({
  name: 'PutBucketVersioning',
  method: 'PUT',
  ...VERSIONING,
  action: 's3:ManageBucket',
  async handle(request, services) {
    const bucket = requireBucket(request, services).name
    const versioning = await documentOf(request, 'versioning', [])
    await request.journal.execute({ kind: 'set-versioning', bucket, versioning })
    return { status: 200, headers: [] }
  },
})

/** S3 API reference, GetBucketVersioning. */
export const getBucketVersioning = defineOperation({
  name: 'GetBucketVersioning',
  method: 'GET',
  ...VERSIONING,
  action: 's3:GetBucketVersioning',
  coveredBy: 's3:ManageBucket',
  handle: (request, services) => xmlResponse(versioningConfiguration(requireBucket(request, services).versioning)),
})
