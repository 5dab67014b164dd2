import type { Sequence } from '../../engine/brands.ts'
import type { AppliedPosition } from '../../engine/journal/positions.ts'
import type { CheckpointState } from '../../engine/state-ports.ts'
import type { ProjectionEnvironment } from '../lmdb-environment.ts'
import { getApplied } from '../tables/applied.ts'
import { checkpointsFrom, getLastCheckpoint, getLastRestore } from '../tables/checkpoints.ts'
import { openTables, type Tables } from '../tables/table-list.ts'

/** How far the journal is, and what of it was signed. */
interface SigningState {
  readonly applied: AppliedPosition | undefined
  readonly last: CheckpointState | undefined
  /** The last entry that says that the journal was restored from a backup. */
  readonly restored: Sequence | undefined
}

/** Reads checkpoints, from any thread. Every call sees what was acknowledged before it, and nothing that is not durable. */
export class CheckpointReader {
  readonly #environment: ProjectionEnvironment
  readonly #tables: Tables

  constructor(environment: ProjectionEnvironment) {
    this.#environment = environment
    this.#tables = openTables(environment)
  }

  state(): SigningState {
    this.#environment.refresh()
    return {
      applied: getApplied(this.#tables.applied)?.position,
      last: getLastCheckpoint(this.#tables.checkpoints),
      restored: getLastRestore(this.#tables.restores),
    }
  }

  last(): CheckpointState | undefined {
    this.#environment.refresh()
    return getLastCheckpoint(this.#tables.checkpoints)
  }

  /** Checkpoints whose entries come after a sequence, the oldest first. */
  after(sequence: number, limit: number): CheckpointState[] {
    this.#environment.refresh()
    return checkpointsFrom(this.#tables.checkpoints, sequence + 1, limit)
  }

  /** The checkpoint of this size. Each covers the entry of the one before, so it is the first whose entry is not covered. */
  ofSize(size: number): CheckpointState | undefined {
    this.#environment.refresh()
    const [found] = checkpointsFrom(this.#tables.checkpoints, size, 1)
    return found?.size === size ? found : undefined
  }
}
