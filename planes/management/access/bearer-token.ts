import { createHash, timingSafeEqual } from 'node:crypto'

const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i

/** The token in an Authorization header (RFC 6750 section 2.1), or undefined. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? '')?.[1]
}

/** SHA-256 of a token. Only the digest is stored, and tokens are compared by it. */
export function tokenDigest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/**
 * Whether two secrets are the same. Compares digests in constant time, so that trying reveals neither the secret nor its
 * length.
 */
export function isSameSecret(sent: string, expected: string): boolean {
  return timingSafeEqual(tokenDigest(sent), tokenDigest(expected))
}

/** Whether an Authorization header carries the token. */
export function bearsToken(authorization: string | undefined, token: string): boolean {
  const sent = bearerToken(authorization)
  return isSameSecret(sent ?? '', token) && sent !== undefined
}
