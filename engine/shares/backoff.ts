/** Pause after failures in a row: the first one doubles with each failure, up to the longest. All are milliseconds. */
export function backoffMilliseconds(first: number, failures: number, longest: number): number {
  return Math.min(longest, first * 2 ** (failures - 1))
}

interface BackoffOptions {
  readonly firstMilliseconds: number
  readonly longestMilliseconds: number
  /** Milliseconds of a clock that is never set. */
  readonly timer: () => number
}

/** For witnesses and time stamp authorities. */
export const REMOTE_BACKOFF = { firstMilliseconds: 2000, longestMilliseconds: 600_000 }

/** When to ask a remote service again after failures. */
export class Backoff {
  readonly #options: BackoffOptions
  #retryAt = Number.NEGATIVE_INFINITY
  #inRow = 0
  #failures = 0

  constructor(options: BackoffOptions) {
    this.#options = options
  }

  /** All failures so far. */
  get failures(): number {
    return this.#failures
  }

  get isDue(): boolean {
    return this.#options.timer() >= this.#retryAt
  }

  succeeded(): void {
    this.#inRow = 0
    this.#retryAt = Number.NEGATIVE_INFINITY
  }

  /** @param isLasting only an operator can mend what failed, so the next pause is the longest */
  failed(isLasting = false): void {
    const { firstMilliseconds, longestMilliseconds, timer } = this.#options
    this.#failures += 1
    this.#inRow += 1
    const pause = backoffMilliseconds(firstMilliseconds, this.#inRow, longestMilliseconds)
    this.#retryAt = timer() + (isLasting ? longestMilliseconds : pause)
  }
}
