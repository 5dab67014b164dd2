import { randomBytes } from 'node:crypto'

/** Base32 (RFC 4648 section 6): five bits each, no lookalikes, nothing that a shell interprets. */
const SYMBOLS = 'abcdefghijklmnopqrstuvwxyz234567'
const ID_SYMBOLS = 20
const ACCESS_KEY_SYMBOLS = 18
const SECRET_KEY_SYMBOLS = 40
const TOKEN_BYTES = 32

function randomSymbols(count: number): string {
  let text = ''
  for (const byte of randomBytes(count)) text += SYMBOLS[byte % SYMBOLS.length]
  return text
}

/** The id of something that a request creates: 100 random bits, so that ids do not collide. */
export function newId(kind: 'sa' | 'cred' | 'pol' | 'tok' | 'rule' | 'wh' | 'share' | 'embed'): string {
  return `${kind}-${randomSymbols(ID_SYMBOLS)}`
}

/** 20 characters of A-Z and 2-7. */
export function newAccessKey(): string {
  return `OS${randomSymbols(ACCESS_KEY_SYMBOLS).toUpperCase()}`
}

/** 40 characters, 200 random bits. */
export function newSecretKey(): string {
  return randomSymbols(SECRET_KEY_SYMBOLS)
}

/** A management token: 256 random bits after a prefix by which scanners find leaked tokens. */
export function newManagementToken(): string {
  return `osm_${randomBytes(TOKEN_BYTES).toString('base64url')}`
}
