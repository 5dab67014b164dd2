/**
 * Keeps slow clients alive and ends dead ones.
 *
 * The library closes a connection about twelve seconds after its last sign of progress, as it sees progress: an
 * upload below 16 KB/s or a reader whose kernel buffer has not drained counts as dead. That clock cannot be set, but
 * resuming a socket winds it up again. So one timer per listener does that to every exchange that waits on its
 * client, and a policy of our own, with a longer patience, says which of them are dead.
 */

/** How often the library's clock is wound up; it rings after ten to fourteen seconds. */
const INTERVAL_MILLISECONDS_MAXIMUM = 4000

/** An exchange that is not over when the callback that began it returns. */
export interface GuardedExchange {
  /**
   * A number that changes whenever the client moves a byte; undefined while it is not the client that is waited for.
   */
  clientProgress(): number | undefined
  /** Winds up the library's clock. */
  prolong(nowMilliseconds: number): void
  /** Closes the connection. */
  cut(): void
}

interface Mark {
  progress: number | undefined
  sinceMilliseconds: number
}

export class StallGuard {
  readonly #stallTimeoutMilliseconds: number
  readonly #timer: NodeJS.Timeout
  readonly #guarded = new Map<GuardedExchange, Mark | undefined>()

  constructor(stallTimeoutMilliseconds: number) {
    this.#stallTimeoutMilliseconds = stallTimeoutMilliseconds
    const interval = Math.min(INTERVAL_MILLISECONDS_MAXIMUM, Math.max(10, stallTimeoutMilliseconds / 4))
    this.#timer = setInterval(() => this.#inspect(performance.now()), interval).unref()
  }

  add(exchange: GuardedExchange): void {
    this.#guarded.set(exchange, undefined)
  }

  remove(exchange: GuardedExchange): void {
    this.#guarded.delete(exchange)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #inspect(now: number): void {
    for (const [exchange, mark] of this.#guarded) {
      const progress = exchange.clientProgress()
      if (mark === undefined) this.#guarded.set(exchange, { progress, sinceMilliseconds: now })
      else if (progress === undefined || progress !== mark.progress) {
        mark.progress = progress
        mark.sinceMilliseconds = now
      } else if (now - mark.sinceMilliseconds >= this.#stallTimeoutMilliseconds) {
        exchange.cut()
        continue
      }
      exchange.prolong(now)
    }
  }
}
