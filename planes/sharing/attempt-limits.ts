/** How often passwords of shares may be tried (spec/decisions/0075). */
import { networkOf } from '../http/limits/network-of.ts'

/** Attempts that can be saved up, and the milliseconds after which there is one more. */
interface Limit {
  readonly saved: number
  readonly millisecondsEach: number
}

/** Of one address with one share: ten at once, then six a minute. Whoever was given a password needs two or three. */
export const VISITOR_LIMIT: Limit = { saved: 10, millisecondsEach: 10_000 }
/** Of one address with all shares. */
export const ADDRESS_LIMIT: Limit = { saved: 100, millisecondsEach: 1000 }
/** Of one share by all addresses that have not unlocked it: thirty at once, then six a minute. */
export const SHARE_LIMIT: Limit = { saved: 30, millisecondsEach: 10_000 }
/** As many are kept for addresses that are new to a share. */
export const RESERVE_LIMIT: Limit = SHARE_LIMIT
/** Of what is kept an address has three, then one an hour: so a few addresses cannot use it up. */
const FIRST_LIMIT: Limit = { saved: 3, millisecondsEach: 3_600_000 }
/** Names of each kind that are counted one by one; those beyond share one count until others are forgotten. */
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

  /** Milliseconds until the name has an attempt, 0 when it has one. Nothing is remembered of a name that takes none. */
  wait(name: string, now: number): number {
    const known = this.#known.get(name) ?? (this.#isFull(now) ? this.#known.get(OTHERS) : undefined)
    if (known === undefined) return 0
    const { attempts } = this.#grown(known, now)
    return attempts >= 1 ? 0 : (1 - attempts) * this.#limit.millisecondsEach
  }

  take(name: string, now: number): void {
    this.#of(name, now).attempts -= 1
  }

  #of(name: string, now: number): Account {
    return this.#grown(this.#known.get(name) ?? this.#add(name, now), now)
  }

  #grown(account: Account, now: number): Account {
    const { saved, millisecondsEach } = this.#limit
    account.attempts = Math.min(saved, account.attempts + (now - account.at) / millisecondsEach)
    account.at = now
    return account
  }

  #isFull(now: number): boolean {
    if (this.#known.size >= KNOWN_MAXIMUM) this.#forget(now)
    return this.#known.size >= KNOWN_MAXIMUM
  }

  #add(name: string, now: number): Account {
    const place = this.#isFull(now) ? OTHERS : name
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
 * The attempts at passwords of all shares: each takes one of its address, there and with its share, and one of its share,
 * before anything is hashed. All threads that answer attempts must have the same one.
 *
 * What a share has bounds the guesses of many addresses. It must not let them keep its visitors out: an address that has
 * unlocked a share takes nothing from it, and one that is new to it finds some that a few others cannot have used up.
 */
export class AttemptLimits {
  readonly #now: () => number
  readonly #addresses = new Accounts(ADDRESS_LIMIT)
  readonly #visitors = new Accounts(VISITOR_LIMIT)
  readonly #shares = new Accounts(SHARE_LIMIT)
  readonly #reserves = new Accounts(RESERVE_LIMIT)
  readonly #firsts = new Accounts(FIRST_LIMIT)
  /** Visitors who had the right password, the newest last. */
  readonly #trusted = new Set<string>()

  /** @param now milliseconds of a clock that only goes forward */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Takes an attempt; returns 0, or the whole seconds until there is one, of which nothing was taken. */
  take(share: string, address: string): number {
    const now = this.#now()
    const network = networkOf(address)
    const visitor = visitorOf(share, network)
    const isTrusted = this.#trusted.has(visitor)
    const own = Math.max(this.#addresses.wait(network, now), this.#visitors.wait(visitor, now))
    const shared = isTrusted ? 0 : this.#shares.wait(share, now)
    const reserved = shared === 0 ? 0 : Math.max(this.#firsts.wait(visitor, now), this.#reserves.wait(share, now))
    const wait = Math.max(own, Math.min(shared, reserved))
    if (wait > 0) return Math.ceil(wait / 1000)
    this.#addresses.take(network, now)
    this.#visitors.take(visitor, now)
    if (shared > 0) {
      this.#reserves.take(share, now)
      this.#firsts.take(visitor, now)
    } else if (!isTrusted) this.#shares.take(share, now)
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
