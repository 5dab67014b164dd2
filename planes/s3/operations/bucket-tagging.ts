import { documentOf } from '../bodies/read-document.ts'
import { taggingDocument } from '../documents/tagging.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { S3Error } from '../errors/s3-errors.ts'
import { bucketIn, requireBucket } from '../handling/lookup.ts'
import { defineOperation } from '../handling/operation.ts'

const TAGS = {
  extension: 'tagging',
  level: 'bucket',
  subresource: 'tagging',
  coveredBy: 's3:ManageBucket',
} as const
/** S3 has one permission to set and to remove them. */
const PUT_TAGS = 's3:PutBucketTagging'

/** S3 API reference, GetBucketTagging. */
export const getBucketTagging = defineOperation({
  name: 'GetBucketTagging',
  ...TAGS,
  alsoIn: ['bucket-reads'],
  method: 'GET',
  action: 's3:GetBucketTagging',
  handle(request, services) {
    const snapshot = services.catalog.snapshot()
    const { id, name } = bucketIn(snapshot, request.bucket)
    const tags = snapshot.bucketTags(id)
    if (tags.length > 0) return xmlResponse(taggingDocument(tags))
    throw new S3Error('NoSuchTagSet', { details: [['BucketName', name]] })
  },
})

/** S3 API reference, PutBucketTagging: replaces all tags of the bucket. */
export const putBucketTagging = defineOperation({
  name: 'PutBucketTagging',
  ...TAGS,
  method: 'PUT',
  action: PUT_TAGS,
  async handle(request, services) {
    const bucket = requireBucket(request, services).name
    const tags = await documentOf(request, 'tagging', ['bucket'])
    await request.journal.execute({ kind: 'set-bucket-tags', bucket, tags })
    return { status: 204, headers: [] }
  },
})

/** S3 API reference, DeleteBucketTagging. The answer is the same where there are no tags. */
export const deleteBucketTagging = defineOperation({
  name: 'DeleteBucketTagging',
  ...TAGS,
  method: 'DELETE',
  action: PUT_TAGS,
  async handle(request, services) {
    const bucket = requireBucket(request, services).name
    await request.journal.execute({ kind: 'set-bucket-tags', bucket, tags: [] })
    return { status: 204, headers: [] }
  },
})
