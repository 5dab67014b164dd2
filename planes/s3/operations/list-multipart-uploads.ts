import { uploadIdOf } from '../../../engine/brands.ts'
import { invalidArgument } from '../errors/s3-errors.ts'
import { listMultipartUploadsParameters } from '../request/list-parameters.ts'
import { bucketIn } from '../handling/lookup.ts'
import { orderedPositionAfter, uploadPage } from '../../objects/list-pages.ts'
import { nextMarkers } from '../documents/listing-elements.ts'
import { listMultipartUploadsResult } from '../documents/multipart-documents.ts'
import type { S3Services } from '../handling/services.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { defineOperation } from '../handling/operation.ts'

/** S3 API reference, ListMultipartUploads. */
export const listMultipartUploads = defineOperation({
  name: 'ListMultipartUploads',
  method: 'GET',
  level: 'bucket',
  subresource: 'uploads',
  action: 's3:ListBucketMultipartUploads',
  handle(request, services) {
    const snapshot = services.catalog.snapshot()
    const bucket = bucketIn(snapshot, request.bucket)
    const parameters = listMultipartUploadsParameters(request.target.query)
    const { prefix, delimiter, keyMarker, uploadIdMarker, maxUploads } = parameters
    const order = uploadIdMarker === undefined ? undefined : markerOrder(uploadIdMarker, services)
    const after = orderedPositionAfter(keyMarker, order, prefix, delimiter)
    const page = uploadPage(snapshot, bucket.id, { prefix, delimiter, after, entriesMaximum: maxUploads })
    const document = listMultipartUploadsResult({
      ...parameters,
      bucket: bucket.name,
      uploads: page.entries.map(({ key, order: upload, createdMicroseconds, checksum }) => ({
        key,
        uploadId: services.uploadIds.encode(upload),
        initiatedMicroseconds: createdMicroseconds,
        checksum,
      })),
      commonPrefixes: page.prefixes,
      next: nextMarkers(page.next, (last) => services.uploadIds.encode(uploadIdOf(last))),
      owner: services.owner,
    })
    return xmlResponse(document)
  },
})

/**
 * Order of the marker's upload among the uploads of its key. The upload need not exist any more.
 * @throws S3Error InvalidArgument for an id that was never given out
 */
function markerOrder(uploadIdMarker: string, { uploadIds }: S3Services): number {
  const order = uploadIds.decode(uploadIdMarker)
  if (order === undefined) throw invalidArgument('upload-id-marker', uploadIdMarker, 'Invalid uploadId marker')
  return order
}
