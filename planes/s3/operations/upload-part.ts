import type { HeaderLine } from '../../http/exchange.ts'
import type { ReceivedPayload } from '../../objects/receive-payload.ts'
import { storeObject } from '../../objects/store-object.ts'
import { CHUNK_HEADERS } from '../bodies/chunk-modes.ts'
import { uploadBody } from '../bodies/upload-body.ts'
import { checksumOf } from '../request/checksums.ts'
import { requirePartChecksum } from '../request/upload-checksums.ts'
import { partNumberParameter } from '../request/part-number.ts'
import { requireUpload } from '../handling/uploads.ts'
import { defineOperation, PUT_BYTES_MAXIMUM } from '../handling/operation.ts'

/** S3 API reference, UploadPart. */
export const uploadPart = defineOperation({
  name: 'UploadPart',
  method: 'PUT',
  level: 'object',
  subresource: 'uploadId',
  action: 's3:PutObject',
  bodyBytesMaximum: PUT_BYTES_MAXIMUM,
  accepts: ['partNumber'],
  headers: CHUNK_HEADERS,
  async handle(request, services) {
    const part = partNumberParameter(request.target.query)
    const { bucket, upload } = requireUpload(request, services)
    const { checks, ...incoming } = uploadBody(request, services)
    requirePartChecksum(upload.checksum, checks.algorithm)
    const place = { bucket: bucket.name, key: request.key, upload: upload.upload, part }
    const body = { journal: request.journal, checks, ...incoming }
    const command = (stored: ReceivedPayload) => {
      const { declared } = checks
      const checksum = upload.checksum && declared && checksumOf(declared)
      const plain = { kind: 'write-part', ...place, ...stored } as const
      return checksum === undefined ? plain : { ...plain, checksum }
    }
    const { received } = await storeObject(services, body, command, ['part', part])
    const headers: HeaderLine[] = [['etag', `"${received.etag}"`]]
    if (checks.declared !== undefined) headers.push([checks.declared.header, checks.declared.text])
    return { status: 200, headers }
  },
})
