/** How long one turn may take. */
const TURN_MILLISECONDS = 5

/**
 * The turns of an owner. A caller waits for `next` before it works, again whenever `isOver`, and after every other wait.
 */
export interface Turns {
  /** Whether the time of the present turn is used up. */
  readonly isOver: boolean
  /** Resolves when it is the caller's turn; rejects when the work is not wanted any more. */
  next(): Promise<void>
}

/**
 * Lets long work share a thread. It is done in turns, one at a time for all callers together. Between two turns the
 * event loop runs once, so other requests of the thread wait for one turn at most. Owners take turns, however many
 * callers each has: with one other owner, a caller gets every second turn. See spec/decisions/0042.
 */
export class TurnOrder {
  /** Callers that wait, by owner; the owner whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #begunMilliseconds = 0

  of(owner: string): Turns {
    const isOver = () => performance.now() - this.#begunMilliseconds >= TURN_MILLISECONDS
    return {
      get isOver() {
        return isOver()
      },
      next: () => new Promise((resolve) => this.#wait(owner, resolve)),
    }
  }

  #wait(owner: string, resolve: () => void): void {
    if (this.#waiting.size === 0) setImmediate(this.#give)
    const line = this.#waiting.get(owner)
    if (line === undefined) this.#waiting.set(owner, [resolve])
    else line.push(resolve)
  }

  readonly #give = (): void => {
    const [first] = this.#waiting
    if (first === undefined) return
    const [owner, [resolve, ...others]] = first
    this.#waiting.delete(owner)
    if (others.length > 0) this.#waiting.set(owner, others)
    if (this.#waiting.size > 0) setImmediate(this.#give)
    this.#begunMilliseconds = performance.now()
    resolve?.()
  }
}

/** Of all long work of this thread. */
export const threadTurns = new TurnOrder()

/** Of work that no client asked for, such as deliveries. */
export const serverTurns = threadTurns.of('server')
