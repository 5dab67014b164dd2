import type { LockState } from '../engine/events/changes.ts'
import { numberKey, readNumber } from './keys.ts'
import type { ProjectionEnvironment } from './lmdb-environment.ts'
import { openTables, type Tables } from './table-list.ts'
import { decodeLockRow } from './tables/locks.ts'
import { keyOfOrderedRow } from './tables/version-keys.ts'
import { getVersionAt, sequenceOfRow } from './tables/versions.ts'

/** A version with a lock record. */
export interface LockedVersion {
  readonly bucketId: number
  readonly key: string
  readonly sequence: number
  /** Whether its version id is `null`. */
  readonly isNull: boolean
  readonly lock: LockState
}

export interface LockedPage {
  /** By bucket in the order of their creation, then by key, then the newest first. */
  readonly versions: readonly LockedVersion[]
  /** Where the next page begins; undefined at the end of the table. */
  readonly next: Buffer | undefined
}

/** Reading the lock table, from any thread. */
export class LockReader {
  readonly #environment: ProjectionEnvironment
  readonly #tables: Tables

  constructor(environment: ProjectionEnvironment) {
    this.#environment = environment
    this.#tables = openTables(environment)
  }

  /**
   * One page, as the table is now.
   * @param bucketId undefined for all buckets
   * @param start what the page before gave as `next`
   */
  page(bucketId: number | undefined, start: Buffer | undefined, limit: number): LockedPage {
    this.#environment.refresh()
    const begin = start ?? (bucketId === undefined ? undefined : numberKey(bucketId))
    const end = bucketId === undefined ? undefined : numberKey(bucketId + 1)
    const range = { ...(begin && { start: begin }), ...(end && { end }), limit: limit + 1 }
    const rows = [...this.#tables.locks.rows(range)]
    const versions = rows.slice(0, limit).map(({ key: row, value }) => {
      const place = { bucketId: readNumber(row, 0), key: keyOfOrderedRow(row), sequence: sequenceOfRow(row) }
      const version = getVersionAt(this.#tables, place.bucketId, place.key, place.sequence)
      return { ...place, isNull: version?.isNull === true, lock: decodeLockRow(value) }
    })
    return { versions, next: rows[limit]?.key }
  }
}
