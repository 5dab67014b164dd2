import { listPartsParameters } from '../request/list-parameters.ts'
import { listPartsResult } from '../documents/multipart-documents.ts'
import { requireUpload } from '../handling/uploads.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { defineOperation } from '../handling/operation.ts'

/** S3 API reference, ListParts. */
export const listParts = defineOperation({
  name: 'ListParts',
  method: 'GET',
  level: 'object',
  subresource: 'uploadId',
  action: 's3:ListMultipartUploadParts',
  handle(request, services) {
    const { query } = request.target
    const { maxParts, partNumberMarker } = listPartsParameters(query)
    const { snapshot, bucket, upload } = requireUpload(request, services)
    // One more than the page size, to know whether another page follows.
    const found = snapshot.parts(upload.upload, partNumberMarker, maxParts + 1)
    const parts = found.slice(0, maxParts).map((part) => ({
      number: part.part,
      lastModifiedMicroseconds: part.modifiedMicroseconds,
      etag: Buffer.from(part.md5).toString('hex'),
      size: part.size,
      checksum: part.checksum,
    }))
    const last = parts.at(-1)
    const document = listPartsResult({
      bucket: bucket.name,
      key: request.key,
      uploadId: query.first('uploadId') ?? '',
      owner: services.owner,
      checksum: upload.checksum,
      partNumberMarker,
      maxParts,
      parts,
      nextPartNumberMarker: found.length > maxParts ? last?.number : undefined,
    })
    return xmlResponse(document)
  },
})
