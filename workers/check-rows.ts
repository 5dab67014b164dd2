import { isRowDamage, type RowDamagedError } from '../engine/errors.ts'
import type { RowWalk } from '../projections/row-walk.ts'
import { DailyPasses } from './daily-passes.ts'
import type { BackgroundWorker, StepResult } from './worker.ts'

/** Rows of a step, of which there is one a second: 1 to 2 ms of the main thread, and 172 million rows a day. */
const ROWS = 2000

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
  readonly #passes: DailyPasses

  constructor(walk: Pick<RowWalk, 'next'>, options: CheckRowsOptions) {
    this.#walk = walk
    this.#options = options
    this.#passes = new DailyPasses(options.timer)
  }

  get status(): string {
    return `${this.#passes.count} passes over all rows`
  }

  async step(): Promise<StepResult> {
    if (!this.#passes.isOn()) return 'idle'
    try {
      if (!this.#walk.next(ROWS)) this.#passes.end()
      return 'idle'
    } catch (error) {
      if (!isRowDamage(error)) throw error
      this.#options.onDamage(error as RowDamagedError)
      return 'done'
    }
  }
}
