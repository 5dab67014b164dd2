import type { ProjectionEnvironment } from '../lmdb-environment.ts'
import { openTables, type Tables } from '../tables/table-list.ts'
import { CatalogSnapshot } from './catalog-snapshot.ts'

/** Reads the catalog, from any thread. */
export class CatalogReader {
  readonly #environment: ProjectionEnvironment
  readonly #tables: Tables

  constructor(environment: ProjectionEnvironment) {
    this.#environment = environment
    this.#tables = openTables(environment)
  }

  /** The state of this moment: everything that was acknowledged before is in it. */
  snapshot(): CatalogSnapshot {
    return new CatalogSnapshot(this.#environment, this.#tables)
  }
}
