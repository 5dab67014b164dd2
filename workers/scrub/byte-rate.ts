/** What may be saved up, in seconds of the rate: after a pause it does not read faster for long. */
const SAVED_SECONDS = 1

/** Allows a number of bytes a second. What is spent may exceed what is allowed once, and is then waited for. */
export class ByteRate {
  readonly #bytesPerMillisecond: number
  readonly #timer: () => number
  #allowed: number
  #at: number

  /** @param timer milliseconds of a clock that is never set */
  constructor(bytesPerSecond: number, timer: () => number) {
    this.#bytesPerMillisecond = bytesPerSecond / 1000
    this.#timer = timer
    this.#allowed = 0
    this.#at = timer()
  }

  /** Whether anything may be read now. */
  allows(): boolean {
    const now = this.#timer()
    const most = this.#bytesPerMillisecond * 1000 * SAVED_SECONDS
    this.#allowed = Math.min(most, this.#allowed + (now - this.#at) * this.#bytesPerMillisecond)
    this.#at = now
    return this.#allowed > 0
  }

  spend(bytes: number): void {
    this.#allowed -= bytes
  }
}
