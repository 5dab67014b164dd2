import { xmlResponse } from '../documents/xml-response.ts'
import { requireObject } from '../handling/lookup.ts'
import { defineOperation } from '../handling/operation.ts'
import { successDocument } from '../text/xml-writer.ts'
import { versionHeader } from '../handling/version-headers.ts'

/**
 * S3 API reference, GetObjectTagging: always the empty set. The AWS command line requests tags before each copy in
 * parts, and aborts the copy without an answer.
 */
export const getObjectTagging = defineOperation({
  name: 'GetObjectTagging',
  extension: 'upload-part-copy',
  method: 'GET',
  level: 'object',
  subresource: 'tagging',
  action: 's3:GetObjectTagging',
  accepts: ['versionId'],
  handle(request, services) {
    const { bucket, object } = requireObject(request, services)
    return xmlResponse(successDocument('Tagging', '<TagSet></TagSet>'), versionHeader(bucket, object, services))
  },
})
