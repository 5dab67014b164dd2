import { AwsPolicyError } from '../../../engine/aws-policies/aws-elements.ts'
import { BUCKET_POLICY_BYTES_MAXIMUM } from '../../../engine/events/names.ts'
import { readDocument } from '../bodies/body-checks.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { S3Error } from '../errors/s3-errors.ts'
import { requireBucket } from '../handling/lookup.ts'
import { defineOperation } from '../handling/operation.ts'
import { element, successDocument } from '../text/xml-writer.ts'

const POLICY = { extension: 'bucket-policy', level: 'bucket', subresource: 'policy' } as const
const OF_ACCOUNTS = 'Policies are also of accounts: object-store policy create, policy attach.'

/**
 * S3 API reference, PutBucketPolicy. Not covered by managing the bucket: it says who may do what. A policy that opens more
 * to everyone than the operator has opened is refused.
 */
export const putBucketPolicy = defineOperation({
  name: 'PutBucketPolicy',
  method: 'PUT',
  ...POLICY,
  action: 's3:PutBucketPolicy',
  bodyBytesMaximum: BUCKET_POLICY_BYTES_MAXIMUM,
  instead: OF_ACCOUNTS,
  async handle(request, services) {
    const bucket = requireBucket(request, services).name
    const body = await readDocument(request, 'of the body')
    const { document, accounts, statements } = readSent(() => services.bucketPolicies.read(bucket, body))
    const place = services.bucketPolicies.notPublic(statements)
    if (place !== undefined) {
      const message =
        `Access Denied: ${place} allows everyone what this server does not open. Everyone may be allowed s3:GetObject ` +
        'alone, on keys that the setting s3.public_read_prefixes of the server covers.'
      throw new S3Error('AccessDenied', { message })
    }
    await request.journal.execute({ kind: 'set-bucket-policy', bucket, document, accounts })
    return { status: 204, headers: [] }
  },
})

/** S3 API reference, GetBucketPolicy: the document as it was put. */
export const getBucketPolicy = defineOperation({
  name: 'GetBucketPolicy',
  method: 'GET',
  ...POLICY,
  alsoIn: ['bucket-reads'],
  action: 's3:GetBucketPolicy',
  coveredBy: 's3:ManageBucket',
  handle(request, services) {
    const { name } = requireBucket(request, services)
    const document = services.bucketPolicies.document(name)
    if (document === undefined) throw new S3Error('NoSuchBucketPolicy', { details: [['BucketName', name]] })
    return { status: 200, headers: [['content-type', 'application/json']], body: document }
  },
})

/** S3 API reference, GetBucketPolicyStatus: whether strangers may read anything of the bucket. */
export const getBucketPolicyStatus = defineOperation({
  name: 'GetBucketPolicyStatus',
  method: 'GET',
  ...POLICY,
  subresource: 'policyStatus',
  alsoIn: ['bucket-reads'],
  action: 's3:GetBucketPolicyStatus',
  coveredBy: 's3:ManageBucket',
  handle(request, services) {
    const { name } = requireBucket(request, services)
    const { bucketPolicies } = services
    if (bucketPolicies.document(name) === undefined)
      throw new S3Error('NoSuchBucketPolicy', { details: [['BucketName', name]] })
    const isPublic = element('IsPublic', String(bucketPolicies.isAnyPublic(name)))
    return xmlResponse(successDocument('PolicyStatus', isPublic))
  },
})

/** S3 API reference, DeleteBucketPolicy. The answer is the same where the bucket has no policy. */
export const deleteBucketPolicy = defineOperation({
  name: 'DeleteBucketPolicy',
  method: 'DELETE',
  ...POLICY,
  action: 's3:DeleteBucketPolicy',
  instead: OF_ACCOUNTS,
  async handle(request, services) {
    const bucket = requireBucket(request, services).name
    await request.journal.execute({ kind: 'set-bucket-policy', bucket, document: undefined, accounts: [] })
    return { status: 204, headers: [] }
  },
})

/** @throws S3Error MalformedPolicy */
function readSent<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof AwsPolicyError) throw new S3Error('MalformedPolicy', { message: error.message })
    throw error
  }
}
