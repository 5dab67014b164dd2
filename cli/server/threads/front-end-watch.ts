import type { ThreadAnswer } from './thread-question.ts'

interface WatchedFrontEnd {
  readonly name: string
  ask(): Promise<ThreadAnswer>
}

interface Patience {
  readonly lookMilliseconds: number
  /** Looks in a row without an answer before the front end counts as hung. */
  readonly looksMaximum: number
}

const PATIENCE: Patience = { lookMilliseconds: 1000, looksMaximum: 10 }

/**
 * Finds a front end whose event loop has stopped. Looks are counted and not time: while the host sleeps, or the main thread
 * itself is stopped or busy, there are no looks, and the front end has answered by the next one but one.
 */
export class FrontEndWatch {
  readonly #frontEnds: () => readonly WatchedFrontEnd[]
  readonly #onStuck: (name: string, seconds: number) => void
  readonly #patience: Patience
  readonly #timer: NodeJS.Timeout
  /** Looks without an answer, by front end; 0 right after an answer. */
  readonly #unanswered = new Map<string, number>()

  /** @param onStuck called once for each look at a front end that has not answered for too long */
  constructor(
    frontEnds: () => readonly WatchedFrontEnd[],
    onStuck: (name: string, seconds: number) => void,
    patience = PATIENCE,
  ) {
    this.#frontEnds = frontEnds
    this.#onStuck = onStuck
    this.#patience = patience
    this.#timer = setInterval(() => this.look(), patience.lookMilliseconds).unref()
  }

  look(): void {
    const { lookMilliseconds, looksMaximum } = this.#patience
    for (const frontEnd of this.#frontEnds()) {
      const unanswered = this.#unanswered.get(frontEnd.name)
      if (unanswered === undefined) {
        this.#unanswered.set(frontEnd.name, 0)
        void frontEnd.ask().then(() => this.#unanswered.delete(frontEnd.name))
        continue
      }
      this.#unanswered.set(frontEnd.name, unanswered + 1)
      if (unanswered + 1 >= looksMaximum) this.#onStuck(frontEnd.name, (looksMaximum * lookMilliseconds) / 1000)
    }
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
