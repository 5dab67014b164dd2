import { copyPart } from '../../objects/copy-part.ts'
import { namedSource, requireSource, sourceHeader } from '../handling/copy-sources.ts'
import { copyResult } from '../documents/xml-documents.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { defineOperation } from '../handling/operation.ts'
import { copyRange } from '../handling/copy-range.ts'
import { startChecksum } from '../request/checksums.ts'
import { effectiveHeader } from '../request/effective-headers.ts'
import { partNumberParameter } from '../request/part-number.ts'
import { requireUpload } from '../handling/uploads.ts'
import { hintSentence } from '../errors/client-hints.ts'

const RANGE = 'x-amz-copy-source-range'

/** S3 API reference, UploadPartCopy. */
export const uploadPartCopy = defineOperation({
  name: 'UploadPartCopy',
  extension: 'upload-part-copy',
  instead: hintSentence('copies of parts'),
  method: 'PUT',
  level: 'object',
  subresource: 'uploadId',
  action: 's3:PutObject',
  mark: { header: 'x-amz-copy-source' },
  bodyBytesMaximum: 0,
  accepts: ['partNumber'],
  headers: [RANGE],
  async handle(request, services) {
    const { http, target, journal, key, identity } = request
    const part = partNumberParameter(target.query)
    const { bucket, upload } = requireUpload(request, services)
    const named = namedSource(request, services)
    const range = effectiveHeader(http, target, RANGE)
    if (range !== undefined) journal.note('source_range', range)
    const find = () => {
      const source = requireSource(request, services, named)
      return { source, ...copyRange(range, source.object.size) }
    }
    const place = { bucket: bucket.name, key, upload: upload.upload, part }
    const account = identity?.principal ?? http.remoteAddress
    const algorithm = upload.checksum?.algorithm
    const wanted = algorithm && { algorithm, start: () => startChecksum(algorithm) }
    const { done, source, checksum } = await copyPart(services, { journal, http, account }, place, wanted, find)
    const document = copyResult('CopyPartResult', done.timeMicroseconds, done.etag ?? '', checksum)
    return xmlResponse(document, sourceHeader(source, services))
  },
})
