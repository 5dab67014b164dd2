import type { ProjectionEnvironment, StoredTable } from '../lmdb-environment.ts'
import type { TABLES, Tables } from '../tables/table-list.ts'
import type { HeldRows } from './held-rows.ts'

/** Rows of one LMDB transaction: larger ones leave free lists that slow down every later commit. */
const ROWS_PER_TRANSACTION = 1000

/** The held rows of a table. */
export interface HeldTable<R = HeldRows> {
  readonly name: keyof typeof TABLES
  readonly held: R
}

/** Work at the edges of a lot of rows. */
interface LotEdges {
  /** In the transaction that removes the position; not called when all rows fit into one. */
  readonly first?: () => void
  /** In the transaction that writes the position. */
  readonly last?: () => void
  /** Called after each transaction. */
  readonly progress?: (() => void) | undefined
}

/**
 * Writes the held rows of tables in the order of keys. A crash in the middle leaves rows ahead of the position, and
 * replaying the same entries over them would count twice. So the position is removed first and written last, and
 * projections without one are rebuilt, unless the rows were kept (`kept-lot.ts`).
 */
export function writeHeld(
  environment: Pick<ProjectionEnvironment, 'write'>,
  tables: Tables<StoredTable>,
  all: readonly HeldTable[],
  { first, last, progress }: LotEdges = {},
): void {
  const rows = all.reduce((sum, { held }) => sum + held.count, 0)
  const write = <T>(work: () => T): T => {
    const result = environment.write(work)
    progress?.()
    return result
  }
  if (rows > ROWS_PER_TRANSACTION) {
    write(() => {
      for (const key of Array.from(tables.applied.keys({}))) tables.applied.remove(key)
      first?.()
    })
  }
  const ordered = [...all.filter(({ name }) => name !== 'applied'), ...all.filter(({ name }) => name === 'applied')]
  const writers = ordered.map(({ name, held }) => new RowWriter(tables[name], held))
  const writeSome = () => {
    for (let left = ROWS_PER_TRANSACTION; left > 0 && writers.length > 0; ) {
      const writer = writers[0] as RowWriter
      left -= writer.write(left)
      if (writer.isDone) writers.shift()
    }
    if (writers.length > 0) return true
    last?.()
    return false
  }
  while (write(writeSome));
}

/** Writes the rows that are held of one table in the order of their keys. */
class RowWriter {
  readonly #table: StoredTable
  readonly #held: HeldRows
  readonly #order: Uint32Array
  #at = 0
  /** Keys after this one are appended, which needs no search and fills the pages; undefined where the table is empty. */
  readonly #last: Buffer | undefined
  #appends = false

  constructor(table: StoredTable, held: HeldRows) {
    this.#table = table
    this.#held = held
    this.#order = held.sorted()
    this.#last = Array.from(table.keys({ reverse: true, limit: 1 }))[0]
  }

  get isDone(): boolean {
    return this.#at === this.#order.length
  }

  /** Writes the next rows, at most `rows`; returns how many, fewer at the end. */
  write(rows: number): number {
    const end = Math.min(this.#at + rows, this.#order.length)
    const begin = this.#at
    for (; this.#at < end; this.#at += 1) this.#writeRow(this.#order[this.#at] as number)
    return end - begin
  }

  #writeRow(row: number): void {
    const key = this.#held.key(row)
    const value = this.#held.value(row)
    this.#appends ||= this.#last === undefined || Buffer.compare(key, this.#last) > 0
    if (value === undefined) this.#table.remove(key)
    else if (this.#appends) this.#table.append(key, value)
    else this.#table.put(key, value)
  }
}
