import { uploadIdOf } from '../../../engine/brands.ts'
import { LOCK_HEADERS, requestedLock } from '../request/lock-headers.ts'
import { requireBucket, requireLockable } from '../handling/lookup.ts'
import { passedOverChecksum, requestedChecksum, requestedChecksumHeaders } from '../request/upload-checksums.ts'
import { contentHeaders, userMetadata } from '../request/metadata.ts'
import { requestedTags, TAGGING } from '../request/tags.ts'
import { initiateMultipartUploadResult } from '../documents/multipart-documents.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { defineOperation } from '../handling/operation.ts'

/** S3 API reference, CreateMultipartUpload. Fixes the metadata of the object. */
export const createMultipartUpload = defineOperation({
  name: 'CreateMultipartUpload',
  method: 'POST',
  level: 'object',
  subresource: 'uploads',
  action: 's3:PutObject',
  bodyBytesMaximum: 0,
  headers: [...LOCK_HEADERS, TAGGING],
  async handle(request, services) {
    const { http, target } = request
    const found = requireBucket(request, services)
    const lock = requireLockable(found, requestedLock(http, target, services.clock()))
    const place = { bucket: found.name, key: request.key }
    const checksum = services.extensions.has('checksums')
      ? requestedChecksum(http, target)
      : passedOverChecksum(http, target)
    const tags = requestedTags(http, target)
    const done = await request.journal.execute({
      kind: 'create-upload',
      ...place,
      headers: contentHeaders(http).flat(),
      metadata: userMetadata(http, target).flat(),
      ...(lock === undefined ? {} : { lock }),
      ...(checksum === undefined ? {} : { checksum }),
      ...(tags === undefined ? {} : { tags }),
    })
    const uploadId = services.uploadIds.encode(uploadIdOf(done.sequence))
    const document = initiateMultipartUploadResult(place.bucket, place.key, uploadId)
    return xmlResponse(document, requestedChecksumHeaders(checksum))
  },
})
