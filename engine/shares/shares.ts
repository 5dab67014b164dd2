import { type ShareName, type ShareRow, shareTable } from './share-table.ts'

/** Too many requests are running and waiting already; the same request may succeed later. */
export class BusyError extends Error {
  override readonly name = 'BusyError'
}

/** Units in use by one owner, until `leave`. */
export interface Share {
  /** Gives the units back; calling it again does nothing, nor does it after an eviction. */
  leave(): void
  /**
   * Called by long work between two steps: lets an owner with fewer units in use go first.
   * @returns undefined to continue at once, else a promise of the next turn
   */
  turn(): Promise<void> | undefined
}

interface Waiter {
  readonly held: HeldShare
  readonly resolve: () => void
  readonly reject: (error: BusyError) => void
  /** By `performance.now()`. */
  readonly deadlineMilliseconds: number
}

/** Units in use and waiting requests of one owner; forgotten when it has neither. */
interface Owner {
  readonly name: string
  used: number
  /** Evictable shares only, in the order in which they were taken. */
  readonly evictable: Set<HeldShare>
  readonly line: Waiter[]
}

/** Interval of checks for expired waits. */
const LOOK_MILLISECONDS = 50

/** All of this thread. */
const all = new Set<Shares>()

/** Everything that is shared out in this thread, for metrics. */
export function sharesOfThread(): ReadonlySet<Shares> {
  return all
}

class HeldShare implements Share {
  readonly owner: Owner
  readonly amount: number
  readonly evict: (() => void) | undefined
  readonly #shares: Shares
  isHeld = false

  constructor(shares: Shares, owner: Owner, amount: number, evict?: () => void) {
    this.#shares = shares
    this.owner = owner
    this.amount = amount
    this.evict = evict
  }

  leave(): void {
    if (this.isHeld) this.#shares.giveBack(this)
  }

  turn(): Promise<void> | undefined {
    return this.#shares.giveWay(this)
  }
}

/**
 * One shared thing of a thread, handed out by owner. The rules are the same for all:
 *
 * 1. A request takes free units, however many its owner has (up to `ownerMaximum`), unless others wait.
 * 2. A freed unit goes to the waiting owner with the fewest units in use, then to the longest wait.
 * 3. Where nothing is free, an owner takes from the owner with the most units: shares that can be evicted are,
 * the oldest first; long work gives way at its next step (`Share.turn`).
 * 4. A full line makes room in the same way: the newest request of the owner with the most waiting requests is refused.
 */
export class Shares {
  readonly name: ShareName
  readonly #row: ShareRow
  readonly #ownerMaximum: number
  readonly #owners = new Map<string, Owner>()
  #used = 0
  #held = 0
  #waiting = 0
  #refused = 0
  #evicted = 0
  #timer: NodeJS.Timeout | undefined

  /** @param changed overrides of the table's row, for specs and configuration */
  constructor(name: ShareName, changed: Partial<ShareRow> = {}) {
    this.name = name
    this.#row = { ...shareTable[name], ...changed }
    this.#ownerMaximum = this.#row.ownerMaximum ?? this.#row.capacity
    all.add(this)
  }

  /** Units in use. */
  get used(): number {
    return this.#used
  }

  /** Shares in use, whatever their units. */
  get held(): number {
    return this.#held
  }

  get capacity(): number {
    return this.#row.capacity
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#waiting
  }

  /** Requests refused so far. */
  get refused(): number {
    return this.#refused
  }

  /** Shares taken from an owner for another one so far. */
  get evicted(): number {
    return this.#evicted
  }

  /** Units that an owner has in use. */
  usedBy(owner: string): number {
    return this.#owners.get(owner)?.used ?? 0
  }

  /**
   * Takes units at once. More than there are altogether can be had only while none is in use.
   * @param evict called when another owner needs the units more; they are free when it is called. Without it they
   *   stay with their owner until `leave`
   * @returns undefined when there is no room, also not by eviction
   */
  take(owner: string, amount = 1, evict?: () => void): Share | undefined {
    const held = new HeldShare(this, this.#ownerOf(owner), amount, evict)
    if (this.#fits(held) || this.#makeRoom(held)) return this.#hold(held)
    this.#refused += 1
    this.#forget(held.owner)
    return undefined
  }

  /**
   * Takes units for a request that cannot be refused: the owner with the most units gives way, even the same owner.
   * With nothing left to evict, more units are in use than exist.
   * @param evict as for `take`
   */
  claim(owner: string, amount: number, evict: () => void): Share {
    const held = new HeldShare(this, this.#ownerOf(owner), amount, evict)
    this.#makeRoom(held, true)
    return this.#hold(held)
  }

  /**
   * Takes units, or waits for them in the line of the owner.
   * @throws BusyError when too many wait, or one has waited too long
   */
  async wait(owner: string, amount = 1): Promise<Share> {
    const held = new HeldShare(this, this.#ownerOf(owner), amount)
    // Freed units go to waiting requests at once, so no request waits for units that are free now.
    if (held.owner.line.length === 0 && this.#fits(held)) return this.#hold(held)
    if (!this.#makePlaceInLine(held.owner)) {
      this.#refused += 1
      this.#forget(held.owner)
      throw new BusyError()
    }
    await this.#queue(held, (line, waiter) => line.push(waiter), this.#row.waitMillisecondsMaximum)
    return held
  }

  /** Takes units, does work and gives them back. @throws BusyError, and the errors of the work */
  async run<T>(owner: string, work: (share: Share) => Promise<T>): Promise<T> {
    const share = await this.wait(owner)
    try {
      return await work(share)
    } finally {
      share.leave()
    }
  }

  /** For `Share`. */
  giveBack(held: HeldShare): void {
    this.#drop(held)
    if (held.owner.used === 0 && held.owner.line.length === 0) this.#owners.delete(held.owner.name)
    else this.#putLast(held.owner)
    this.#serve()
  }

  /** For `Share`. */
  giveWay(held: HeldShare): Promise<void> | undefined {
    if (this.#waiting === 0 || !held.isHeld) return undefined
    const next = this.#next()
    if (next === undefined || next.used >= held.owner.used) return undefined
    this.#drop(held)
    const turn = this.#queue(held, (line, waiter) => line.unshift(waiter))
    this.#putLast(held.owner)
    this.#serve()
    return turn
  }

  #ownerOf(name: string): Owner {
    let owner = this.#owners.get(name)
    if (owner === undefined) {
      owner = { name, used: 0, evictable: new Set(), line: [] }
      this.#owners.set(name, owner)
    }
    return owner
  }

  #forget(owner: Owner): void {
    if (owner.used === 0 && owner.line.length === 0) this.#owners.delete(owner.name)
  }

  #fits({ owner, amount }: HeldShare): boolean {
    if (this.#used === 0) return true
    return this.#used + amount <= this.#row.capacity && owner.used + amount <= this.#ownerMaximum
  }

  #hold(held: HeldShare): Share {
    held.isHeld = true
    held.owner.used += held.amount
    this.#used += held.amount
    this.#held += 1
    if (held.evict !== undefined) held.owner.evictable.add(held)
    return held
  }

  #drop(held: HeldShare): void {
    held.isHeld = false
    held.owner.used -= held.amount
    this.#used -= held.amount
    this.#held -= 1
    held.owner.evictable.delete(held)
  }

  /** Evicts the oldest shares of the owners with the most units, as long as they have more than the new one would. */
  #makeRoom(held: HeldShare, isClaim = false): boolean {
    while (!this.#fits(held)) {
      const greediest = this.#greediest()
      if (greediest === undefined) return false
      if (!isClaim && greediest.used <= held.owner.used + held.amount) return false
      const [oldest] = greediest.evictable
      if (oldest === undefined) return false
      this.#drop(oldest)
      this.#evicted += 1
      if (greediest !== held.owner) this.#forget(greediest)
      oldest.evict?.()
    }
    return true
  }

  #greediest(): Owner | undefined {
    let most: Owner | undefined
    for (const owner of this.#owners.values()) {
      if (owner.evictable.size > 0 && (most === undefined || owner.used > most.used)) most = owner
    }
    return most
  }

  #makePlaceInLine(owner: Owner): boolean {
    const { waitingMaximum = 0 } = this.#row
    if (this.#waiting < waitingMaximum) return true
    let longest = owner
    for (const one of this.#owners.values()) if (one.line.length > longest.line.length) longest = one
    if (longest.line.length <= owner.line.length + 1) return false
    const newest = longest.line.pop()
    if (newest === undefined) return false
    this.#waiting -= 1
    this.#refused += 1
    newest.reject(new BusyError())
    this.#forget(longest)
    return true
  }

  #queue(held: HeldShare, put: (line: Waiter[], waiter: Waiter) => void, milliseconds?: number): Promise<void> {
    const deadlineMilliseconds =
      milliseconds === undefined ? Number.POSITIVE_INFINITY : performance.now() + milliseconds
    return new Promise((resolve, reject) => {
      put(held.owner.line, { held, resolve, reject, deadlineMilliseconds })
      this.#waiting += 1
      if (milliseconds !== undefined) this.#timer ??= setInterval(() => this.#refuseOverdue(), LOOK_MILLISECONDS)
    })
  }

  /** The waiting owner with the fewest units in use. Owners are in the order in which they began to wait or to use. */
  #next(): Owner | undefined {
    let least: Owner | undefined
    for (const owner of this.#owners.values()) {
      if (owner.line.length > 0 && (least === undefined || owner.used < least.used)) least = owner
    }
    return least
  }

  #serve(): void {
    if (this.#waiting === 0) return
    for (let owner = this.#next(); owner !== undefined; owner = this.#next()) {
      const [first] = owner.line
      if (first === undefined || !this.#fits(first.held)) break
      owner.line.shift()
      this.#waiting -= 1
      this.#hold(first.held)
      this.#putLast(owner)
      first.resolve()
    }
    this.#stopLooking()
  }

  /** Owners with the same number of units take turns. */
  #putLast(owner: Owner): void {
    this.#owners.delete(owner.name)
    this.#owners.set(owner.name, owner)
  }

  #refuseOverdue(): void {
    const now = performance.now()
    for (const owner of this.#owners.values()) {
      for (const waiter of owner.line.filter(({ deadlineMilliseconds }) => deadlineMilliseconds <= now)) {
        owner.line.splice(owner.line.indexOf(waiter), 1)
        this.#waiting -= 1
        this.#refused += 1
        waiter.reject(new BusyError())
      }
      this.#forget(owner)
    }
    this.#stopLooking()
  }

  #stopLooking(): void {
    if (this.#waiting > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
