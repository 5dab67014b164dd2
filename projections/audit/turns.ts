/** How long one turn may take. */
const TURN_MILLISECONDS = 5

/**
 * Lets long work share a thread. Work is done in turns: one at a time, however many have work to do, and between two of
 * them the event loop goes round, so that whatever else the thread serves waits for one turn at most.
 *
 * Whoever works waits for `next` first, and again whenever `isOver`, and after each wait for anything else.
 */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #begunMilliseconds = 0

  /** Whether the turn that was given last has taken its time. */
  get isOver(): boolean {
    return performance.now() - this.#begunMilliseconds >= TURN_MILLISECONDS
  }

  /** Resolves when it is the caller's turn. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      if (this.#waiting.length === 1) setImmediate(this.#give)
    })
  }

  readonly #give = (): void => {
    const resolve = this.#waiting.shift()
    if (this.#waiting.length > 0) setImmediate(this.#give)
    this.#begunMilliseconds = performance.now()
    resolve?.()
  }
}
