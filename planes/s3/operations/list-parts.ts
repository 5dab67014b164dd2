import type { HttpResponse } from '../../http/exchange.ts'
import { listPartsParameters } from '../list-parameters.ts'
import { listPartsResult } from '../multipart-documents.ts'
import { objectKey, type S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'
import { requireUpload } from '../uploads.ts'
import { xmlResponse } from '../xml-response.ts'

/** S3 API reference, ListParts. */
export function listParts(request: S3Request, services: S3Services): HttpResponse {
  const { query } = request.target
  const { maxParts, partNumberMarker } = listPartsParameters(query)
  const { bucket, upload } = requireUpload(request, services)
  // One more than the page holds tells whether another page follows.
  const found = services.catalog.parts(upload.upload, partNumberMarker, maxParts + 1)
  const parts = found.slice(0, maxParts).map((part) => ({
    number: part.part,
    lastModifiedMicroseconds: part.modifiedMicroseconds,
    etag: Buffer.from(part.md5).toString('hex'),
    size: part.size,
  }))
  const last = parts.at(-1)
  const document = listPartsResult({
    bucket: bucket.name,
    key: objectKey(request),
    uploadId: query.first('uploadId') ?? '',
    owner: services.owner,
    partNumberMarker,
    maxParts,
    parts,
    nextPartNumberMarker: found.length > maxParts ? last?.number : undefined,
  })
  return xmlResponse(200, document)
}
