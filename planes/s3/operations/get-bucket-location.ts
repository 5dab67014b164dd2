import { requireBucket } from '../handling/lookup.ts'
import { locationConstraint } from '../documents/xml-documents.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { defineOperation } from '../handling/operation.ts'

/** S3 API reference, GetBucketLocation. */
export const getBucketLocation = defineOperation({
  name: 'GetBucketLocation',
  method: 'GET',
  level: 'bucket',
  subresource: 'location',
  action: 's3:GetBucketLocation',
  handle(request, services) {
    return xmlResponse(locationConstraint(requireBucket(request, services).region))
  },
})
