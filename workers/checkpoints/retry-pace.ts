const FIRST_RETRY_MILLISECONDS = 2000
const LONGEST_RETRY_MILLISECONDS = 600_000

/** When somebody outside is asked again after a failure: in 2 seconds, then twice as long each time, up to 10 minutes. */
export class RetryPace {
  readonly #timer: () => number
  #retryAt = Number.NEGATIVE_INFINITY
  #inRow = 0
  #failures = 0

  /** @param timer milliseconds of a clock that is never set */
  constructor(timer: () => number) {
    this.#timer = timer
  }

  /** Of the process. */
  get failures(): number {
    return this.#failures
  }

  get isDue(): boolean {
    return this.#timer() >= this.#retryAt
  }

  succeeded(): void {
    this.#inRow = 0
    this.#retryAt = Number.NEGATIVE_INFINITY
  }

  /** @param isLasting only an operator can end what failed, so the longest pause begins at once */
  failed(isLasting = false): void {
    const pause = isLasting ? LONGEST_RETRY_MILLISECONDS : FIRST_RETRY_MILLISECONDS * 2 ** this.#inRow
    this.#failures += 1
    this.#inRow += 1
    this.#retryAt = this.#timer() + Math.min(LONGEST_RETRY_MILLISECONDS, pause)
  }
}
