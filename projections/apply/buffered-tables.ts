import type { ProjectionEnvironment, RangeOptions, Row, Table } from '../lmdb-environment.ts'
import type { Tables } from '../tables/table-list.ts'

/** Rows held back before they are written in order. */
const ROWS_MAXIMUM = 100_000
/** Rows of one LMDB transaction: larger ones leave free lists that slow down every later commit. */
const ROWS_PER_TRANSACTION = 1000

/**
 * Tables for replay. Writes are held in memory, the last one of a row wins, and are then written to LMDB sorted by key:
 * many times faster than one by one in the order of the journal.
 */
export class BufferedTables {
  readonly tables: Tables
  readonly #environment: ProjectionEnvironment
  readonly #buffered: BufferedTable[]
  readonly #rowsMaximum: number

  constructor(environment: ProjectionEnvironment, tables: Tables, rowsMaximum = ROWS_MAXIMUM) {
    this.#environment = environment
    this.#rowsMaximum = rowsMaximum
    const wrapped = Object.entries(tables).map(([name, table]) => [name, new BufferedTable(table as Table)] as const)
    this.tables = Object.fromEntries<Table>(wrapped) as Tables
    // Written last: the position must not become visible before the rows that it describes.
    const position = this.tables.applied
    this.#buffered = wrapped.map(([, table]) => table).filter((table) => table !== position)
    this.#buffered.push(position as BufferedTable)
  }

  get isFull(): boolean {
    return this.#buffered.reduce((rows, table) => rows + table.pending, 0) >= this.#rowsMaximum
  }

  /**
   * Writes everything held back. A crash in the middle leaves rows ahead of the position, and replaying the same entries
   * over them would count twice. So the position is removed first, and projections without one are rebuilt.
   */
  flush(): void {
    const writes = this.#buffered.flatMap((table) => table.take())
    if (writes.length === 0) return
    if (writes.length > ROWS_PER_TRANSACTION) {
      this.#environment.write(() => {
        ;(this.#buffered.at(-1) as BufferedTable).clearNow()
      })
    }
    for (let at = 0; at < writes.length; at += ROWS_PER_TRANSACTION) {
      const end = Math.min(at + ROWS_PER_TRANSACTION, writes.length)
      this.#environment.write(() => {
        for (let index = at; index < end; index += 1) write(writes[index] as HeldRow)
      })
    }
  }
}

/** A row to be written, or removed when it has no value. */
interface HeldRow {
  readonly table: Table
  readonly name: string
  readonly key: Buffer
  value: Buffer | undefined
}

function write({ table, key, value }: HeldRow): void {
  if (value === undefined) table.remove(key)
  else table.put(key, value)
}

/** One table with its writes held back. Keys are held as latin1 strings, which compare and sort by bytes. */
class BufferedTable implements Table {
  readonly #table: Table
  readonly #rows = new Map<string, HeldRow>()

  constructor(table: Table) {
    this.#table = table
  }

  get pending(): number {
    return this.#rows.size
  }

  get(key: Buffer): Buffer | undefined {
    const held = this.#rows.get(key.toString('latin1'))
    return held === undefined ? this.#table.get(key) : held.value
  }

  put(key: Buffer, value: Buffer): void {
    this.#hold(key, value)
  }

  remove(key: Buffer): void {
    this.#hold(key, undefined)
  }

  /** Replay never scans; a scan would not see the rows that are held back. */
  rows(_options: RangeOptions): Iterable<Row> {
    throw new Error('a table under replay cannot be scanned')
  }

  decoded<T>(): Iterable<T> {
    throw new Error('a table under replay cannot be scanned')
  }

  keys(_options: RangeOptions): Iterable<Buffer> {
    throw new Error('a table under replay cannot be scanned')
  }

  count(): number {
    throw new Error('a table under replay cannot be counted')
  }

  /** Returns the rows that are held back, in the order of their keys, and forgets them. */
  take(): HeldRow[] {
    const rows = [...this.#rows.values()].sort(byName)
    this.#rows.clear()
    return rows
  }

  /** Removes every row at once, past the buffer. */
  clearNow(): void {
    for (const key of Array.from(this.#table.keys({}))) this.#table.remove(key)
  }

  #hold(key: Buffer, value: Buffer | undefined): void {
    const name = key.toString('latin1')
    const held = this.#rows.get(name)
    if (held === undefined) this.#rows.set(name, { table: this.#table, name, key, value })
    else held.value = value
  }
}

function byName(left: HeldRow, right: HeldRow): number {
  if (left.name === right.name) return 0
  return left.name < right.name ? -1 : 1
}
