/**
 * Computes AWS Signature Version 4 (S3 API reference, "Authenticating Requests"): the canonical request, the string to
 * sign and the signing key. Used to verify requests and to make them.
 */

import { createHmac, hash } from 'node:crypto'

export const ALGORITHM = 'AWS4-HMAC-SHA256'
export const SERVICE = 's3'
export const SCOPE_TERMINATOR = 'aws4_request'
export const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD'
/** Prefix of x-amz-content-sha256 for aws-chunked bodies. */
export const STREAMING_PREFIX = 'STREAMING-'

interface CanonicalRequest {
  readonly method: string
  /** Decoded once and encoded again (Target.canonicalPath). */
  readonly path: string
  /** QueryParameters.canonical(). */
  readonly query: string
  /** Signed header names, lower-case, in the order of the signed list. */
  readonly signedNames: readonly string[]
  /** The same list as text, joined by `;`. */
  readonly signedHeaders: string
  /** Value of a header, or undefined when the request has none. */
  header(name: string): string | undefined
  /** Hex digest of the body, or the literal that replaces it. */
  readonly payloadHash: string
}

export interface Scope {
  /** `yyyymmdd` */
  readonly date: string
  readonly region: string
}

/** The bytes whose digest is signed. A signed header that is absent counts as empty. */
export function canonicalText(request: CanonicalRequest): string {
  let text = `${request.method}\n${request.path}\n${request.query}\n`
  for (const name of request.signedNames) text += `${name}:${foldBlanks(request.header(name) ?? '')}\n`
  return `${text}\n${request.signedHeaders}\n${request.payloadHash}`
}

/** @param timestamp basic ISO form, `20130524T000000Z` */
export function stringToSign(timestamp: string, scope: Scope, canonical: string): string {
  const digest = hash('sha256', canonical, 'hex')
  return `${ALGORITHM}\n${timestamp}\n${scopeText(scope)}\n${digest}`
}

export function scopeText(scope: Scope): string {
  return `${scope.date}/${scope.region}/${SERVICE}/${SCOPE_TERMINATOR}`
}

/** The key for one day and region. */
export function deriveSigningKey(secretKey: string, scope: Scope): SigningKey {
  const dateKey = hmac(`AWS4${secretKey}`, scope.date)
  const regionKey = hmac(dateKey, scope.region)
  return new SigningKey(hmac(hmac(regionKey, SERVICE), SCOPE_TERMINATOR))
}

/** Of SHA-256. */
const BLOCK_BYTES = 64
const DIGEST_BYTES = 32
/** Longest text hashed in the shared buffer; strings to sign are shorter. */
const USUAL_TEXT_BYTES = 1024

/** Input buffer of the inner hash, shared by all keys of a thread. */
const inner = Buffer.allocUnsafeSlow(BLOCK_BYTES + USUAL_TEXT_BYTES)
const outer = Buffer.allocUnsafeSlow(BLOCK_BYTES + DIGEST_BYTES)

/**
 * Signs with one key: HMAC-SHA256 (RFC 2104). Every request needs one, and Node's HMAC allocates objects that cost more
 * than the two hashes.
 */
export class SigningKey {
  readonly #innerPad: Uint8Array
  readonly #outerPad: Uint8Array

  /** @param key 64 bytes at most */
  constructor(key: Buffer) {
    // Keys live long, so they are allocated outside Buffer's pool.
    const padded = Uint8Array.from({ length: BLOCK_BYTES }, (_, at) => key[at] ?? 0)
    this.#innerPad = padded.map((byte) => byte ^ 0x36)
    this.#outerPad = padded.map((byte) => byte ^ 0x5c)
  }

  /** The signature, 64 hexadecimal digits. */
  sign(text: string): string {
    const length = Buffer.byteLength(text)
    const bytes = length <= USUAL_TEXT_BYTES ? inner : Buffer.allocUnsafe(BLOCK_BYTES + length)
    bytes.set(this.#innerPad)
    bytes.write(text, BLOCK_BYTES)
    outer.set(this.#outerPad)
    outer.write(hash('sha256', bytes.subarray(0, BLOCK_BYTES + length), 'binary'), BLOCK_BYTES, 'latin1')
    return hash('sha256', outer, 'hex')
  }
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

/** Runs of blanks inside a value count as one space; values come without blanks around them. */
function foldBlanks(value: string): string {
  return value.includes('  ') || value.includes('\t') ? value.replace(/[ \t]+/g, ' ') : value
}
