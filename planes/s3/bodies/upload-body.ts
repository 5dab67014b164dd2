import type { RequestBody } from '../../http/exchange.ts'
import { isPrivateAddress } from '../../../engine/private-addresses.ts'
import { S3Error } from '../errors/s3-errors.ts'
import type { StreamedPayload } from '../signing/identity.ts'
import { BodyChecks, limitLength, requireLength } from './body-checks.ts'
import { parseChecksum, type TrailingChecksum, trailingChecksum } from '../request/checksums.ts'
import { effectiveHeader } from '../request/effective-headers.ts'
import type { S3Request } from '../handling/s3-request.ts'
import type { S3Services } from '../handling/services.ts'
import { CHUNK_MODES, type ChunkMode, DECODED_LENGTH, TRAILER } from './chunk-modes.ts'
import { ChunkReader } from './chunk-reader.ts'
import { ChunkedBody } from './chunked-body.ts'

/** The payload of an upload, independent of its framing. */
interface UploadBody {
  readonly body: RequestBody
  readonly length: number
  readonly checks: BodyChecks
}

/**
 * The payload of a request that writes an object or a part.
 * @throws S3Error for invalid declarations in the head of the request
 */
export function uploadBody(request: S3Request, services: S3Services): UploadBody {
  const { http, payload } = request
  if (payload.kind === 'streaming') return chunkedUpload(request, payload, services)
  return { body: http.body, length: requireLength(request), checks: new BodyChecks(http, payload) }
}

function chunkedUpload(request: S3Request, payload: StreamedPayload, services: S3Services): UploadBody {
  const { http } = request
  const mode = CHUNK_MODES.get(payload.mode)
  // Refused before the operation starts; checked again, since nothing else would verify the bytes.
  if (mode === undefined || payload.signatures === undefined) throw new S3Error('NotImplemented')
  if (!mode.isSigned) requireSafeWay(request, services)
  const length = decodedLength(request)
  const trailing = declaredTrailer(request, mode)
  const reader = new ChunkReader({
    decodedLength: length,
    signatures: mode.isSigned ? payload.signatures : undefined,
    trailer: trailing?.header,
  })
  // The claim in the head is about the chunks, which the reader verifies.
  const checks = new BodyChecks(http, { kind: 'unsigned' }, trailing)
  const body = new ChunkedBody(http.body, reader, length, (text) => {
    if (trailing !== undefined) trailing.declared = parseChecksum(trailing.header, text ?? '')
  })
  return { body, length, checks }
}

/** Refuses unsigned chunks over plain HTTP, where nothing proves that they come from the sender of the signed head. */
function requireSafeWay({ http }: S3Request, { unsignedChunksOverHttp }: S3Services): void {
  if (http.secure || unsignedChunksOverHttp === 'true') return
  if (unsignedChunksOverHttp === 'private' && isPrivateAddress(http.remoteAddress)) return
  const message =
    `Unsigned chunks are accepted over TLS${unsignedChunksOverHttp === 'private' ? ' or from a private address' : ' only'}. ` +
    'Set s3.unsigned_chunks_over_http at the server, which is private with s3.profile=compatible; or have the client use TLS ' +
    'or sign its chunks.'
  throw new S3Error('InvalidRequest', { message })
}

/** At most 15 digits: always exact as a number. */
const LENGTH = /^\d{1,15}$/

function decodedLength(request: S3Request): number {
  const { http, target } = request
  const text = effectiveHeader(http, target, DECODED_LENGTH)
  if (text === undefined || !LENGTH.test(text)) {
    const message = `A body in chunks needs ${DECODED_LENGTH}, the number of its bytes without their framing.`
    throw new S3Error('MissingContentLength', { message })
  }
  const length = limitLength(Number(text), request)
  if (http.contentLength !== undefined && http.contentLength <= length) {
    throw new S3Error('IncompleteBody', { message: `Content-Length leaves no room for the chunks of ${length} bytes.` })
  }
  return length
}

/** @throws S3Error MalformedTrailerError, InvalidRequest */
function declaredTrailer({ http, target }: S3Request, mode: ChunkMode): TrailingChecksum | undefined {
  const names = effectiveHeader(http, target, TRAILER)
  if (!mode.hasTrailer) {
    if (names === undefined) return undefined
    throw new S3Error('InvalidRequest', {
      message: 'x-amz-trailer is sent, and x-amz-content-sha256 names no trailer.',
    })
  }
  if (names === undefined || names === '') {
    const message = 'x-amz-content-sha256 names a trailer, and x-amz-trailer does not say which.'
    throw new S3Error('MalformedTrailerError', { message })
  }
  return trailingChecksum(http, names.toLowerCase())
}
