import type { ProjectionEnvironment, TableReader } from './lmdb-environment.ts'
import { TABLES } from './tables/table-list.ts'

const START = Buffer.of(0)

/**
 * Reads every row of every table, some at a time, so that a damaged row is found before a request needs it, and a key
 * that a search can no longer find.
 */
export class RowWalk {
  readonly #tables: readonly TableReader[]
  #table = 0
  #start = START

  constructor(environment: Pick<ProjectionEnvironment, 'table'>) {
    this.#tables = Object.values(TABLES).map((name) => environment.table(name))
  }

  /**
   * Reads at most `limit` further rows.
   * @returns whether there are more; if not, the next call is at the beginning again
   * @throws RowDamagedError
   */
  next(limit: number): boolean {
    let left = limit
    while (left > 0 && this.#table < this.#tables.length) {
      let read = 0
      for (const key of (this.#tables[this.#table] as TableReader).keys({ start: this.#start, limit: left })) {
        this.#start = Buffer.concat([key, START])
        read += 1
      }
      if (read < left) {
        this.#table += 1
        this.#start = START
      }
      left -= read
    }
    if (this.#table < this.#tables.length) return true
    this.#table = 0
    return false
  }
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
    let read = 0
    for (const _ of table.keys(isRead ? {} : { limit: 1 })) read += 1
    if (isRead && read !== count) return name
    if (isRead) left -= count
  }
  return undefined
}
