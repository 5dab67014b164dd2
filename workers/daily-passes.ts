/** From the start of one pass to the start of the next, at least. */
const PASS_MILLISECONDS = 24 * 60 * 60 * 1000

/** When a worker that reads all of something once a day is to read. */
export class DailyPasses {
  readonly #timer: () => number
  #dueAt = 0
  #count = 0
  #begun: number | undefined

  /** @param timer milliseconds since some moment */
  constructor(timer: () => number) {
    this.#timer = timer
  }

  /** Passes that are over. */
  get count(): number {
    return this.#count
  }

  /** Whether a pass is under way, the next one if it is due. */
  isOn(): boolean {
    const now = this.#timer()
    if (this.#begun === undefined && now >= this.#dueAt) this.#begun = now
    return this.#begun !== undefined
  }

  /** The pass that is under way is over. */
  end(): void {
    if (this.#begun === undefined) return
    this.#count += 1
    this.#dueAt = this.#begun + PASS_MILLISECONDS
    this.#begun = undefined
  }
}
