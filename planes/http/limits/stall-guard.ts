/**
 * Keeps slow clients alive and ends dead ones.
 *
 * The library closes a connection about twelve seconds after its last sign of progress, as it sees progress: an
 * upload below 16 KB/s or a reader whose kernel buffer has not drained counts as dead. That clock cannot be set, but
 * resuming a socket winds it up again. So one timer per listener does that to every exchange that waits on its
 * client, and a policy of our own, with a longer patience, says which of them are dead.
 *
 * A client that moves a byte now and then is alive, and is let be as long as nobody else needs its place. When places
 * are short, those must go that have moved less than a minimum over the patience (decision 0042).
 */

/** How often the library's clock is wound up; it rings after ten to fourteen seconds. */
const INTERVAL_MILLISECONDS_MAXIMUM = 4000

/** An exchange that is not over when the callback that began it returns. */
export interface GuardedExchange {
  /**
   * Bytes that the client has moved, as far as is known; undefined while it is not the client that is waited for.
   */
  clientProgress(): number | undefined
  /** Winds up the library's clock. */
  prolong(nowMilliseconds: number): void
  /** Closes the connection. */
  cut(): void
  /** Waits for no more of the client's body, so that the request is answered. */
  giveUpBody(): void
}

interface StallPolicy {
  /** Silence after which a client is cut off, in milliseconds. */
  readonly stallTimeoutMilliseconds: number
  /** What it must have moved in that time when places are short. */
  readonly minimumBytes: number
  /** Whether places are short. */
  readonly isCrowded: () => boolean
}

interface Mark {
  progress: number | undefined
  sinceMilliseconds: number
  /** Where it was when the time began in which it has to move the minimum. */
  beganAt: number | undefined
  beganMilliseconds: number
}

export class StallGuard {
  readonly #policy: StallPolicy
  readonly #timer: NodeJS.Timeout
  readonly #guarded = new Map<GuardedExchange, Mark | undefined>()

  constructor(policy: StallPolicy) {
    this.#policy = policy
    const { stallTimeoutMilliseconds } = policy
    const interval = Math.min(INTERVAL_MILLISECONDS_MAXIMUM, Math.max(10, stallTimeoutMilliseconds / 4))
    this.#timer = setInterval(() => this.#inspect(performance.now()), interval).unref()
  }

  add(exchange: GuardedExchange): void {
    this.#guarded.set(exchange, undefined)
  }

  remove(exchange: GuardedExchange): void {
    this.#guarded.delete(exchange)
  }

  /** Lets every exchange be answered that waits for the rest of a body. */
  giveUpBodies(): void {
    for (const exchange of this.#guarded.keys()) exchange.giveUpBody()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #inspect(now: number): void {
    const isCrowded = this.#policy.isCrowded()
    for (const [exchange, mark] of this.#guarded) {
      const progress = exchange.clientProgress()
      if (mark === undefined) this.#guarded.set(exchange, markOf(progress, now))
      else if (this.#isStalled(mark, progress, now) || (this.#isSlow(mark, progress, now) && isCrowded)) {
        exchange.cut()
        continue
      }
      exchange.prolong(now)
    }
  }

  #isStalled(mark: Mark, progress: number | undefined, now: number): boolean {
    if (progress === undefined || progress !== mark.progress) {
      mark.progress = progress
      mark.sinceMilliseconds = now
      return false
    }
    return now - mark.sinceMilliseconds >= this.#policy.stallTimeoutMilliseconds
  }

  /** True until the client has moved enough since the time began, which then begins again. */
  #isSlow(mark: Mark, progress: number | undefined, now: number): boolean {
    if (progress !== undefined && mark.beganAt !== undefined) {
      if (now - mark.beganMilliseconds < this.#policy.stallTimeoutMilliseconds) return false
      if (progress - mark.beganAt < this.#policy.minimumBytes) return true
    }
    mark.beganAt = progress
    mark.beganMilliseconds = now
    return false
  }
}

function markOf(progress: number | undefined, now: number): Mark {
  return { progress, sinceMilliseconds: now, beganAt: progress, beganMilliseconds: now }
}
