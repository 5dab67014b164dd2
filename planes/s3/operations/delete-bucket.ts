import { defineOperation } from '../handling/operation.ts'

/** S3 API reference, DeleteBucket: only an empty bucket. */
export const deleteBucket = defineOperation({
  name: 'DeleteBucket',
  method: 'DELETE',
  level: 'bucket',
  action: 's3:DeleteBucket',
  async handle(request) {
    await request.journal.execute({ kind: 'delete-bucket', bucket: request.bucket })
    return { status: 204, headers: [] }
  },
})
