import type { OrderedPosition } from '../../../projections/ordered-listing.ts'
import type { HttpResponse } from '../../http/exchange.ts'
import { invalidArgument } from '../errors.ts'
import { listMultipartUploadsParameters } from '../list-parameters.ts'
import { requireBucket } from '../lookup.ts'
import { markerPosition, NO_ENTRIES, orderedRequest } from '../../objects/marker-position.ts'
import { listMultipartUploadsResult } from '../multipart-documents.ts'
import type { S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'
import { xmlResponse } from '../xml-response.ts'

/** S3 API reference, ListMultipartUploads. */
export function listMultipartUploads(request: S3Request, services: S3Services): HttpResponse {
  const bucket = requireBucket(request, services)
  const { prefix, delimiter, keyMarker, uploadIdMarker, maxUploads, encodingType } = listMultipartUploadsParameters(
    request.target.query,
  )
  const order = uploadIdMarker === undefined ? undefined : markerOrder(uploadIdMarker, services)
  const wanted = orderedRequest(prefix, delimiter, markerPosition(keyMarker, order, prefix, delimiter), maxUploads)
  const page = wanted === undefined ? NO_ENTRIES : services.catalog.listUploads(bucket.id, wanted)
  const document = listMultipartUploadsResult({
    bucket: bucket.name,
    prefix,
    delimiter,
    keyMarker,
    uploadIdMarker,
    maxUploads,
    encodingType,
    uploads: page.entries.map(({ key, order: upload, createdMicroseconds }) => ({
      key,
      uploadId: services.uploadIds.encode(upload),
      initiatedMicroseconds: createdMicroseconds,
    })),
    commonPrefixes: page.prefixes,
    next: page.next && nextMarkers(page.next, services),
    owner: services.owner,
  })
  return xmlResponse(200, document)
}

/**
 * Place of the marker's upload among those of its key; it need not be there any more.
 * @throws S3Error InvalidArgument for an id that was never given out
 */
function markerOrder(uploadIdMarker: string, { uploadIds }: S3Services): number {
  const order = uploadIds.decode(uploadIdMarker)
  if (order === undefined) throw invalidArgument('upload-id-marker', uploadIdMarker, 'Invalid uploadId marker')
  return order
}

function nextMarkers(
  next: OrderedPosition,
  { uploadIds }: S3Services,
): { readonly keyMarker: string; readonly uploadIdMarker: string | undefined } {
  const uploadIdMarker = next.kind === 'after-entry' ? uploadIds.encode(next.order) : undefined
  return { keyMarker: next.bytes.toString(), uploadIdMarker }
}
