import { type VolumeNumber, volumeNumberOf } from '../../engine/brands.ts'
import type { AppliedPosition } from '../../engine/journal/positions.ts'
import type { StateStore, StateTransaction } from '../../engine/state-ports.ts'
import { readNumber } from '../keys.ts'
import type { ProjectionEnvironment } from '../lmdb-environment.ts'
import { TableTransaction } from './state-transaction.ts'
import { openTables, type Tables } from '../tables/table-list.ts'
import { getApplied, SCHEMA_VERSION } from '../tables/applied.ts'
import { volumeUsage } from '../tables/usage.ts'

/** The projections as the engine uses them. */
export class ProjectionStateStore implements StateStore {
  readonly #environment: ProjectionEnvironment
  readonly #tables: Tables

  constructor(environment: ProjectionEnvironment) {
    this.#environment = environment
    this.#tables = openTables(environment)
  }

  /** Position of the rows, if their layout is that of this program. */
  applied(): AppliedPosition | undefined {
    const found = getApplied(this.#tables.applied)
    return found?.schemaVersion === SCHEMA_VERSION ? found.position : undefined
  }

  /** Version of the layout of the rows; undefined where there are none. */
  get schemaVersion(): number | undefined {
    return getApplied(this.#tables.applied)?.schemaVersion
  }

  update<T>(work: (state: StateTransaction) => T): T {
    return this.#environment.write(() => work(new TableTransaction(this.#tables)))
  }

  volumeEnd(): { readonly volume: VolumeNumber; readonly end: number } | undefined {
    for (const { key, value } of this.#tables.volumeUsage.rows({ reverse: true, limit: 1 })) {
      return { volume: volumeNumberOf(readNumber(key, 0)), end: volumeUsage.decode(value).end }
    }
    return undefined
  }
}
