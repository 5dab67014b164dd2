/**
 * Keeps slow clients alive and ends dead ones.
 *
 * uWebSockets.js closes a connection about twelve seconds after what it counts as progress: an upload below 16 KB/s, or
 * a reader whose kernel buffer has not drained, counts as dead. That timeout cannot be configured, but resuming a
 * socket restarts it. So one timer per listener resumes every exchange that waits for its client, and this guard
 * decides, with a longer patience, which clients are dead.
 *
 * A client that moves a byte now and then is alive, and keeps its place as long as places are free. When places are
 * short, clients that moved less than a minimum over the patience are cut off (decision 0042).
 */

/** Interval at which the library's timeout of ten to fourteen seconds is restarted. */
const INTERVAL_MILLISECONDS_MAXIMUM = 4000

/** An exchange that lasts longer than the callback that brought it. */
export interface GuardedExchange {
  /**
   * Bytes that the client is known to have moved; undefined while the exchange does not wait for the client.
   */
  clientProgress(): number | undefined
  /** Restarts the library's timeout. */
  prolong(nowMilliseconds: number): void
  /** Closes the connection. */
  cut(): void
  /** Stops waiting for the client's body, so that the request is answered. */
  giveUpBody(): void
}

interface StallPolicy {
  /** Silence after which a client is cut off, in milliseconds. */
  readonly stallTimeoutMilliseconds: number
  /** Bytes that a client must move in that time when places are short. */
  readonly minimumBytes: number
  /** Whether places are short. */
  readonly isCrowded: () => boolean
}

interface Mark {
  progress: number | undefined
  sinceMilliseconds: number
  /** Progress at the start of the period in which the client has to move the minimum. */
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

  /** Gives up the incomplete bodies of all exchanges, so that they are answered. */
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

  /** Whether a whole period has passed with less than the minimum moved. Reaching the minimum starts a new period. */
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
