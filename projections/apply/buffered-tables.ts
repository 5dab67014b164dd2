import type { ProjectionEnvironment, RangeOptions, Row, StoredTable, Table } from '../lmdb-environment.ts'
import type { Tables } from '../tables/table-list.ts'
import { HeldRows } from './held-rows.ts'

/** Rows held back before they are written in order. */
const ROWS_MAXIMUM = 400_000
/** Bytes of their keys and values. */
const BYTES_MAXIMUM = 64 * 1024 ** 2
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

  constructor(environment: ProjectionEnvironment, tables: Tables<StoredTable>, rowsMaximum = ROWS_MAXIMUM) {
    this.#environment = environment
    this.#rowsMaximum = rowsMaximum
    const wrapped = Object.entries(tables).map(
      ([name, table]) => [name, new BufferedTable(table as StoredTable)] as const,
    )
    this.tables = Object.fromEntries<Table>(wrapped) as Tables
    // Written last: the position must not become visible before the rows that it describes.
    const position = this.tables.applied
    this.#buffered = wrapped.map(([, table]) => table).filter((table) => table !== position)
    this.#buffered.push(position as BufferedTable)
  }

  get isFull(): boolean {
    let bytes = 0
    for (const { held } of this.#buffered) bytes += held.bytes
    return bytes >= BYTES_MAXIMUM || this.#rows >= this.#rowsMaximum
  }

  get #rows(): number {
    let rows = 0
    for (const { held } of this.#buffered) rows += held.count
    return rows
  }

  /**
   * Writes everything held back. A crash in the middle leaves rows ahead of the position, and replaying the same entries
   * over them would count twice. So the position is removed first, and projections without one are rebuilt.
   */
  flush(): void {
    const rows = this.#rows
    if (rows === 0) return
    if (rows > ROWS_PER_TRANSACTION) {
      this.#environment.write(() => {
        ;(this.#buffered.at(-1) as BufferedTable).clearNow()
      })
    }
    const writers = this.#buffered.filter(({ held }) => held.count > 0).map((table) => table.writer())
    const writeSome = () => {
      for (let left = ROWS_PER_TRANSACTION; left > 0 && writers.length > 0; ) {
        left -= (writers[0] as RowWriter).write(left)
        if (left > 0) writers.shift()
      }
      return writers.length > 0
    }
    while (this.#environment.write(writeSome));
    for (const { held } of this.#buffered) held.clear()
  }
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

  /** Writes the next rows, at most so many; returns how many, fewer at the end. */
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

/** One table with its writes held back. */
class BufferedTable implements Table {
  readonly held = new HeldRows()
  readonly #table: StoredTable

  constructor(table: StoredTable) {
    this.#table = table
  }

  get(key: Buffer): Buffer | undefined {
    const row = this.held.find(key)
    if (row === undefined) return this.#table.get(key)
    const value = this.held.value(row)
    // What is held changes in place.
    return value && Buffer.from(value)
  }

  put(key: Buffer, value: Buffer): void {
    this.held.put(key, value)
  }

  remove(key: Buffer): void {
    this.held.put(key, undefined)
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

  writer(): RowWriter {
    return new RowWriter(this.#table, this.held)
  }

  /** Removes every row at once, past the buffer. */
  clearNow(): void {
    for (const key of Array.from(this.#table.keys({}))) this.#table.remove(key)
  }
}
