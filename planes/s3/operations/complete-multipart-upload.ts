import { PART_BYTES_MINIMUM } from '../../../engine/domain/upload.ts'
import type { BucketState } from '../../../engine/state-ports.ts'
import type { HeaderLine, HttpResponse } from '../../http/exchange.ts'
import { readRequestDocument } from '../body-checks.ts'
import { declaredChecksum } from '../checksums.ts'
import { type CompleteMultipartUpload, parseCompleteMultipartUpload } from '../complete-multipart-upload.ts'
import { writeCondition } from '../conditions.ts'
import { invalidArgument, S3Error } from '../errors.ts'
import { execute } from '../execute.ts'
import { requireBucket, writtenVersionHeader } from '../lookup.ts'
import { completeMultipartUploadResult } from '../multipart-documents.ts'
import { multipartEtag } from '../multipart-etag.ts'
import { objectKey, type S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'
import { noSuchUpload, uploadNumber } from '../uploads.ts'
import { xmlResponse } from '../xml-response.ts'

/** S3 API reference, CompleteMultipartUpload. */
export async function completeMultipartUpload(request: S3Request, services: S3Services): Promise<HttpResponse> {
  const { catalog } = services
  const bucket = requireBucket(request, services)
  const key = objectKey(request)
  const upload = uploadNumber(request, services)
  const isOpen = upload >= 0 && catalog.upload(bucket.id, key, upload) !== undefined
  // One that was completed may be completed again; the engine knows with what list.
  if (!isOpen && (upload < 0 || catalog.payload(upload)?.kind !== 'parts')) throw noSuchUpload(request)
  refuseObjectChecksum(request)
  const body = await readRequestDocument(request)
  const list = parseCompleteMultipartUpload(body, request.operation.bodyBytesMaximum)
  requireStatedSize(request, services, upload, list)
  const etag = multipartEtag(list.md5s)
  const condition = writeCondition(request.http)
  try {
    const command = { kind: 'complete-upload', bucket: bucket.name, key, upload, ...list, etag, condition } as const
    const done = await execute(request, services, command)
    return answer(request, bucket, etag, writtenVersionHeader(done.version, services))
  } catch (error) {
    if (!(error instanceof S3Error)) throw error
    if (error.code === 'EntityTooSmall') throw explainTooSmall(error, services, upload)
    throw error.code === 'NoSuchUpload' ? noSuchUpload(request) : error
  }
}

/**
 * A checksum header is here the one of the object, and not of the list in the body. The store knows no such sum without
 * reading all parts again, so it must not pass for checked.
 * @throws S3Error NotImplemented
 */
function refuseObjectChecksum({ http }: S3Request): void {
  const declared = declaredChecksum(http)
  if (declared === undefined) return
  const message = 'The checksum of a whole multipart object is not supported; those of its parts are verified.'
  throw new S3Error('NotImplemented', { message, details: [['Header', declared.header]] })
}

const STATED_SIZE = 'x-amz-mp-object-size'

/**
 * Holds the size that a client states against that of the listed parts. A list that is wrong is for the engine to
 * refuse; one that it accepts has the parts, and so the sizes, that are looked at here.
 * @throws S3Error InvalidRequest, InvalidArgument for what is no size
 */
function requireStatedSize({ http }: S3Request, services: S3Services, upload: number, list: CompleteMultipartUpload) {
  const stated = http.header(STATED_SIZE)
  if (stated === undefined) return
  if (!/^\d+$/.test(stated)) throw invalidArgument(STATED_SIZE, stated, `${STATED_SIZE} must be a number of bytes.`)
  let size = 0
  for (const number of list.parts) {
    const part = services.catalog.part(upload, number)
    if (part === undefined) return
    size += part.size
  }
  if (size !== Number(stated)) {
    throw new S3Error('InvalidRequest', { message: `The parts have ${size} bytes, and ${STATED_SIZE} says ${stated}.` })
  }
}

function answer(request: S3Request, bucket: BucketState, etag: string, headers: readonly HeaderLine[]): HttpResponse {
  const { http, target } = request
  const location = `${http.secure ? 'https' : 'http'}://${http.header('host') ?? ''}${target.canonicalPath}`
  const document = completeMultipartUploadResult({ location, bucket: bucket.name, key: objectKey(request), etag })
  return xmlResponse(200, document, headers)
}

/** What S3 says beside EntityTooSmall. */
function explainTooSmall(error: S3Error, services: S3Services, upload: number): S3Error {
  const number = error.details.find(([name]) => name === 'PartNumber')?.[1] ?? ''
  const part = services.catalog.part(upload, Number(number))
  if (part === undefined) return error
  const details = [
    ['ProposedSize', String(part.size)],
    ['MinSizeAllowed', String(PART_BYTES_MINIMUM)],
    ['PartNumber', number],
    ['ETag', Buffer.from(part.md5).toString('hex')],
  ] as const
  return new S3Error('EntityTooSmall', { details })
}
