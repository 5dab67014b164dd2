import { inflateSync } from 'node:zlib'
import type { Disk } from '../../engine/disk/disk.ts'
import type { ProjectionEnvironment, StoredTable } from '../lmdb-environment.ts'
import { PIECE_LENGTH_BYTES, ROW_HEAD_BYTES } from './changes-writer.ts'
import { type ChangesRun, SnapshotDamagedError, type SnapshotDescription } from './snapshot-file.ts'
import type { Pace } from '../steady-pace.ts'

/** Rows of one LMDB transaction: larger ones leave free lists that slow down every later commit. */
const ROWS_PER_TRANSACTION = 1000

/** A file of changes whose digests are right. */
interface CheckedChanges {
  readonly path: string
  readonly description: SnapshotDescription
}

/**
 * Applies files of changes to the rows as of the position that the first file is from, in one pass in the order of tables and keys: the
 * newest row of each key is written, so that each page of the tables is written once, however many files there are. A crash in
 * the middle leaves projections that are worthless.
 * @param files from the oldest on
 * @throws SnapshotDamagedError, WorkStoppedError, and the disk's errors
 */
export function applyChanges(
  disk: Disk,
  environment: ProjectionEnvironment,
  files: readonly CheckedChanges[],
  pace: Pace,
): void {
  const tables = new Map<string, StoredTable>()
  const tableOf = (name: string) => {
    const table = tables.get(name) ?? environment.table(name)
    tables.set(name, table)
    return table
  }
  const rows = new MergedRuns(disk, files)
  for (const name of rows.names) tableOf(name)
  while (!rows.isOver) {
    environment.write(() => {
      for (let left = ROWS_PER_TRANSACTION; left > 0 && !rows.isOver; left -= 1) {
        const { name, key, value } = rows.next()
        if (value === undefined) tableOf(name).remove(key)
        else tableOf(name).put(key, value)
      }
    })
    pace.worked()
  }
}

interface ChangedRow {
  readonly name: string
  readonly key: Buffer
  /** Undefined: it was removed. */
  readonly value: Buffer | undefined
}

/** The newest row of each key of many runs, in order. A heap of the runs by their next rows. */
class MergedRuns {
  /** Of all tables, in the order of rows: files of one version of the tables number them alike. */
  readonly names: readonly string[]
  readonly #heap: RunCursor[] = []

  constructor(disk: Disk, files: readonly CheckedChanges[]) {
    const all = files.map(({ description }) => description.changes?.tables ?? [])
    this.names = all[0] ?? []
    let age = 0
    for (const [index, { path, description }] of files.entries()) {
      if (all[index]?.join() !== this.names.join()) {
        throw new SnapshotDamagedError(`${path}: its tables are others than in the files before it`)
      }
      for (const run of description.changes?.runs ?? []) {
        const cursor = new RunCursor(disk, path, run, age)
        age += 1
        if (!cursor.isOver) this.#add(cursor)
      }
    }
  }

  get isOver(): boolean {
    return this.#heap.length === 0
  }

  /** @throws SnapshotDamagedError */
  next(): ChangedRow {
    const first = this.#heap[0] as RunCursor
    const { table, key, value } = first
    this.#advance()
    for (let older = this.#heap[0]; older !== undefined && older.isAt(table, key); older = this.#heap[0]) {
      this.#advance()
    }
    return { name: this.names[table] as string, key, value }
  }

  /** Steps the first run on. */
  #advance(): void {
    const heap = this.#heap
    const first = heap[0] as RunCursor
    first.step()
    if (first.isOver) {
      const last = heap.pop() as RunCursor
      if (last === first) return
      heap[0] = last
    }
    this.#sink()
  }

  #add(cursor: RunCursor): void {
    const heap = this.#heap
    heap.push(cursor)
    for (let at = heap.length - 1; at > 0; ) {
      const parent = (at - 1) >> 1
      if (!(heap[at] as RunCursor).isBefore(heap[parent] as RunCursor)) return
      ;[heap[at], heap[parent]] = [heap[parent] as RunCursor, heap[at] as RunCursor]
      at = parent
    }
  }

  #sink(): void {
    const heap = this.#heap
    for (let at = 0; ; ) {
      let least = at
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < heap.length && (heap[child] as RunCursor).isBefore(heap[least] as RunCursor)) least = child
      }
      if (least === at) return
      ;[heap[at], heap[least]] = [heap[least] as RunCursor, heap[at] as RunCursor]
      at = least
    }
  }
}

/** Reads the rows of a run, one piece of it in memory. Its file is open only while it reads: there may be a thousand. */
class RunCursor {
  readonly #disk: Disk
  readonly #path: string
  readonly #end: number
  /** Greater for a newer run. */
  readonly #age: number
  #at: number
  #piece = Buffer.alloc(0)
  #inPiece = 0
  isOver = false
  table = 0
  key = Buffer.alloc(0)
  value: Buffer | undefined

  constructor(disk: Disk, path: string, { at, bytes }: ChangesRun, age: number) {
    this.#disk = disk
    this.#path = path
    this.#at = at
    this.#end = at + bytes
    this.#age = age
    this.step()
  }

  isAt(table: number, key: Buffer): boolean {
    return this.table === table && this.key.equals(key)
  }

  isBefore(other: RunCursor): boolean {
    const order = this.table - other.table || Buffer.compare(this.key, other.key)
    return order < 0 || (order === 0 && this.#age > other.#age)
  }

  /** @throws SnapshotDamagedError */
  step(): void {
    if (this.#inPiece === this.#piece.length) {
      if (this.#at === this.#end) {
        this.isOver = true
        return
      }
      this.#readPiece()
    }
    const piece = this.#piece
    const keyAt = this.#inPiece + ROW_HEAD_BYTES
    if (keyAt > piece.length) throw this.#malformed()
    const keyEnd = keyAt + piece.readUInt16BE(this.#inPiece + 1)
    const stated = piece.readUInt32BE(this.#inPiece + 3)
    const end = keyEnd + Math.max(0, stated - 1)
    if (end > piece.length) throw this.#malformed()
    this.table = piece[this.#inPiece] as number
    this.key = piece.subarray(keyAt, keyEnd)
    this.value = stated === 0 ? undefined : piece.subarray(keyEnd, end)
    this.#inPiece = end
  }

  #readPiece(): void {
    const file = this.#disk.openToRead(this.#path)
    try {
      const length = this.#read(file, PIECE_LENGTH_BYTES).readUInt32BE()
      this.#piece = inflated(this.#read(file, length)) ?? Buffer.alloc(0)
    } finally {
      file.close()
    }
    if (this.#piece.length === 0) throw this.#malformed()
    this.#inPiece = 0
  }

  #read(file: { readAt(target: Uint8Array, position: number, length: number): number }, length: number): Buffer {
    if (this.#at + length > this.#end) throw this.#malformed()
    const bytes = Buffer.allocUnsafe(length)
    if (file.readAt(bytes, this.#at, length) !== length) throw this.#malformed()
    this.#at += length
    return bytes
  }

  #malformed(): SnapshotDamagedError {
    return new SnapshotDamagedError(`${this.#path}, offset ${this.#at}: the rows are malformed`)
  }
}

/** Undefined for bytes that zlib did not write. */
function inflated(bytes: Buffer): Buffer<ArrayBuffer> | undefined {
  try {
    return inflateSync(bytes)
  } catch {
    return undefined
  }
}
