import { createHash, hash } from 'node:crypto'
import type { ChecksumAlgorithm } from '../../../engine/events/values.ts'
import type { ClaimedPayload } from '../signing/identity.ts'
import {
  contentMd5,
  type DeclaredChecksum,
  declaredChecksum,
  type RunningChecksum,
  startChecksum,
  type TrailingChecksum,
} from '../request/checksums.ts'
import { S3Error } from '../errors/s3-errors.ts'
import type { S3Request } from '../handling/s3-request.ts'
import type { HttpRequest } from '../../http/exchange.ts'

/** Checks a body against the digests and checksums that its request declares. */
export class BodyChecks {
  readonly #inHead: DeclaredChecksum | undefined
  readonly #trailing: TrailingChecksum | undefined
  readonly #claimed: ClaimedPayload
  readonly #md5: Buffer | undefined
  readonly #checksum: RunningChecksum | undefined

  /**
   * @param trailing a checksum after the body, instead of one in the head; `of something else`: the checksum in the
   *   head does not cover the body
   * @throws S3Error InvalidDigest, InvalidRequest, NotImplemented for a declaration that cannot be checked
   */
  constructor(request: HttpRequest, claimed: ClaimedPayload, trailing?: TrailingChecksum | 'of something else') {
    // Refused before the operation starts; checked again, because a body stored as received would hold the chunk heads.
    if (claimed.kind === 'streaming') throw new S3Error('NotImplemented')
    this.#inHead = trailing === undefined ? declaredChecksum(request) : undefined
    this.#trailing = trailing === 'of something else' ? undefined : trailing
    this.#claimed = claimed
    this.#md5 = contentMd5(request)
    const { algorithm } = this
    this.#checksum = algorithm && startChecksum(algorithm)
  }

  /** The checksum that the request declares. A trailing checksum is undefined until the body is read. */
  get declared(): DeclaredChecksum | undefined {
    return this.#trailing === undefined ? this.#inHead : this.#trailing.declared
  }

  /** Algorithm of the declared or announced checksum. */
  get algorithm(): ChecksumAlgorithm | undefined {
    return this.#trailing?.algorithm ?? this.#inHead?.algorithm
  }

  /** Adds the next chunk to the declared checksum. MD5 and SHA-256 are computed where the bytes are stored. */
  update(chunk: Uint8Array): void {
    this.#checksum?.update(chunk)
  }

  /**
   * Called once, after the last chunk.
   * @throws S3Error XAmzContentSHA256Mismatch, BadDigest
   */
  finish(md5Hex: string, sha256: Uint8Array): void {
    if (this.#claimed.kind === 'sha256') {
      const actual = Buffer.from(sha256.buffer, sha256.byteOffset, sha256.byteLength).toString('hex')
      if (actual !== this.#claimed.hex) {
        const details = [
          ['ClientComputedContentSHA256', this.#claimed.hex],
          ['S3ComputedContentSHA256', actual],
        ] as const
        throw new S3Error('XAmzContentSHA256Mismatch', { details })
      }
    }
    if (this.#md5 !== undefined && this.#md5.toString('hex') !== md5Hex) {
      const details = [
        ['ExpectedDigest', this.#md5.toString('base64')],
        ['CalculatedDigest', Buffer.from(md5Hex, 'hex').toString('base64')],
      ] as const
      throw new S3Error('BadDigest', { details })
    }
    const { declared } = this
    if (this.#checksum === undefined) return
    if (declared !== undefined && this.#checksum.digest().equals(declared.expected)) return
    const header = declared?.header ?? this.#trailing?.header ?? ''
    throw new S3Error('BadDigest', { message: `The body does not match ${header}.` })
  }
}

/**
 * The declared length of a body.
 * @throws S3Error MissingContentLength, EntityTooLarge
 */
export function requireLength(request: S3Request): number {
  const length = request.http.contentLength
  if (length === undefined) throw new S3Error('MissingContentLength')
  return limitLength(length, request)
}

/** @throws S3Error EntityTooLarge */
export function limitLength(length: number, { bodyBytesMaximum }: S3Request): number {
  if (length <= bodyBytesMaximum) return length
  const details = [
    ['ProposedSize', String(length)],
    ['MaxSizeAllowed', String(bodyBytesMaximum)],
  ] as const
  throw new S3Error('EntityTooLarge', { details })
}

/**
 * Reads the document in the body of a request, and checks it against length, digests and checksum in the head.
 * @param checksum whether the checksum in the head covers the document
 * @throws S3Error, BodyTooLargeError, ClientGoneError
 */
export async function readDocument(
  { http, payload, bodyBytesMaximum }: S3Request,
  checksum: 'of the body' | 'of something else' = 'of the body',
): Promise<Buffer> {
  const checks = new BodyChecks(http, payload, checksum === 'of the body' ? undefined : checksum)
  const body = await http.body.readAll(bodyBytesMaximum)
  checks.update(body)
  checks.finish(hash('md5', body, 'hex'), createHash('sha256').update(body).digest())
  return body
}
