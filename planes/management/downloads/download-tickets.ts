import { randomBytes } from 'node:crypto'
import type { Milliseconds } from '../../../engine/brands.ts'

/** How long a ticket can be used. */
export const TICKET_MILLISECONDS = 60_000
/** Tickets of one credential, and of all; beyond the first the oldest of the credential gives way. */
const OF_ONE_MAXIMUM = 64
const TICKETS_MAXIMUM = 4096

/** The request that a ticket was made for: the bytes of one version, for who asked for the ticket. */
export interface Ticket {
  readonly bucket: string
  readonly key: string
  readonly versionId: string
  /** The Authorization header of its issuer: whoever is not let in any more when it is used gets nothing. */
  readonly authorization: string
  readonly credentialId: string
  readonly expiresMilliseconds: Milliseconds
}

/** Tickets that were not used yet, in memory alone: a restart ends them. */
export class DownloadTickets {
  readonly #tickets = new Map<string, Ticket>()
  readonly #clock: () => Milliseconds

  constructor(clock: () => Milliseconds) {
    this.#clock = clock
  }

  /** The name of a new ticket: 256 random bits. Undefined when there are too many. */
  issue(ticket: Ticket): string | undefined {
    this.#removeExpired()
    this.#makeWay(ticket.credentialId)
    if (this.#tickets.size >= TICKETS_MAXIMUM) return undefined
    const name = randomBytes(32).toString('base64url')
    this.#tickets.set(name, ticket)
    return name
  }

  /** The ticket of a name, once. */
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

  /** They are in the order in which they expire, as long as the clock goes on. */
  #removeExpired(): void {
    const now = this.#clock()
    for (const [name, { expiresMilliseconds }] of this.#tickets) {
      if (expiresMilliseconds > now) break
      this.#tickets.delete(name)
    }
  }
}
