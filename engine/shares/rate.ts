interface RateOptions {
  /** Units that are allowed in a second. */
  readonly perSecond: number
  /** Most units that are saved up. */
  readonly saved: number
  /** Units that are allowed at once; `saved` by default. */
  readonly initial?: number
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number
}

/** A token bucket: units come at a steady rate, and are saved up to a bound. */
export class Rate {
  readonly #options: RateOptions
  #units: number
  #at: number

  constructor(options: RateOptions) {
    this.#options = options
    this.#units = options.initial ?? options.saved
    this.#at = options.now()
  }

  /** Units that are allowed now; below 0 while more was spent than there was. */
  get allowed(): number {
    const { perSecond, saved, now } = this.#options
    const at = now()
    this.#units = Math.min(saved, this.#units + ((at - this.#at) / 1000) * perSecond)
    this.#at = at
    return this.#units
  }

  get isFull(): boolean {
    return this.allowed >= this.#options.saved
  }

  /** Milliseconds until one unit is allowed; 0 when it is. */
  get waitMilliseconds(): number {
    const { allowed } = this
    return allowed >= 1 ? 0 : ((1 - allowed) / this.#options.perSecond) * 1000
  }

  /** Takes units. More than are allowed makes the next ones wait. */
  spend(units: number): void {
    this.#units = this.allowed - units
  }

  /** Spends all that is saved up. */
  empty(): void {
    this.spend(this.allowed)
  }
}
