import { isRowDamage, type RowDamagedError } from '../engine/errors.ts'
import type { RowWalk } from '../projections/row-walk.ts'
import type { BackgroundWorker, StepResult } from './worker.ts'

/** Rows of a step, of which there is one a second: 1 to 2 ms of the main thread. */
const ROWS = 2000
/** From the begin of one pass to the begin of the next, at least. */
const PASS_MILLISECONDS = 24 * 60 * 60 * 1000

interface CheckRowsOptions {
  /** Milliseconds since some moment. */
  readonly timer: () => number
  /** Called once: the next start derives all rows again. */
  readonly onDamage: (error: RowDamagedError) => void
}

/** Reads all rows of the projections once a day, for their sums. */
export class RowCheck implements BackgroundWorker {
  readonly name = 'check-rows'
  readonly #walk: Pick<RowWalk, 'next'>
  readonly #options: CheckRowsOptions
  #dueAt = 0
  #passes = 0
  #begun: number | undefined

  constructor(walk: Pick<RowWalk, 'next'>, options: CheckRowsOptions) {
    this.#walk = walk
    this.#options = options
  }

  get status(): string {
    return `${this.#passes} passes over all rows`
  }

  async step(): Promise<StepResult> {
    const now = this.#options.timer()
    if (this.#begun === undefined && now < this.#dueAt) return 'idle'
    this.#begun ??= now
    try {
      if (this.#walk.next(ROWS)) return 'idle'
    } catch (error) {
      if (!isRowDamage(error)) throw error
      this.#options.onDamage(error as RowDamagedError)
      return 'done'
    }
    this.#passes += 1
    this.#dueAt = this.#begun + PASS_MILLISECONDS
    this.#begun = undefined
    return 'idle'
  }
}
