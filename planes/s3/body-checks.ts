import { createHash, hash } from 'node:crypto'
import type { ClaimedPayload } from './authenticate.ts'
import {
  type ChecksumVerifier,
  contentMd5,
  type DeclaredChecksum,
  declaredChecksum,
  startVerifier,
} from './checksums.ts'
import { S3Error } from './errors.ts'
import type { S3Request } from './s3-request.ts'
import type { HttpRequest } from '../http/exchange.ts'

/** Everything a request says about its body, to be held against the body that came. */
export class BodyChecks {
  readonly declared: DeclaredChecksum | undefined
  readonly #claimed: ClaimedPayload
  readonly #md5: Buffer | undefined
  readonly #verifier: ChecksumVerifier | undefined

  /** @throws S3Error InvalidDigest, InvalidRequest, NotImplemented for a declaration that cannot be checked */
  constructor(request: HttpRequest, claimed: ClaimedPayload) {
    // Refused before an operation begins; here once more, because a body stored as it came would hold the chunk heads.
    if (claimed.kind === 'streaming') throw new S3Error('NotImplemented')
    this.declared = declaredChecksum(request)
    this.#claimed = claimed
    this.#md5 = contentMd5(request)
    this.#verifier = this.declared === undefined ? undefined : startVerifier(this.declared)
  }

  /** Takes the next chunk into the declared checksum; MD5 and SHA-256 are made by whoever stores the bytes. */
  update(chunk: Uint8Array): void {
    this.#verifier?.update(chunk)
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
    if (this.#verifier?.matches() === false) {
      throw new S3Error('BadDigest', { message: `The body does not match ${this.declared?.header}.` })
    }
  }
}

/**
 * The body of a request that carries a document, checked against everything the request says about it.
 * @throws S3Error, BodyTooLargeError, ClientGoneError
 */
export async function readDocument(
  request: HttpRequest,
  claimed: ClaimedPayload,
  bytesMaximum: number,
): Promise<Buffer> {
  const checks = new BodyChecks(request, claimed)
  const body = await request.body.readAll(bytesMaximum)
  checks.update(body)
  checks.finish(hash('md5', body, 'hex'), createHash('sha256').update(body).digest())
  return body
}

/**
 * The document in the body of a request, within the bounds of its operation.
 * @throws S3Error as readDocument
 */
export function readRequestDocument({ http, identity, operation }: S3Request): Promise<Buffer> {
  return readDocument(http, identity.payload, operation.bodyBytesMaximum)
}
