import { RowDamagedError } from '../engine/errors.ts'
import type { ProjectionEnvironment, TableReader } from './lmdb-environment.ts'
import { TABLES } from './tables/table-list.ts'

const START = Buffer.of(0)
/** Rows of a table that a walk of a server reads at once, to compare their number with LMDB's: 10 to 20 ms, once a day. */
export const COUNTED_ROWS_MAXIMUM = 20_000

/**
 * Reads every row of every table, some at a time, so that a damaged row is found before a request needs it, and a key
 * that a search can no longer find. The count of a page may be damaged as well, whose last rows are then nowhere: rows of small tables are
 * read in one step and counted.
 */
export class RowWalk {
  readonly #environment: Pick<ProjectionEnvironment, 'table' | 'refresh' | 'damaged'>
  readonly #tables: readonly (readonly [name: string, table: TableReader])[]
  readonly #countedMaximum: number
  #table = 0
  #start = START

  /** @param countedMaximum rows of the largest table that is read in one step; 0: none is */
  constructor(environment: Pick<ProjectionEnvironment, 'table' | 'refresh' | 'damaged'>, countedMaximum = 0) {
    this.#environment = environment
    this.#tables = Object.values(TABLES).map((name) => [name, environment.table(name)])
    this.#countedMaximum = countedMaximum
  }

  /**
   * Reads at most `limit` further rows, or the rest of them and a table that is counted.
   * @returns whether there are more; if not, the next call is at the beginning again
   * @throws RowDamagedError
   */
  next(limit: number): boolean {
    let left = limit
    while (left > 0 && this.#table < this.#tables.length) {
      const [name, table] = this.#tables[this.#table] as readonly [string, TableReader]
      const isCounted = this.#start === START && table.count() <= this.#countedMaximum
      const read = isCounted ? this.#counted(name, table) : this.#some(table, left)
      if (isCounted || read < left) {
        this.#table += 1
        this.#start = START
      }
      left -= read
    }
    if (this.#table < this.#tables.length) return true
    this.#table = 0
    return false
  }

  #some(table: TableReader, limit: number): number {
    let read = 0
    for (const key of table.keys({ start: this.#start, limit })) {
      this.#start = Buffer.concat([key, START])
      read += 1
    }
    return read
  }

  /** All rows of a table, by one transaction, which another thread's writes do not change. */
  #counted(name: string, table: TableReader): number {
    if (!isWhole(table)) {
      // So that nothing but damage can be why.
      this.#environment.refresh()
      if (!isWhole(table)) {
        const error = new RowDamagedError(name, '')
        this.#environment.damaged(error)
        throw error
      }
    }
    return table.count()
  }
}

/** Whether as many rows can be read as LMDB counts. @throws RowDamagedError */
function isWhole(table: TableReader): boolean {
  let read = 0
  for (const _ of table.keys({})) read += 1
  return read === table.count()
}

/**
 * Reads the first row of every table, and all rows of as many tables as have at most `rowsMaximum` together: LMDB counts them, so a
 * page that lost some shows. While nothing else writes.
 * @returns the name of a table that lacks rows, if there is one
 * @throws RowDamagedError
 */
export function tableWithoutRows(
  environment: Pick<ProjectionEnvironment, 'table'>,
  rowsMaximum: number,
): string | undefined {
  let left = rowsMaximum
  for (const name of Object.values(TABLES)) {
    const table = environment.table(name)
    const count = table.count()
    const isRead = count <= left
    if (!isRead) for (const _ of table.keys({ limit: 1 }));
    else if (!isWhole(table)) return name
    else left -= count
  }
  return undefined
}
