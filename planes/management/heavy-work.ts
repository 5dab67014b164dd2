import type { BucketId } from '../../engine/brands.ts'
import { Turns } from '../../projections/audit/turns.ts'
import { BusyError } from '../../engine/shares/shares.ts'
import { ConcurrencyGate, type ConcurrencyLimits } from '../http/limits/concurrency-gate.ts'
import { ClientGoneError, type HttpRequest } from '../http/exchange.ts'

const WAIT = { queueMaximum: 64, waitMillisecondsMaximum: 10_000 }

/**
 * How much of each kind of long work runs at once. Kinds do not wait for each other: a bucket may take hours to verify.
 * See spec/decisions/0044-verification-over-http.md.
 */
const LIMITS = {
  /** Reads of the audit log and of tables, for one page. */
  scan: { operationsMaximum: 4, ...WAIT },
  export: { operationsMaximum: 16, ...WAIT },
  'verify-object': { operationsMaximum: 4, ...WAIT },
  'verify-bucket': { operationsMaximum: 4, ...WAIT, queueMaximum: 0 },
} as const satisfies Readonly<Record<string, ConcurrencyLimits>>

type HeavyKind = keyof typeof LIMITS

/** A place among the requests that work long. */
export class HeavyPlace {
  readonly #turns: Turns
  readonly #giveBack: () => void
  #isGone = false
  #hasLeft = false

  constructor(http: HttpRequest, turns: Turns, giveBack: () => void) {
    this.#turns = turns
    this.#giveBack = giveBack
    http.onAborted(() => {
      this.#isGone = true
    })
  }

  /**
   * Called between two steps of the work: lets other requests of the thread have their turn.
   * @throws ClientGoneError when nobody waits for the answer any more
   */
  async pause(): Promise<void> {
    if (this.#turns.isOver) await this.#turns.next()
    this.requireClient()
  }

  /** @throws ClientGoneError when nobody waits for the answer any more */
  requireClient(): void {
    if (this.#isGone) throw new ClientGoneError('the client has gone')
  }

  /** Gives the place to another request; calling again does nothing. */
  leave(): void {
    if (!this.#hasLeft) this.#giveBack()
    this.#hasLeft = true
  }
}

/** The long work of the management plane: some of each kind at once, in short turns, for clients who still wait. */
export class HeavyWork {
  readonly #turns = new Turns()
  readonly #gates = new Map<HeavyKind, ConcurrencyGate>()
  readonly #verifiedBuckets = new Set<BucketId>()

  /** @throws BusyError when too much of the kind runs and waits */
  async enter(kind: HeavyKind, http: HttpRequest): Promise<HeavyPlace> {
    const gate = this.#gates.get(kind) ?? new ConcurrencyGate(LIMITS[kind])
    this.#gates.set(kind, gate)
    const entry = gate.entryOf(http.remoteAddress, false)
    const entered = await gate.enter(entry)
    if (entered !== true && entered !== 'entered') throw new BusyError()
    return new HeavyPlace(http, this.#turns, () => gate.leave(entry))
  }

  /** Does work in a place of its own. @throws BusyError, and what the work throws */
  async run<T>(kind: HeavyKind, http: HttpRequest, work: (place: HeavyPlace) => Promise<T>): Promise<T> {
    const place = await this.enter(kind, http)
    try {
      place.requireClient()
      return await work(place)
    } finally {
      place.leave()
    }
  }

  /** Claims the one verification of a bucket; false if it is running. */
  claimBucket(bucket: BucketId): boolean {
    if (this.#verifiedBuckets.has(bucket)) return false
    this.#verifiedBuckets.add(bucket)
    return true
  }

  releaseBucket(bucket: BucketId): void {
    this.#verifiedBuckets.delete(bucket)
  }
}
