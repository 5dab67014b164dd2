import { createHash, timingSafeEqual } from 'node:crypto'

const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/**
 * Whether an Authorization header carries the token (RFC 6750 section 2.1). The comparison is of digests and takes
 * the same time whatever was sent, so that neither the token nor its length can be found out by trying.
 */
export function bearsToken(authorization: string | undefined, token: string): boolean {
  const sent = BEARER.exec(authorization ?? '')?.[1] ?? ''
  return timingSafeEqual(digest(sent), digest(token)) && sent !== ''
}
