import type { BucketState } from '../../engine/state-ports.ts'
import type { ProjectionEnvironment } from '../lmdb-environment.ts'
import { openTables, type Tables } from '../tables/table-list.ts'
import { CatalogSnapshot } from './catalog-snapshot.ts'
import type { CommitCounts } from './commit-counts.ts'

/** Buckets that are kept; full, all are forgotten. */
const BUCKETS_MAXIMUM = 1024

/**
 * Reads the catalog, from any thread. With counts of commits it reads less often what cannot have changed
 * (spec/decisions/0083-what-a-front-end-keeps.md).
 */
export class CatalogReader {
  readonly #environment: ProjectionEnvironment
  readonly #tables: Tables
  readonly #counts: CommitCounts | undefined
  #commits: number | undefined
  #settings: number | undefined
  #buckets = new Map<string, BucketState>()

  constructor(environment: ProjectionEnvironment, counts?: CommitCounts) {
    this.#environment = environment
    this.#tables = openTables(environment)
    this.#counts = counts
  }

  /** The state of this moment: everything that was acknowledged before is in it. */
  snapshot(): CatalogSnapshot {
    const counts = this.#counts
    if (counts === undefined) return new CatalogSnapshot(this.#environment, this.#tables, this.#environment.refresh())
    const { settings } = counts
    if (settings !== this.#settings || this.#buckets.size >= BUCKETS_MAXIMUM) {
      this.#settings = settings
      this.#buckets = new Map()
    }
    // Read after the settings, since it is counted before them.
    const { commits } = counts
    if (commits !== this.#commits) {
      this.#commits = commits
      this.#environment.refresh()
    }
    return new CatalogSnapshot(this.#environment, this.#tables, undefined, this.#buckets)
  }
}
