import { type Database, open, type RootDatabase } from 'lmdb'

/**
 * The only file that knows LMDB. Keys and values are bytes; keys sort by their bytes, which is S3's order.
 *
 * The projections can be made again from the journal, so LMDB does not sync by itself (`noSync`): a commit costs
 * microseconds. Whether what is on disk can be trusted after a crash is decided when the store is opened.
 */
const PAGE_BYTES = 8192
const TABLES_MAXIMUM = 48

/** A pair of a row. Both are copies and stay valid. */
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

/** Reading one table. */
export interface TableReader {
  get(key: Buffer): Buffer | undefined
  rows(options: RangeOptions): Iterable<Row>
  keys(options: RangeOptions): Iterable<Buffer>
  count(): number
}

/** Writing one table; only inside `ProjectionEnvironment.write`. */
export interface Table extends TableReader {
  put(key: Buffer, value: Buffer): void
  remove(key: Buffer): void
}

class LmdbTable implements Table {
  readonly #database: Database<Buffer, Buffer>

  constructor(database: Database<Buffer, Buffer>) {
    this.#database = database
  }

  get(key: Buffer): Buffer | undefined {
    return this.#database.get(key)
  }

  rows(options: RangeOptions): Iterable<Row> {
    return this.#database.getRange(options)
  }

  keys(options: RangeOptions): Iterable<Buffer> {
    return this.#database.getKeys(options)
  }

  count(): number {
    return (this.#database.getStats() as { entryCount: number }).entryCount
  }

  put(key: Buffer, value: Buffer): void {
    this.#database.putSync(key, value)
  }

  remove(key: Buffer): void {
    this.#database.removeSync(key)
  }
}

const BYTES = { keyEncoding: 'binary', encoding: 'binary' } as const

/** The projections' files, opened by one writer and any number of readers in other threads. */
export class ProjectionEnvironment {
  readonly #root: RootDatabase<Buffer, Buffer>

  private constructor(root: RootDatabase<Buffer, Buffer>) {
    this.#root = root
  }

  /** Opens the environment in an existing directory. Throws when LMDB cannot read what is there. */
  static open(directory: string, options: { readonly readOnly: boolean }): ProjectionEnvironment {
    const root = open<Buffer, Buffer>({
      path: directory,
      ...BYTES,
      maxDbs: TABLES_MAXIMUM,
      pageSize: PAGE_BYTES,
      noSync: true,
      overlappingSync: false,
      cache: false,
      readOnly: options.readOnly,
    })
    return new ProjectionEnvironment(root)
  }

  table(name: string): Table {
    return new LmdbTable(this.#root.openDB<Buffer, Buffer>({ name, ...BYTES }))
  }

  /** Runs `work` in one write transaction: committed when it returns, rolled back when it throws. */
  write<T>(work: () => T): T {
    return this.#root.transactionSync(() => {
      return work()
    }) as T
  }

  /** Makes the next read in this thread see every commit so far. */
  refresh(): void {
    this.#root.resetReadTxn()
  }

  /** Puts everything committed so far on the medium. */
  sync(): Promise<void> {
    const root = this.#root as unknown as { sync(done: (error: Error | null) => void): void }
    return new Promise((resolve, reject) => {
      root.sync((error) => {
        if (error) reject(error)
        else resolve()
      })
    })
  }

  async close(): Promise<void> {
    await this.#root.close()
  }
}
