import { DescriptorsExhaustedError, DiskFullError } from '../../../engine/disk/disk.ts'
import { DomainError, EngineUnavailableError, OutcomeUnknownError } from '../../../engine/errors.ts'
import { BusyError } from '../../../engine/shares/shares.ts'
import {
  BodyTooLargeError,
  ClientGoneError,
  type HeaderLine,
  type HttpResponse,
  ServerStoppingError,
} from '../../http/exchange.ts'
import { IncompletePayloadError, StorageFullError } from '../../objects/receive-payload.ts'
import { errorDocument, S3Error, s3ErrorOf } from '../errors.ts'
import { RequestIds } from '../request/request-ids.ts'

const STOPPING = 'The server is stopping, and did not wait for the rest of the body. Nothing was changed. Try again.'

/** Any failure as an S3 error; `isFault` marks server faults, to be logged. */
export function toS3Error(error: unknown): { readonly error: S3Error; readonly isFault: boolean } {
  if (error instanceof S3Error) return { error, isFault: false }
  if (error instanceof DomainError) return { error: s3ErrorOf(error), isFault: false }
  if (error instanceof BusyError) return { error: new S3Error('SlowDown'), isFault: false }
  if (error instanceof ServerStoppingError)
    return { error: new S3Error('ServiceUnavailable', { message: STOPPING }), isFault: false }
  if (error instanceof ClientGoneError) return { error: new S3Error('IncompleteBody'), isFault: false }
  if (error instanceof BodyTooLargeError) return { error: new S3Error('MaxMessageLengthExceeded'), isFault: false }
  if (error instanceof IncompletePayloadError) return { error: new S3Error('IncompleteBody'), isFault: false }
  if (error instanceof StorageFullError) return { error: new S3Error('InsufficientStorage'), isFault: false }
  if (error instanceof DiskFullError) return { error: new S3Error('InsufficientStorage'), isFault: true }
  if (error instanceof DescriptorsExhaustedError) return { error: new S3Error('SlowDown'), isFault: true }
  if (error instanceof OutcomeUnknownError) return { error: new S3Error('OutcomeUnknown'), isFault: true }
  if (error instanceof EngineUnavailableError) return { error: new S3Error('ServiceUnavailable'), isFault: true }
  return { error: new S3Error('InternalError'), isFault: true }
}

/** The answer to a refused request; without a body for HEAD. */
export function errorResponse(error: S3Error, method: string, path: string, requestId: string): HttpResponse {
  if (method === 'HEAD') return { status: error.status, headers: error.headers, contentLength: 0 }
  const body = errorDocument(error, { requestId, resource: path })
  return { status: error.status, headers: [['content-type', 'application/xml'], ...error.headers], body }
}

const malformedRequestIds = new RequestIds()

/**
 * The answer to an invalid HTTP request, or with 500 when the handler fails. Such a request reaches no operation and is
 * not recorded.
 */
export function malformedRequestResponse(status: number, reason: string): HttpResponse {
  const requestId = malformedRequestIds.next()
  const error = status === 500 ? new S3Error('InternalError') : new S3Error('BadRequest', { message: reason })
  const body = errorDocument(error, { requestId, resource: '' })
  return { status, headers: [['content-type', 'application/xml'], ...commonHeaders(requestId)], body, close: true }
}

/**
 * Headers of every answer. A browser must not guess another type for an object, or show an error that names a key as a
 * page (S20).
 */
export function commonHeaders(requestId: string): HeaderLine[] {
  return [
    ['x-content-type-options', 'nosniff'],
    ['x-amz-request-id', requestId],
  ]
}
