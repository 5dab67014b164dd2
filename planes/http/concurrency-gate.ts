/**
 * Bounds how many operations run at once: some run, some wait in line for a bounded time, the rest are refused.
 * (Specification: `limits.maximum_concurrent_operations`; the S3 plane answers a refusal with SlowDown, 503.)
 */

export interface ConcurrencyLimits {
  /** Operations that may run at once; at least 1. */
  readonly operationsMaximum: number
  /** Operations that may wait for one to end; 0 refuses at once. */
  readonly queueMaximum: number
  /** How long one may wait. */
  readonly waitMillisecondsMaximum: number
}

interface Waiter {
  readonly resolve: (entered: boolean) => void
  readonly deadlineMilliseconds: number
}

export class ConcurrencyGate {
  /** Operations refused so far, at once or after waiting. */
  rejected = 0

  readonly #limits: ConcurrencyLimits
  #active = 0
  /** In order of arrival, and so of deadline. */
  readonly #waiters: Waiter[] = []
  /** Runs out at the deadline of the first waiter. */
  #timer: NodeJS.Timeout | undefined

  constructor(limits: ConcurrencyLimits) {
    this.#limits = limits
  }

  /** Operations that have entered and not left. */
  get active(): number {
    return this.#active
  }

  /** Operations that wait. */
  get queued(): number {
    return this.#waiters.length
  }

  /**
   * Asks for a place. Whoever gets one calls `leave` exactly once, also when nobody waits for the outcome any more by
   * the time the promise says true.
   * @returns 'entered' or 'rejected' at once, or a promise of whether a place came free in time
   */
  enter(): 'entered' | 'rejected' | Promise<boolean> {
    if (this.#active < this.#limits.operationsMaximum) {
      this.#active += 1
      return 'entered'
    }
    if (this.#waiters.length >= this.#limits.queueMaximum) {
      this.rejected += 1
      return 'rejected'
    }
    return new Promise((resolve) => {
      this.#waiters.push({ resolve, deadlineMilliseconds: performance.now() + this.#limits.waitMillisecondsMaximum })
      if (this.#timer === undefined) this.#armTimer()
    })
  }

  /** Gives a place back; it goes to whoever has waited longest. */
  leave(): void {
    if (this.#active === 0) throw new Error('An operation left the gate that had not entered')
    const next = this.#waiters.shift()
    if (next === undefined) this.#active -= 1
    else next.resolve(true)
    if (this.#waiters.length === 0) this.#stopTimer()
  }

  #armTimer(): void {
    const first = this.#waiters[0]
    this.#timer = undefined
    if (first === undefined) return
    const milliseconds = Math.max(1, first.deadlineMilliseconds - performance.now())
    this.#timer = setTimeout(() => this.#refuseOverdue(), milliseconds)
  }

  #refuseOverdue(): void {
    const now = performance.now()
    for (let first = this.#waiters[0]; first !== undefined; first = this.#waiters[0]) {
      if (first.deadlineMilliseconds > now) break
      this.#waiters.shift()
      this.rejected += 1
      first.resolve(false)
    }
    this.#armTimer()
  }

  #stopTimer(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
