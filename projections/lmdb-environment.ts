import type { EventEmitter } from 'node:events'
import { type Database, type DatabaseOptions, open, type PutOptions, type RootDatabase } from 'lmdb'
import { RowDamagedError } from '../engine/errors.ts'
import { copyOf, type DecodeRow, ENDED, isOfPages, RowBytes } from './row-bytes.ts'

/**
 * The only file that uses LMDB. Keys and values are bytes; keys sort by their bytes, which is S3's order.
 *
 * The projections can be rebuilt from the journal, so LMDB does not sync (`noSync`) and a commit costs microseconds.
 * Every row that is read has its sum checked (`row-sum.ts`).
 * The start of the store decides whether the files can be trusted after a crash.
 */
const PAGE_BYTES = 8192
const TABLES_MAXIMUM = 64
/** The file of an environment that holds its rows. The other file holds locks and is created again at each start. */
export const DATA_FILE = 'data.mdb'

/** Both are copies and stay valid. */
export interface Row {
  readonly key: Buffer
  readonly value: Buffer
}

export interface RangeOptions {
  /** Inclusive. */
  readonly start?: Buffer
  /** Exclusive. */
  readonly end?: Buffer
  readonly limit?: number
  readonly reverse?: boolean
}

/** @throws RowDamagedError, each method, for a row that is not as it was written */
export interface TableReader {
  get(key: Buffer): Buffer | undefined
  rows(options: RangeOptions): Iterable<Row>
  /** As `rows`, without a copy of anything: each row is what `decode` makes of its bytes while it has them. */
  decoded<T>(options: RangeOptions, decode: DecodeRow<T>): Iterable<T>
  keys(options: RangeOptions): Iterable<Buffer>
  count(): number
}

/** Writes are allowed only inside `ProjectionEnvironment.write`. */
export interface Table extends TableReader {
  put(key: Buffer, value: Buffer): void
  remove(key: Buffer): void
}

/** A table in LMDB. */
export interface StoredTable extends Table {
  /** Writes a row with a key that is greater than every key of the table: without a search, and in full pages. */
  append(key: Buffer, value: Buffer): void
}

interface EnvironmentOptions {
  readonly readOnly: boolean
  /** Called for each row that is read and is not as it was written, before the reader gets the error. */
  readonly damaged?: ((error: RowDamagedError) => void) | undefined
}

/** The library's types of `put` lack its options. */
const APPEND = { append: true } as PutOptions as number
const FIRST_KEY = Buffer.of(0)

/** With an encoder of keys the library leaves out keys with small first bytes, unless a start is given. */
function whole(options: RangeOptions): RangeOptions {
  return options.reverse === true ? { end: FIRST_KEY, ...options } : { start: FIRST_KEY, ...options }
}

function copyOfRow(keys: Buffer, start: number, end: number, value: Buffer, length: number): Row {
  return { key: copyOf(keys, start, end), value: copyOf(value, 0, length) }
}

class LmdbTable implements StoredTable {
  readonly #database: Database<Buffer, Buffer>
  readonly #bytes: RowBytes
  /** Whether the rows around a key that was not found are looked at. */
  readonly #doubts: boolean

  constructor(database: Database<Buffer, Buffer>, bytes: RowBytes, doubts: boolean) {
    this.#database = database
    this.#bytes = bytes
    this.#doubts = doubts
  }

  get(key: Buffer): Buffer | undefined {
    const value = this.#bytes.copied(key, this.#database)
    if (value === undefined && this.#doubts) this.#requireAbsent(key)
    return value
  }

  /** A search that a changed key misleads ends at the row with that key, or between rows that are not around its own. */
  #requireAbsent(key: Buffer): void {
    for (const after of this.keys({ start: key, limit: 1 })) {
      if (Buffer.compare(after, key) <= 0) this.#bytes.fail(key, 0, key.length)
    }
    for (const before of this.keys({ start: key, limit: 1, reverse: true })) {
      if (Buffer.compare(before, key) >= 0) this.#bytes.fail(key, 0, key.length)
    }
  }

  rows(options: RangeOptions): Iterable<Row> {
    return this.decoded(options, copyOfRow)
  }

  *decoded<T>(options: RangeOptions, decode: DecodeRow<T>): Iterable<T> {
    const { end, ...others } = options
    const ascends = options.reverse !== true
    const rows = this.#database.getRange(whole(ascends ? others : options))[Symbol.iterator]()
    try {
      for (;;) {
        const step = this.#bytes.lend(decode, rows, ascends ? end : undefined)
        if (step.done === true || step.value.value === ENDED) return
        yield step.value.value
      }
    } finally {
      rows.return?.()
    }
  }

  keys(options: RangeOptions): Iterable<Buffer> {
    return this.decoded(options, copyOf)
  }

  count(): number {
    return (this.#database.getStats() as { entryCount: number }).entryCount
  }

  put(key: Buffer, value: Buffer): void {
    this.#database.putSync(key, this.#bytes.sealed(key, value))
  }

  append(key: Buffer, value: Buffer): void {
    // Inside a transaction this writes at once; the library has no other name for it.
    void this.#database.put(key, this.#bytes.sealed(key, value), APPEND)
  }

  remove(key: Buffer): void {
    this.#database.removeSync(key)
  }
}

/**
 * The projections' files, opened by one writer and any number of readers in other threads.
 *
 * All reads of a thread go through one read transaction. It ends by itself soon after the turn of the event loop, so it
 * never holds old pages for long, and at once with `refresh`; the next read starts a new one.
 */
export class ProjectionEnvironment {
  readonly directory: string
  readonly #root: RootDatabase<Buffer, Buffer>
  readonly #isReadOnly: boolean
  /** Called for each damaged row. */
  readonly damaged: (error: RowDamagedError) => void
  #readTransaction = 0
  readonly #begun = () => {
    this.#readTransaction += 1
  }

  private constructor(directory: string, root: RootDatabase<Buffer, Buffer>, options: EnvironmentOptions) {
    this.directory = directory
    this.#root = root
    this.#isReadOnly = options.readOnly
    this.damaged = options.damaged ?? (() => undefined)
  }

  /** Number of read transactions begun so far; reads go through the last of them. */
  get readTransaction(): number {
    return this.#readTransaction
  }

  /** Opens the environment in an existing directory. Throws when LMDB cannot read its files. */
  static open(directory: string, options: EnvironmentOptions): ProjectionEnvironment {
    const root = open<Buffer, Buffer>({
      path: directory,
      keyEncoding: 'binary',
      encoding: 'binary',
      maxDbs: TABLES_MAXIMUM,
      pageSize: PAGE_BYTES,
      noSync: true,
      overlappingSync: false,
      cache: false,
      readOnly: options.readOnly,
    })
    return new ProjectionEnvironment(directory, root, options)
  }

  table(name: string): StoredTable {
    return this.#open(name, new RowBytes(name, this.damaged), this.#isReadOnly)
  }

  /** The rows of a table of any layout as they are stored: values with their sums, which are not checked. */
  rawTable(name: string): TableReader {
    return this.#open(name, new RowBytes(name, undefined), false)
  }

  #open(name: string, bytes: RowBytes, doubts: boolean): StoredTable {
    // The library's types lack the encoder of keys.
    const options: DatabaseOptions = { name, keyEncoder: bytes.keyEncoder, encoder: bytes.encoder } as DatabaseOptions
    const database = this.#root.openDB<Buffer, Buffer>(name, options)
    // Emitted by the database whose read starts the transaction. lmdb's own `on` fails for it, and its types lack it.
    const emitter = database as unknown as EventEmitter
    emitter.addListener('begin-transaction', this.#begun)
    return new LmdbTable(database, bytes, doubts)
  }

  /**
   * Runs `work` in one write transaction: committed when it returns, rolled back when it throws. Where damaged pages are why it throws,
   * that is noted, and the error is LMDB's.
   */
  write<T>(work: () => T): T {
    try {
      return this.#root.transactionSync(work) as T
    } catch (error) {
      if (isOfPages(error)) this.damaged(new RowDamagedError('', '', error))
      throw error
    }
  }

  /** Makes the next read of this thread see every commit so far. Returns the number of the transaction it will begin. */
  refresh(): number {
    this.#root.resetReadTxn()
    return this.#readTransaction + 1
  }

  /** Syncs everything committed so far. */
  sync(): Promise<void> {
    const root = this.#root as unknown as { sync(done: (error: Error | null) => void): void }
    return new Promise((resolve, reject) => {
      root.sync((error) => {
        if (error) reject(error)
        else resolve()
      })
    })
  }

  close(): Promise<void> {
    return this.#root.close()
  }
}
