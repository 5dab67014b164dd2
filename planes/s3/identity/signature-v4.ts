/**
 * The arithmetic of AWS Signature Version 4, as the S3 API reference describes it ("Authenticating Requests"): what is
 * signed and with which key. Used for checking requests and for making them.
 */

import { createHmac, hash } from 'node:crypto'

export const ALGORITHM = 'AWS4-HMAC-SHA256'
export const SERVICE = 's3'
export const SCOPE_TERMINATOR = 'aws4_request'
export const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD'
/** What x-amz-content-sha256 begins with when the body is aws-chunked. */
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
  /** Hex digest of the body, or the text in its place. */
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

/** The key for one day and region, 32 bytes. */
export function deriveSigningKey(secretKey: string, scope: Scope): Buffer {
  const dateKey = hmac(`AWS4${secretKey}`, scope.date)
  const regionKey = hmac(dateKey, scope.region)
  return hmac(hmac(regionKey, SERVICE), SCOPE_TERMINATOR)
}

/** The signature, 32 bytes. */
export function sign(signingKey: Buffer, text: string): Buffer {
  return hmac(signingKey, text)
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

/** Runs of blanks inside a value count as one space; values come without blanks around them. */
function foldBlanks(value: string): string {
  return value.includes('  ') || value.includes('\t') ? value.replace(/[ \t]+/g, ' ') : value
}
