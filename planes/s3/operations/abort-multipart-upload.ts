import { defineOperation } from '../handling/operation.ts'
import { requireUpload } from '../handling/uploads.ts'

/** S3 API reference, AbortMultipartUpload. */
export const abortMultipartUpload = defineOperation({
  name: 'AbortMultipartUpload',
  method: 'DELETE',
  level: 'object',
  subresource: 'uploadId',
  action: 's3:AbortMultipartUpload',
  async handle(request, services) {
    const { bucket, upload } = requireUpload(request, services)
    const key = request.key
    await request.journal.execute({ kind: 'abort-upload', bucket: bucket.name, key, upload: upload.upload })
    return { status: 204, headers: [] }
  },
})
