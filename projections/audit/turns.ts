/** How long one turn may take. */
const TURN_MILLISECONDS = 5

/**
 * Lets long work share a thread. It is done in turns, one at a time for all callers together. Between two turns the event
 * loop runs once, so other requests of the thread wait for one turn at most.
 *
 * A caller waits for `next` before it works, again whenever `isOver`, and after every other wait.
 */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #begunMilliseconds = 0

  /** Whether the time of the present turn is used up. */
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
