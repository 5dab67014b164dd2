import { DescriptorsExhaustedError, DiskFullError } from '../../../engine/disk/disk.ts'
import { DomainError, EngineUnavailableError, isRowDamage, OutcomeUnknownError } from '../../../engine/errors.ts'
import { PayloadDamagedError } from '../../../engine/payloads/payload-errors.ts'
import { BusyError } from '../../../engine/shares/shares.ts'
import {
  BodyTooLargeError,
  ClientGoneError,
  type HeaderLine,
  type HttpResponse,
  ServerStoppingError,
} from '../../http/exchange.ts'
import { IncompletePayloadError, StorageFullError } from '../../objects/receive-payload.ts'
import { cutText } from '../../exchange/cut-text.ts'
import { S3Error, s3ErrorOf } from '../errors/s3-errors.ts'
import { RequestIds } from '../request/request-ids.ts'
import { escapeXmlLossy, XML_DECLARATION } from '../text/xml-writer.ts'

const STOPPING = 'The server is stopping, and did not wait for the rest of the body. Nothing was changed. Try again.'

/** Any failure as an S3 error; `isFault` marks server faults, to be logged. */
export function toS3Error(error: unknown): { readonly error: S3Error; readonly isFault: boolean } {
  if (error instanceof S3Error) return { error, isFault: false }
  if (error instanceof DomainError) return { error: s3ErrorOf(error), isFault: isRowDamage(error) }
  if (error instanceof BusyError) return { error: new S3Error('SlowDown'), isFault: false }
  if (error instanceof ServerStoppingError)
    return { error: new S3Error('ServiceUnavailable', { message: STOPPING }), isFault: false }
  if (error instanceof ClientGoneError) return { error: new S3Error('IncompleteBody'), isFault: false }
  if (error instanceof BodyTooLargeError) return { error: new S3Error('MaxMessageLengthExceeded'), isFault: false }
  if (error instanceof IncompletePayloadError) return { error: new S3Error('IncompleteBody'), isFault: false }
  if (error instanceof StorageFullError) return { error: new S3Error('InsufficientStorage'), isFault: false }
  if (error instanceof DiskFullError) return { error: new S3Error('InsufficientStorage'), isFault: true }
  if (error instanceof DescriptorsExhaustedError) return { error: new S3Error('SlowDown'), isFault: true }
  if (error instanceof PayloadDamagedError)
    return { error: s3ErrorOf(new DomainError('object-damaged', error.object?.key)), isFault: true }
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

interface ErrorDocumentContext {
  /** The value of the x-amz-request-id header of the same response; clients compare them. */
  readonly requestId: string
  /** The path that was asked for. */
  readonly resource: string
}

/** Of one text as written in the document: a key of 1,024 plain bytes is not cut. */
const TEXT_BYTES_MAXIMUM = 1024
/** Of the path, so that an error without details, such as SlowDown, stays below 1 KiB with its head. */
const RESOURCE_BYTES_MAXIMUM = 512
/** Of message and details together, so that a document with its tags and head stays below 4 KiB for any request. */
const TEXTS_BYTES_MAXIMUM = 2560

/**
 * The XML of an error. Texts are cut to bound its size, and characters that XML cannot carry are replaced, so that it
 * always parses (decision 0177).
 */
export function errorDocument(error: S3Error, context: ErrorDocumentContext): string {
  let room = TEXTS_BYTES_MAXIMUM
  let inner = `<Code>${error.code}</Code>`
  const line = (name: string, text: string): void => {
    const written = cut(text, Math.min(room, TEXT_BYTES_MAXIMUM))
    room = Math.max(0, room - Buffer.byteLength(written))
    inner += `<${name}>${written}</${name}>`
  }
  line('Message', error.message)
  for (const [name, text] of error.details) line(name, text)
  inner += `<Resource>${cut(context.resource, RESOURCE_BYTES_MAXIMUM)}</Resource>`
  // S3 identifies a machine in HostId; here it is a constant.
  const requestId = escapeXmlLossy(context.requestId)
  return `${XML_DECLARATION}<Error>${inner}<RequestId>${requestId}</RequestId><HostId>object-store</HostId></Error>`
}

function cut(text: string, bytesMaximum: number): string {
  return escapeXmlLossy(cutText(text, bytesMaximum, escapeXmlLossy))
}
