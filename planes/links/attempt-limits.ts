/** How often passwords of shares may be tried (spec/decisions/0072). */
import { Rate } from '../../engine/shares/rate.ts'
import { networkOf } from '../http/limits/network-of.ts'

/** Attempts that can be saved up, and the milliseconds after which there is one more. */
interface Limit {
  readonly saved: number
  readonly millisecondsEach: number
}

/**
 * Of one address with one share: ten at once, then six a minute. A visitor who knows the password needs two or three.
 */
export const VISITOR_LIMIT: Limit = { saved: 10, millisecondsEach: 10_000 }
/** Of one address with all shares. */
export const ADDRESS_LIMIT: Limit = { saved: 100, millisecondsEach: 1000 }
/** Of one share by all addresses that have not unlocked it: thirty at once, then six a minute. */
export const SHARE_LIMIT: Limit = { saved: 30, millisecondsEach: 10_000 }
/** Reserve of a share for addresses that are new to it. */
export const RESERVE_LIMIT: Limit = SHARE_LIMIT
/** Of the reserve by one address: three, then one an hour, so that a few addresses cannot use it up. */
const FIRST_LIMIT: Limit = { saved: 3, millisecondsEach: 3_600_000 }
/** Names of each kind with a count of their own; further names share one count until others are forgotten. */
const KNOWN_MAXIMUM = 10_000
/** Interval at which accounts with all attempts regained are removed. */
const FORGET_MILLISECONDS = 1000
const OTHERS = 'others'

/** Attempts of each of many names. */
class Accounts {
  readonly #limit: Limit
  readonly #now: () => number
  readonly #known = new Map<string, Rate>()
  #forgotAt = Number.NEGATIVE_INFINITY

  constructor(limit: Limit, now: () => number) {
    this.#limit = limit
    this.#now = now
  }

  /** Milliseconds until the name has an attempt; 0 when it has one. Does not add the name to the table. */
  wait(name: string): number {
    const known = this.#known.get(name) ?? (this.#isFull() ? this.#known.get(OTHERS) : undefined)
    return known?.waitMilliseconds ?? 0
  }

  take(name: string): void {
    const attempts = this.#known.get(name) ?? this.#add(name)
    attempts.spend(1)
  }

  #isFull(): boolean {
    if (this.#known.size >= KNOWN_MAXIMUM) this.#forget()
    return this.#known.size >= KNOWN_MAXIMUM
  }

  #add(name: string): Rate {
    const { saved, millisecondsEach } = this.#limit
    const place = this.#isFull() ? OTHERS : name
    const attempts = this.#known.get(place) ?? new Rate({ perSecond: 1000 / millisecondsEach, saved, now: this.#now })
    this.#known.set(place, attempts)
    return attempts
  }

  /** Removes names with all attempts regained, which equal new names. */
  #forget(): void {
    const now = this.#now()
    if (now - this.#forgotAt < FORGET_MILLISECONDS) return
    this.#forgotAt = now
    for (const [name, attempts] of this.#known) {
      if (attempts.isFull) this.#known.delete(name)
    }
  }
}

/**
 * Limits attempts at passwords of shares, before anything is hashed. An attempt counts for its address, for its address
 * with its share, and for its share. All threads that answer attempts must use the same instance.
 *
 * The limit of a share bounds the guesses of many addresses, which must not lock out its visitors: an address that has
 * unlocked a share is exempt from its limit, and new addresses have a reserve that a few others cannot use up.
 */
export class AttemptLimits {
  readonly #addresses: Accounts
  readonly #visitors: Accounts
  readonly #shares: Accounts
  readonly #reserves: Accounts
  readonly #firsts: Accounts
  /** Visitors who had the right password, the newest last. */
  readonly #trusted = new Set<string>()

  /** @param now milliseconds of a clock that only goes forward */
  constructor(now: () => number = () => performance.now()) {
    this.#addresses = new Accounts(ADDRESS_LIMIT, now)
    this.#visitors = new Accounts(VISITOR_LIMIT, now)
    this.#shares = new Accounts(SHARE_LIMIT, now)
    this.#reserves = new Accounts(RESERVE_LIMIT, now)
    this.#firsts = new Accounts(FIRST_LIMIT, now)
  }

  /** Takes an attempt; returns 0, or the whole seconds until there is one, of which nothing was taken. */
  take(share: string, address: string): number {
    const network = networkOf(address)
    const visitor = visitorOf(share, network)
    const isTrusted = this.#trusted.has(visitor)
    const own = Math.max(this.#addresses.wait(network), this.#visitors.wait(visitor))
    const shared = isTrusted ? 0 : this.#shares.wait(share)
    const reserved = shared === 0 ? 0 : Math.max(this.#firsts.wait(visitor), this.#reserves.wait(share))
    const wait = Math.max(own, Math.min(shared, reserved))
    if (wait > 0) return Math.ceil(wait / 1000)
    this.#addresses.take(network)
    this.#visitors.take(visitor)
    if (shared > 0) {
      this.#reserves.take(share)
      this.#firsts.take(visitor)
    } else if (!isTrusted) this.#shares.take(share)
    return 0
  }

  /** An address had the right password of a share. */
  unlocked(share: string, address: string): void {
    const visitor = visitorOf(share, networkOf(address))
    this.#trusted.delete(visitor)
    this.#trusted.add(visitor)
    const [oldest] = this.#trusted
    if (this.#trusted.size > KNOWN_MAXIMUM && oldest !== undefined) this.#trusted.delete(oldest)
  }
}

function visitorOf(share: string, network: string): string {
  return `${share} ${network}`
}
