import { randomBytes } from 'node:crypto'
import type { Milliseconds } from '../../../engine/brands.ts'

/** Lifetime of a ticket. */
export const TICKET_MILLISECONDS = 60_000
/** Tickets of one credential, whose oldest is dropped beyond it, and of all credentials. */
const OF_ONE_MAXIMUM = 64
const TICKETS_MAXIMUM = 4096

/** The request behind a ticket: the bytes of one version, for the issuer. */
export interface Ticket {
  readonly bucket: string
  readonly key: string
  readonly versionId: string
  /**
   * Authorization header of the issuer, checked again when the ticket is used, so that a revoked credential gets
   * nothing.
   */
  readonly authorization: string
  readonly credentialId: string
  readonly expiresMilliseconds: Milliseconds
}

/** Unused tickets, in memory only: a restart ends them. */
export class DownloadTickets {
  readonly #tickets = new Map<string, Ticket>()
  readonly #clock: () => Milliseconds

  constructor(clock: () => Milliseconds) {
    this.#clock = clock
  }

  /** The name of a new ticket: 256 random bits. Undefined when too many are open. */
  issue(ticket: Ticket): string | undefined {
    this.#removeExpired()
    this.#makeWay(ticket.credentialId)
    if (this.#tickets.size >= TICKETS_MAXIMUM) return undefined
    const name = randomBytes(32).toString('base64url')
    this.#tickets.set(name, ticket)
    return name
  }

  /** Returns and removes the ticket of a name. */
  take(name: string): Ticket | undefined {
    const ticket = this.#tickets.get(name)
    this.#tickets.delete(name)
    return ticket !== undefined && ticket.expiresMilliseconds > this.#clock() ? ticket : undefined
  }

  #makeWay(credential: string): void {
    let oldest: string | undefined
    let count = 0
    for (const [name, { credentialId }] of this.#tickets) {
      if (credentialId !== credential) continue
      oldest ??= name
      count += 1
    }
    if (oldest !== undefined && count >= OF_ONE_MAXIMUM) this.#tickets.delete(oldest)
  }

  /** Insertion order is order of expiry, unless the clock is set back. */
  #removeExpired(): void {
    const now = this.#clock()
    for (const [name, { expiresMilliseconds }] of this.#tickets) {
      if (expiresMilliseconds > now) break
      this.#tickets.delete(name)
    }
  }
}
