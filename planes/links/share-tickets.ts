import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Milliseconds, millisecondsOf } from '../../engine/brands.ts'
import type { PasswordRecord } from '../../engine/events/values.ts'

/** How long a share stays unlocked. */
export const TICKET_MILLISECONDS = 600_000
const EXPIRY_BYTES = 8
const MAC_BYTES = 32
const TICKET_LENGTH = Math.ceil(((EXPIRY_BYTES + MAC_BYTES) * 4) / 3)

/** What a ticket unlocks: a share with this password. */
interface Lock {
  readonly share: string
  readonly password: PasswordRecord
}

interface Ticket {
  readonly text: string
  readonly expires: Milliseconds
}

/**
 * Tickets for shares that were unlocked by their password: the expiry (8 bytes, milliseconds since 1970) and an
 * HMAC-SHA256 of the expiry, the share and its password record, in base64url. Tickets are not stored; each is valid for
 * one share with one password.
 */
export class ShareTickets {
  readonly #key: Uint8Array

  /** @param key 32 bytes, for this purpose only */
  constructor(key: Uint8Array) {
    this.#key = key
  }

  issue(lock: Lock, now: Milliseconds): Ticket {
    const expires = millisecondsOf(now + TICKET_MILLISECONDS)
    const expiry = Buffer.alloc(EXPIRY_BYTES)
    expiry.writeBigUInt64BE(BigInt(expires))
    return { text: Buffer.concat([expiry, this.#mac(lock, expiry)]).toString('base64url'), expires }
  }

  /** Whether a text is a ticket for this share, and has not expired. */
  opens(text: string, lock: Lock, now: Milliseconds): boolean {
    if (text.length !== TICKET_LENGTH) return false
    const bytes = Buffer.from(text, 'base64url')
    // Only the canonical text is valid: the decoder accepts other texts for the same bytes.
    if (bytes.length !== EXPIRY_BYTES + MAC_BYTES || bytes.toString('base64url') !== text) return false
    const expiry = bytes.subarray(0, EXPIRY_BYTES)
    const isOurs = timingSafeEqual(bytes.subarray(EXPIRY_BYTES), this.#mac(lock, expiry))
    return isOurs && expiry.readBigUInt64BE() > BigInt(now)
  }

  #mac({ share, password }: Lock, expiry: Uint8Array): Buffer {
    const { salt, hash } = password
    const head = Buffer.from(`${share} ${salt.length} ${hash.length} `)
    return createHmac('sha256', this.#key).update(head).update(salt).update(hash).update(expiry).digest()
  }
}
