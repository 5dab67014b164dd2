/**
 * The signatures in a body of signed chunks (S3 API reference, "Transferring Payload in Multiple Chunks" and "Including
 * Trailing Headers"). Each signature covers the one before it, and the first covers the signature of the request, so
 * that no chunk can be removed, replaced, moved, or taken from another request.
 */
import { equalsHex } from './equal-hex.ts'
import { type Scope, type SigningKey, scopeText } from './signature-v4.ts'

const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** The chain of signatures of one request. A wrong signature ends the request. */
export class ChunkSignatures {
  readonly #key: SigningKey
  /** Timestamp and scope: the lines after the algorithm name in every string to sign. */
  readonly #place: string
  #previous: string

  /** @param seed the signature of the request, which was verified */
  constructor(key: SigningKey, timestamp: string, scope: Scope, seed: string) {
    this.#key = key
    this.#place = `${timestamp}\n${scopeText(scope)}`
    this.#previous = seed
  }

  /** Whether `signature` is valid for the next chunk. @param digest SHA-256 of its bytes in hex */
  isOfChunk(digest: string, signature: string): boolean {
    const text = `AWS4-HMAC-SHA256-PAYLOAD\n${this.#place}\n${this.#previous}\n${EMPTY_SHA256}\n${digest}`
    return this.#isNext(text, signature)
  }

  /** Whether `signature` is valid for the trailer. @param digest SHA-256 of its lines in hex */
  isOfTrailer(digest: string, signature: string): boolean {
    return this.#isNext(`AWS4-HMAC-SHA256-TRAILER\n${this.#place}\n${this.#previous}\n${digest}`, signature)
  }

  #isNext(text: string, signature: string): boolean {
    this.#previous = this.#key.sign(text)
    return equalsHex(this.#previous, signature)
  }
}
