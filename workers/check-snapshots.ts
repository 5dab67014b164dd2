import type { DamagedSnapshot, SnapshotWalk } from '../projections/snapshots/snapshot-walk.ts'
import { DailyPasses } from './daily-passes.ts'
import type { BackgroundWorker, StepResult } from './worker.ts'

/** Bytes of a step, of which there is one a second: 1 to 3 ms of the main thread, and 84 GiB a day. */
export const SNAPSHOT_PIECE_BYTES = 2 ** 20

interface CheckSnapshotsOptions {
  /** Milliseconds since some moment. */
  readonly timer: () => number
  /** Its file is removed. */
  readonly onDamage: (damaged: DamagedSnapshot) => void
}

/** Reads all snapshots of the projections once a day: otherwise only a start that needs one would find it damaged. */
export class SnapshotCheck implements BackgroundWorker {
  readonly name = 'check-snapshots'
  readonly #walk: Pick<SnapshotWalk, 'next' | 'close'>
  readonly #options: CheckSnapshotsOptions
  readonly #passes: DailyPasses

  constructor(walk: Pick<SnapshotWalk, 'next' | 'close'>, options: CheckSnapshotsOptions) {
    this.#walk = walk
    this.#options = options
    this.#passes = new DailyPasses(options.timer)
  }

  get status(): string {
    return `${this.#passes.count} passes over all snapshots`
  }

  async step(): Promise<StepResult> {
    if (!this.#passes.isOn()) return 'idle'
    const result = this.#walk.next()
    if (result === 'over') this.#passes.end()
    else if (result !== 'more') this.#options.onDamage(result)
    return 'idle'
  }

  async close(): Promise<void> {
    this.#walk.close()
  }
}
