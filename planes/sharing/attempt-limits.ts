/** How often passwords of shares may be tried (spec/decisions/0075). */
import { networkOf } from '../http/limits/network-of.ts'

/** Attempts that can be saved up, and the milliseconds after which there is one more. */
interface Limit {
  readonly saved: number
  readonly millisecondsEach: number
}

/** Of one address with all shares: ten at once, then six a minute. Whoever was given a password needs two or three. */
export const ADDRESS_LIMIT: Limit = { saved: 10, millisecondsEach: 10_000 }
/** Of one share by all addresses: thirty at once, then twelve a minute. */
export const SHARE_LIMIT: Limit = { saved: 30, millisecondsEach: 5000 }
/** Addresses, and shares, that are counted one by one; those beyond share one count until others are forgotten. */
const KNOWN_MAXIMUM = 10_000
/** How often those that have all their attempts again are looked for. */
const FORGET_MILLISECONDS = 1000
const OTHERS = 'others'

interface Account {
  attempts: number
  at: number
}

/** Attempts of each of many names. */
class Accounts {
  readonly #limit: Limit
  readonly #known = new Map<string, Account>()
  #forgotAt = Number.NEGATIVE_INFINITY

  constructor(limit: Limit) {
    this.#limit = limit
  }

  /** Milliseconds until the name has an attempt, 0 when it has one. */
  wait(name: string, now: number): number {
    const { attempts } = this.#of(name, now)
    return attempts >= 1 ? 0 : (1 - attempts) * this.#limit.millisecondsEach
  }

  take(name: string, now: number): void {
    this.#of(name, now).attempts -= 1
  }

  #of(name: string, now: number): Account {
    const known = this.#known.get(name) ?? this.#add(name, now)
    const { saved, millisecondsEach } = this.#limit
    known.attempts = Math.min(saved, known.attempts + (now - known.at) / millisecondsEach)
    known.at = now
    return known
  }

  #add(name: string, now: number): Account {
    if (this.#known.size >= KNOWN_MAXIMUM) this.#forget(now)
    const place = this.#known.size >= KNOWN_MAXIMUM ? OTHERS : name
    const account = this.#known.get(place) ?? { attempts: this.#limit.saved, at: now }
    this.#known.set(place, account)
    return account
  }

  /** Drops those that have as many attempts as one that nobody knows. */
  #forget(now: number): void {
    if (now - this.#forgotAt < FORGET_MILLISECONDS) return
    this.#forgotAt = now
    const { saved, millisecondsEach } = this.#limit
    for (const [name, { attempts, at }] of this.#known) {
      if (attempts + (now - at) / millisecondsEach >= saved) this.#known.delete(name)
    }
  }
}

/**
 * The attempts at passwords of all shares: each takes one of its address and one of its share, before anything is hashed.
 * All threads that answer attempts must have the same one.
 */
export class AttemptLimits {
  readonly #now: () => number
  readonly #addresses = new Accounts(ADDRESS_LIMIT)
  readonly #shares = new Accounts(SHARE_LIMIT)

  /** @param now milliseconds of a clock that only goes forward */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Takes an attempt; returns 0, or the whole seconds until there is one, of which nothing was taken. */
  take(share: string, address: string): number {
    const now = this.#now()
    const network = networkOf(address)
    const wait = Math.max(this.#addresses.wait(network, now), this.#shares.wait(share, now))
    if (wait > 0) return Math.ceil(wait / 1000)
    this.#addresses.take(network, now)
    this.#shares.take(share, now)
    return 0
  }
}
