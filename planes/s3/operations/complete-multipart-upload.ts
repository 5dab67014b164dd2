import { hash } from 'node:crypto'
import { payloadIdOf, type UploadId } from '../../../engine/brands.ts'
import { PART_BYTES_MINIMUM } from '../../../engine/domain/upload.ts'
import { DomainError } from '../../../engine/errors.ts'
import type { HeaderLine, HttpResponse } from '../../http/exchange.ts'
import { declaredChecksum } from '../request/checksums.ts'
import type { CompleteMultipartUpload } from '../documents/completion-list.ts'
import { documentOf } from '../bodies/read-document.ts'
import { wholeChecksum } from '../request/upload-checksums.ts'
import { writeCondition } from '../request/conditions.ts'
import { invalidArgument, S3Error } from '../errors/s3-errors.ts'
import { bucketIn } from '../handling/lookup.ts'
import { writtenVersionHeader } from '../handling/version-headers.ts'
import { completeMultipartUploadResult } from '../documents/multipart-documents.ts'
import type { S3Services } from '../handling/services.ts'
import { noSuchUpload, uploadNumber } from '../handling/uploads.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import type { ObjectRequest } from '../handling/s3-request.ts'
import { defineOperation } from '../handling/operation.ts'

/** S3 API reference, CompleteMultipartUpload. */
export const completeMultipartUpload = defineOperation({
  name: 'CompleteMultipartUpload',
  method: 'POST',
  level: 'object',
  subresource: 'uploadId',
  action: 's3:PutObject',
  bodyBytesMaximum: 4 * 1024 ** 2,
  async handle(request, services) {
    const snapshot = services.catalog.snapshot()
    const bucket = bucketIn(snapshot, request.bucket)
    const key = request.key
    const upload = uploadNumber(request, services)
    if (upload === undefined) throw noSuchUpload(request)
    const open = snapshot.upload(bucket.id, key, upload)
    // A completed upload may be completed again with the same list, which the engine compares.
    if (open === undefined && snapshot.payload(payloadIdOf(upload))?.kind !== 'parts') throw noSuchUpload(request)
    const knowsChecksums = services.extensions.has('checksums')
    if (!knowsChecksums) refuseObjectChecksum(request)
    const asked = knowsChecksums ? open?.checksum : undefined
    const { parts, md5s, checksums } = await documentOf(request, 'completion', [asked], 'of something else')
    const list = { parts, md5s, ...(checksums !== undefined && { checksums }) }
    // A repeat is recognized by its list alone: the checksum of the object was compared the first time.
    const checksum = open === undefined ? undefined : wholeChecksum(request.http, asked, parts.length)
    requireStatedSize(request, services, upload, list)
    // S3 user guide, Checking object integrity: MD5 of the parts' MD5s, then the number of parts.
    const etag = `${hash('md5', list.md5s, 'hex')}-${list.parts.length}`
    const condition = writeCondition(request.http)
    try {
      const plain = { kind: 'complete-upload', bucket: bucket.name, key, upload, ...list, etag, condition } as const
      const done = await request.journal.execute(checksum === undefined ? plain : { ...plain, checksum })
      const made = knowsChecksums
        ? services.catalog.snapshot().version(bucket.id, key, done.version ?? 'null')
        : undefined
      const headers = writtenVersionHeader(done.version, services)
      return answer(request, { bucket: bucket.name, key, etag, checksum: made?.checksum }, headers)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      if (error.code === 'part-too-small') throw explainTooSmall(error, services, upload)
      throw error.code === 'upload-not-found' ? noSuchUpload(request) : error
    }
  },
})

/**
 * Refuses a checksum header, which covers the object here and not the list in the body. The store cannot compute it
 * without reading all parts again, and must not let it pass as verified.
 * @throws S3Error NotImplemented
 */
function refuseObjectChecksum({ http }: ObjectRequest): void {
  const declared = declaredChecksum(http)
  if (declared === undefined) return
  const message = 'The checksum of a whole multipart object is not supported; those of its parts are verified.'
  throw new S3Error('NotImplemented', { message, details: [['Header', declared.header]] })
}

const STATED_SIZE = 'x-amz-mp-object-size'

/**
 * Compares the size that a client states with the sum of the listed parts. A list with an unknown part is left to the
 * engine, which refuses it.
 * @throws S3Error InvalidRequest; InvalidArgument for an invalid size
 */
function requireStatedSize(
  { http }: ObjectRequest,
  services: S3Services,
  upload: UploadId,
  list: Pick<CompleteMultipartUpload, 'parts'>,
) {
  const stated = http.header(STATED_SIZE)
  if (stated === undefined) return
  if (!/^\d+$/.test(stated)) throw invalidArgument(STATED_SIZE, stated, `${STATED_SIZE} must be a number of bytes.`)
  const snapshot = services.catalog.snapshot()
  let size = 0
  for (const number of list.parts) {
    const part = snapshot.part(upload, number)
    if (part === undefined) return
    size += part.size
  }
  if (size !== Number(stated)) {
    throw new S3Error('InvalidRequest', { message: `The parts have ${size} bytes, and ${STATED_SIZE} says ${stated}.` })
  }
}

function answer(
  { http, target }: ObjectRequest,
  made: Omit<Parameters<typeof completeMultipartUploadResult>[0], 'location'>,
  headers: readonly HeaderLine[],
): HttpResponse {
  const location = `${http.secure ? 'https' : 'http'}://${http.header('host') ?? ''}${target.canonicalPath}`
  return xmlResponse(completeMultipartUploadResult({ location, ...made }), headers)
}

/** EntityTooSmall with the details that S3 adds to it. */
function explainTooSmall(error: DomainError, services: S3Services, upload: UploadId): Error {
  const number = error.subject ?? ''
  const part = services.catalog.snapshot().part(upload, Number(number))
  if (part === undefined) return error
  const details = [
    ['ProposedSize', String(part.size)],
    ['MinSizeAllowed', String(PART_BYTES_MINIMUM)],
    ['PartNumber', number],
    ['ETag', Buffer.from(part.md5).toString('hex')],
  ] as const
  return new S3Error('EntityTooSmall', { details })
}
