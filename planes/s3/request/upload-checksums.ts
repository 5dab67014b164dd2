/** Checksum headers of multipart uploads (S3 user guide, Checking object integrity). */

import { isUploadChecksum } from '../../../engine/domain/upload-checksums.ts'
import type { ObjectChecksum, UploadChecksum } from '../../../engine/events/values.ts'
import type { HeaderLine, HttpRequest } from '../../http/exchange.ts'
import { S3Error } from '../errors/s3-errors.ts'
import {
  algorithmName,
  CHECKSUM_ALGORITHM,
  namedAlgorithm,
  parseChecksum,
  rawChecksumHeader,
  typeName,
} from './checksums.ts'
import { effectiveHeader } from './effective-headers.ts'
import type { Target } from './target.ts'

const TYPE = 'x-amz-checksum-type'

function invalid(message: string): S3Error {
  return new S3Error('InvalidRequest', { message })
}

/**
 * The checksum that a request asks for on a multipart object. Without a type, S3's default type of the algorithm.
 * @throws S3Error InvalidRequest (a type without an algorithm, an unknown one, or a type the algorithm does not have),
 *   NotImplemented (an algorithm that this server cannot compute)
 */
export function requestedChecksum(request: HttpRequest, target: Target): UploadChecksum | undefined {
  const name = effectiveHeader(request, target, CHECKSUM_ALGORITHM)
  const type = effectiveHeader(request, target, TYPE)
  if (name === undefined) {
    if (type === undefined) return undefined
    throw invalid(`${TYPE} needs ${CHECKSUM_ALGORITHM} beside it.`)
  }
  const algorithm = namedAlgorithm(name)
  const composite = type === undefined ? algorithm !== 'crc64nvme' : parseType(type) === 'COMPOSITE'
  const checksum = { algorithm, composite }
  if (!isUploadChecksum(checksum)) throw invalid(`${name} cannot be used with the ${typeName(checksum)} checksum type.`)
  return checksum
}

/**
 * What takes the place of `requestedChecksum` where checksums of whole multipart objects are not kept: SDKs ask for one
 * with every upload, and each part is compared with its own all the same.
 * @throws S3Error as `namedAlgorithm`
 */
export function passedOverChecksum(request: HttpRequest, target: Target): undefined {
  const name = effectiveHeader(request, target, CHECKSUM_ALGORITHM)
  if (name !== undefined) namedAlgorithm(name)
}

function parseType(type: string): 'COMPOSITE' | 'FULL_OBJECT' {
  const upper = type.toUpperCase()
  if (upper === 'COMPOSITE' || upper === 'FULL_OBJECT') return upper
  throw invalid(`Value for ${TYPE} header is invalid.`)
}

/** The checksum headers in the answer to CreateMultipartUpload. */
export function requestedChecksumHeaders(checksum: UploadChecksum | undefined): HeaderLine[] {
  if (checksum === undefined) return []
  return [
    [CHECKSUM_ALGORITHM, algorithmName(checksum.algorithm)],
    [TYPE, typeName(checksum)],
  ]
}

/**
 * Refuses a part without the checksum that its upload asked for, or with another algorithm.
 * @param algorithm of the part's checksum, in the head or after the body
 * @throws S3Error InvalidRequest
 */
export function requirePartChecksum(asked: UploadChecksum | undefined, algorithm: string | undefined): void {
  if (asked === undefined || asked.algorithm === algorithm) return
  const came = algorithm === undefined ? 'none' : algorithm
  throw invalid(`The upload asked for parts with a ${asked.algorithm} checksum; this one has ${came}.`)
}

/**
 * The checksum that the completion of an upload declares for the whole object.
 * @param parts how many it lists
 * @throws S3Error InvalidRequest (malformed, of another number of parts, of another type than the upload asked for
 *   or of one where it asked for none),
 *   NotImplemented (an algorithm that this server cannot compute, an upload that asked for none)
 */
export function wholeChecksum(
  request: HttpRequest,
  asked: UploadChecksum | undefined,
  parts: number,
): ObjectChecksum | undefined {
  const type = request.header(TYPE)
  if (type !== undefined && (asked === undefined || parseType(type) !== typeName(asked))) {
    throw invalid(
      `The upload asked for ${asked === undefined ? 'no checksum' : `the ${typeName(asked)} checksum type`}.`,
    )
  }
  const header = rawChecksumHeader(request)
  if (header === undefined) return undefined
  const [name, text] = header
  if (asked === undefined) {
    const message = 'The checksum of a whole multipart object is not supported where its upload asked for none.'
    throw new S3Error('NotImplemented', { message, details: [['Header', name]] })
  }
  const dash = asked.composite ? text.lastIndexOf('-') : -1
  if (dash !== -1 && text.slice(dash + 1) !== String(parts)) throw invalid(`Value for ${name} header is invalid.`)
  const { algorithm, expected } = parseChecksum(name, dash === -1 ? text : text.slice(0, dash))
  return { algorithm, value: Uint8Array.from(expected), composite: asked.composite }
}
