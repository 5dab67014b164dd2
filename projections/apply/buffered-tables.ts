import { putSeal } from './access-seal.ts'
import type { ProjectionEnvironment, RangeOptions, Row, StoredTable, Table } from '../lmdb-environment.ts'
import type { TABLES, Tables } from '../tables/table-list.ts'
import { HeldRows } from './held-rows.ts'
import { type HeldTable, writeHeld } from './write-held.ts'

/** Rows held back before they are written in order. */
const ROWS_MAXIMUM = 200_000
/** Bytes of their keys and values. */
const BYTES_MAXIMUM = 16 * 1024 ** 2

/** Writes rows to the same environment in another thread, one lot at a time. */
export interface RowsWriter {
  /**
   * Starts to write; the held rows do not change until `wait` has returned.
   * @param seal over the rows of access after them
   */
  begin(held: readonly HeldTable[], seal: Uint8Array | undefined): void
  /**
   * Waits until all that was begun is committed.
   * @throws the error that ended it
   */
  wait(): void
}

interface BufferOptions {
  /** Default: 200,000. */
  readonly rowsMaximum?: number | undefined
  /** Default: rows are written in this thread. */
  readonly writer?: RowsWriter | undefined
  /** The seal over the rows of access with all rows that are held. Default: they are not sealed. */
  readonly seal?: ((tables: Tables) => Uint8Array | undefined) | undefined
  /** Called with each lot of rows before it is written. */
  readonly lot?: ((held: readonly HeldTable[]) => void) | undefined
}

/**
 * Tables for replay. Writes are held in memory, the last one of a row wins, and are then written to LMDB sorted by key:
 * many times faster than one by one in the order of the journal.
 */
export class BufferedTables {
  readonly tables: Tables
  readonly #environment: ProjectionEnvironment
  readonly #stored: Tables<StoredTable>
  readonly #buffered: BufferedTable[]
  readonly #rowsMaximum: number
  readonly #writer: RowsWriter | undefined
  readonly #seal: BufferOptions['seal']
  readonly #lot: BufferOptions['lot']

  constructor(environment: ProjectionEnvironment, tables: Tables<StoredTable>, options: BufferOptions = {}) {
    this.#environment = environment
    this.#stored = tables
    this.#rowsMaximum = options.rowsMaximum ?? ROWS_MAXIMUM
    this.#writer = options.writer
    this.#seal = options.seal
    this.#lot = options.lot
    this.#buffered = Object.entries(tables).map(
      ([name, table]) => new BufferedTable(environment, name as keyof typeof TABLES, table as StoredTable),
    )
    this.tables = Object.fromEntries<Table>(this.#buffered.map((table) => [table.name, table])) as Tables
  }

  get isFull(): boolean {
    let rows = 0
    let bytes = 0
    for (const { held } of this.#buffered) {
      rows += held.count
      bytes += held.bytes
    }
    return rows >= this.#rowsMaximum || bytes >= BYTES_MAXIMUM
  }

  /** Writes all held rows, or hands them to the writer. Rows handed over before are written then. */
  flush(): void {
    const held = this.#buffered.filter((table) => table.held.count > 0)
    if (held.length === 0) return
    this.#lot?.(held)
    const seal = this.#seal?.(this.tables)
    if (this.#writer === undefined) {
      const last = () => {
        if (seal !== undefined) putSeal(this.#environment, seal)
      }
      writeHeld(this.#environment, this.#stored, held, { last })
      for (const table of held) table.held.clear()
      return
    }
    this.#settle(this.#writer)
    this.#writer.begin(held, seal)
    for (const table of held) table.handOver()
  }

  /** Writes everything held back: it is committed when this returns. */
  finish(): void {
    this.flush()
    if (this.#writer !== undefined) this.#settle(this.#writer)
  }

  #settle(writer: RowsWriter): void {
    writer.wait()
    for (const table of this.#buffered) table.forgetWritten()
    this.#environment.refresh()
  }
}

/** One table with its writes held back. */
class BufferedTable implements Table, HeldTable {
  readonly name: keyof typeof TABLES
  readonly #environment: ProjectionEnvironment
  readonly #table: StoredTable
  #held = new HeldRows()
  /** Rows that are being written by another thread. */
  #written = new HeldRows()

  constructor(environment: ProjectionEnvironment, name: keyof typeof TABLES, table: StoredTable) {
    this.#environment = environment
    this.name = name
    this.#table = table
  }

  get held(): HeldRows {
    return this.#held
  }

  get(key: Buffer): Buffer | undefined {
    for (const rows of [this.#held, this.#written]) {
      const row = rows.count === 0 ? undefined : rows.find(key)
      if (row === undefined) continue
      const value = rows.value(row)
      // Held values change in place.
      return value && Buffer.from(value)
    }
    const value = this.#table.get(key)
    // A read transaction that stays open keeps the writing thread from using pages again, and the file grows.
    if (this.#written.count > 0) this.#environment.refresh()
    return value
  }

  put(key: Buffer, value: Buffer): void {
    this.#held.put(key, value)
  }

  remove(key: Buffer): void {
    this.#held.put(key, undefined)
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

  /** Starts a new buffer: the held rows are being written now, and can still be read here. */
  handOver(): void {
    ;[this.#held, this.#written] = [this.#written, this.#held]
  }

  /** The handed-over rows can be read from the table now. */
  forgetWritten(): void {
    if (this.#written.count > 0) this.#written.clear()
  }
}
