/** Projections in memory: what LMDB does for a store of a few rows, without its files, hundreds of times a second. */
import {
  ProjectionEnvironment,
  type RangeOptions,
  type Row,
  type StoredTable,
} from '../../../projections/lmdb-environment.ts'
import type { DecodeRow } from '../../../projections/row-bytes.ts'

/** Rows of a table in the order of their keys. Never changed: who writes makes another. */
type Rows = readonly Row[]
/** By name. */
type Tables = ReadonlyMap<string, Rows>

const NO_TABLES: Tables = new Map()

/** Directories of projections, each with what was last committed. */
export class MemoryProjections {
  readonly #directories: Map<string, Tables>

  constructor(directories: ReadonlyMap<string, Tables> = new Map()) {
    this.#directories = new Map(directories)
  }

  /** What another process finds, or this one once more: everything committed and nothing of a running transaction. */
  copy(): MemoryProjections {
    return new MemoryProjections(this.#directories)
  }

  has(directory: string): boolean {
    return this.#directories.has(directory)
  }

  make(directory: string): void {
    if (!this.has(directory)) this.commit(directory, NO_TABLES)
  }

  remove(directory: string): void {
    this.#directories.delete(directory)
  }

  /** As a directory is renamed: in place of what had the name. */
  rename(from: string, to: string): void {
    this.#directories.set(to, this.committed(from))
    this.remove(from)
  }

  committed(directory: string): Tables {
    return this.#directories.get(directory) ?? NO_TABLES
  }

  commit(directory: string, tables: Tables): void {
    this.#directories.set(directory, tables)
  }
}

/**
 * Has every environment opened in the projections that `current` gives at that moment.
 * @returns puts LMDB back
 */
export function replaceLmdb(current: () => MemoryProjections): () => void {
  const open = ProjectionEnvironment.open
  ProjectionEnvironment.open = (directory) =>
    new MemoryEnvironment(current(), directory) as unknown as ProjectionEnvironment
  return () => {
    ProjectionEnvironment.open = open
  }
}

class MemoryEnvironment implements Pick<ProjectionEnvironment, keyof ProjectionEnvironment> {
  readonly #projections: MemoryProjections
  readonly directory: string
  /** The tables as the running transaction has made them. */
  #writing: Map<string, Rows> | undefined

  constructor(projections: MemoryProjections, directory: string) {
    this.#projections = projections
    this.directory = directory
  }

  table(name: string): StoredTable {
    const tables = () => this.#writing ?? this.#projections.committed(this.directory)
    return new MemoryTable(
      () => tables().get(name) ?? [],
      (rows) => {
        if (this.#writing === undefined) throw new Error('a write outside of a transaction')
        this.#writing.set(name, rows)
      },
    )
  }

  rawTable(name: string): StoredTable {
    return this.table(name)
  }

  write<T>(work: () => T): T {
    this.#writing = new Map(this.#projections.committed(this.directory))
    try {
      const result = work()
      this.#projections.commit(this.directory, this.#writing)
      return result
    } finally {
      this.#writing = undefined
    }
  }

  damaged(): void {
    throw new Error('rows in memory are never damaged')
  }

  /** Reads always see the last commit, and no snapshot of the catalog is ever stale. */
  readonly readTransaction = 0

  refresh(): number {
    return 0
  }

  async sync(): Promise<void> {
    return undefined
  }

  async close(): Promise<void> {
    return undefined
  }
}

class MemoryTable implements StoredTable {
  readonly #rows: () => Rows
  readonly #replace: (rows: Rows) => void

  constructor(rows: () => Rows, replace: (rows: Rows) => void) {
    this.#rows = rows
    this.#replace = replace
  }

  get(key: Buffer): Buffer | undefined {
    const rows = this.#rows()
    const at = placeOf(rows, key)
    return holds(rows, at, key) ? Buffer.from((rows[at] as Row).value) : undefined
  }

  rows({ start, end, limit, reverse }: RangeOptions): Iterable<Row> {
    const rows = this.#rows()
    if (reverse === true) {
      const from =
        start === undefined ? rows.length : placeOf(rows, start) + (holds(rows, placeOf(rows, start), start) ? 1 : 0)
      return rows.slice(0, from).toReversed().slice(0, limit)
    }
    const from = start === undefined ? 0 : placeOf(rows, start)
    const to = end === undefined ? rows.length : placeOf(rows, end)
    return rows.slice(from, to).slice(0, limit)
  }

  *decoded<T>(options: RangeOptions, decode: DecodeRow<T>): Iterable<T> {
    for (const { key, value } of this.rows(options)) yield decode(key, 0, key.length, value, value.length)
  }

  *keys(options: RangeOptions): Iterable<Buffer> {
    for (const { key } of this.rows(options)) yield key
  }

  count(): number {
    return this.#rows().length
  }

  put(key: Buffer, value: Buffer): void {
    const rows = this.#rows()
    const at = placeOf(rows, key)
    this.#replace(
      rows.toSpliced(at, holds(rows, at, key) ? 1 : 0, { key: Buffer.from(key), value: Buffer.from(value) }),
    )
  }

  append(key: Buffer, value: Buffer): void {
    const last = this.#rows().at(-1)
    if (last !== undefined && Buffer.compare(last.key, key) >= 0) throw new Error('an appended key is not the greatest')
    this.put(key, value)
  }

  remove(key: Buffer): void {
    const rows = this.#rows()
    const at = placeOf(rows, key)
    if (holds(rows, at, key)) this.#replace(rows.toSpliced(at, 1))
  }
}

/** Where a key stands, or would stand. */
function placeOf(rows: Rows, key: Buffer): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (Buffer.compare((rows[middle] as Row).key, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

function holds(rows: Rows, at: number, key: Buffer): boolean {
  return rows[at]?.key.equals(key) === true
}
