/** ACLs as they are on a bucket without any: the owner has full control. A request that asks for just that changes nothing. */
import type { HttpResponse } from '../../http/exchange.ts'
import { documentOf } from '../bodies/read-document.ts'
import { ownersAcl } from '../documents/access-control-policy.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { S3Error } from '../errors/s3-errors.ts'
import { requireBucket, requireObject } from '../handling/lookup.ts'
import { defineOperation } from '../handling/operation.ts'
import type { S3Request } from '../handling/s3-request.ts'
import type { S3Services } from '../handling/services.ts'
import { versionHeader } from '../handling/version-headers.ts'
import { effectiveAmzHeaders } from '../request/effective-headers.ts'

const OF_BUCKET = { extension: 'bucket-reads', level: 'bucket', subresource: 'acl' } as const
const OF_OBJECT = { extension: 'bucket-reads', level: 'object', subresource: 'acl', accepts: ['versionId'] } as const

/** S3 API reference, GetBucketAcl. */
export const getBucketAcl = defineOperation({
  name: 'GetBucketAcl',
  method: 'GET',
  ...OF_BUCKET,
  action: 's3:GetBucketAcl',
  coveredBy: 's3:ManageBucket',
  handle(request, services) {
    requireBucket(request, services)
    return xmlResponse(ownersAcl(services.owner))
  },
})

/** S3 API reference, GetObjectAcl. */
export const getObjectAcl = defineOperation({
  name: 'GetObjectAcl',
  method: 'GET',
  ...OF_OBJECT,
  action: 's3:GetObjectAcl',
  handle(request, services) {
    const { bucket, object } = requireObject(request, services)
    return xmlResponse(ownersAcl(services.owner), versionHeader(bucket, object, services))
  },
})

/** S3 API reference, PutBucketAcl. */
export const putBucketAcl = defineOperation({
  name: 'PutBucketAcl',
  method: 'PUT',
  ...OF_BUCKET,
  action: 's3:PutBucketAcl',
  changes: false,
  handle(request, services) {
    requireBucket(request, services)
    return keepAcl(request, services)
  },
})

/** S3 API reference, PutObjectAcl. */
export const putObjectAcl = defineOperation({
  name: 'PutObjectAcl',
  method: 'PUT',
  ...OF_OBJECT,
  action: 's3:PutObjectAcl',
  changes: false,
  handle(request, services) {
    requireObject(request, services)
    return keepAcl(request, services)
  },
})

/**
 * Accepts an ACL that gives the owner full control and no other account anything. Headers with another value were refused before.
 * @throws S3Error NotImplemented (another ACL), InvalidRequest (none), MalformedXML
 */
async function keepAcl(request: S3Request, { owner }: S3Services): Promise<HttpResponse> {
  const named = effectiveAmzHeaders(request.http, request.target).some(([name]) => ACL_HEADER.test(name))
  const asked = await documentOf(request, 'access control', [owner.id])
  if (asked === 'nothing' && !named) {
    throw new S3Error('InvalidRequest', { message: 'The ACL is missing: give it in x-amz-acl or as a document.' })
  }
  return { status: 200, headers: [] }
}

const ACL_HEADER = /^x-amz-(acl$|grant-)/
