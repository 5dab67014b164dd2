import type { AppliedPosition, StateStore, StateTransaction } from '../engine/state-ports.ts'
import { readNumber } from './keys.ts'
import type { ProjectionEnvironment } from './lmdb-environment.ts'
import { TableTransaction } from './state-transaction.ts'
import { openTables, type Tables } from './table-list.ts'
import { getApplied, SCHEMA_VERSION } from './tables/applied.ts'
import { decodeVolumeUsage } from './tables/usage.ts'

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

  /** Rows of another layout are there: they must be made again. */
  get isOfAnotherVersion(): boolean {
    const found = getApplied(this.#tables.applied)
    return found !== undefined && found.schemaVersion !== SCHEMA_VERSION
  }

  update<T>(work: (state: StateTransaction) => T): T {
    return this.#environment.write(() => {
      return work(new TableTransaction(this.#tables))
    })
  }

  volumeEnd(): { readonly volume: number; readonly end: number } | undefined {
    for (const { key, value } of this.#tables.volumeUsage.rows({ reverse: true, limit: 1 })) {
      return { volume: readNumber(key, 0), end: decodeVolumeUsage(value).end }
    }
    return undefined
  }
}
