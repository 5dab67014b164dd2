/** POSTs in flight: over all, to one target, and to a failing target. */
const OVER_ALL_MAXIMUM = 64
const TO_ONE_MAXIMUM = 4
const TO_FAILING_MAXIMUM = 1
/** Failures in a row that make a failing target. */
const FAILURES_MAXIMUM = 5
/** Targets whose last attempt failed get half of all places together, so that they do not hold up the others. */
const FAILED_LAST_MAXIMUM = OVER_ALL_MAXIMUM / 2

interface Target {
  inFlight: number
  /** In a row. */
  failures: number
}

/**
 * Decides which targets may be sent to now. It lives as long as the process: a restart gives every target the benefit
 * of the doubt.
 */
export class TargetCircuits {
  readonly #targets = new Map<string, Target>()
  #inFlight = 0

  mayStart(url: string): boolean {
    if (this.#inFlight >= OVER_ALL_MAXIMUM) return false
    const { inFlight, failures } = this.#targets.get(url) ?? { inFlight: 0, failures: 0 }
    if (inFlight >= (failures >= FAILURES_MAXIMUM ? TO_FAILING_MAXIMUM : TO_ONE_MAXIMUM)) return false
    return failures === 0 || this.#failingInFlight < FAILED_LAST_MAXIMUM
  }

  started(url: string): void {
    const target = this.#targets.get(url) ?? { inFlight: 0, failures: 0 }
    target.inFlight += 1
    this.#targets.set(url, target)
    this.#inFlight += 1
  }

  /** @param isSuccess undefined when it was given up, which does not judge the target */
  ended(url: string, isSuccess: boolean | undefined): void {
    const target = this.#targets.get(url)
    if (target === undefined) return
    this.#inFlight -= 1
    target.inFlight -= 1
    if (isSuccess !== undefined) target.failures = isSuccess ? 0 : target.failures + 1
    if (target.inFlight === 0 && target.failures === 0) this.#targets.delete(url)
  }

  /** Forgets targets that webhooks have stopped using. */
  keep(urls: ReadonlySet<string>): void {
    for (const [url, { inFlight }] of this.#targets) if (inFlight === 0 && !urls.has(url)) this.#targets.delete(url)
  }

  get #failingInFlight(): number {
    let count = 0
    for (const { inFlight, failures } of this.#targets.values()) if (failures > 0) count += inFlight
    return count
  }
}
