/**
 * The file of projections that are in memory, for snapshots, which copy it: it is made of the rows when it is read, and the rows
 * are read from it when it was written or got its name by a rename.
 */
import { basename, dirname } from 'node:path'
import type { Disk, DiskFile } from '../../../engine/disk/disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { DATA_FILE, type Row } from '../../../projections/lmdb-environment.ts'
import { altered } from '../mutants/altered.ts'
import type { MemoryProjections } from '../small-world/memory-projections.ts'

/** @param plain what holds everything else */
export function withDataFiles(plain: Disk, projections: MemoryProjections, paths: StorePaths): Disk {
  const places = new Set([paths.projectionsFollower, paths.projectionsRestore])
  const isHere = (path: string) => basename(path) === DATA_FILE && places.has(dirname(path))
  const open = (path: string) => new DataFile(path, projections)
  return altered<Disk>(plain, {
    create: (path) => (isHere(path) ? open(path) : plain.create(path)),
    openToWrite: (path) => (isHere(path) ? open(path) : plain.openToWrite(path)),
    openToRead: (path) => (isHere(path) ? open(path) : plain.openToRead(path)),
    rename(from, to) {
      if (!isHere(to)) return plain.rename(from, to)
      const source = plain.openToRead(from)
      const bytes = Buffer.alloc(source.size())
      source.readAt(bytes, 0, bytes.length)
      source.close()
      const target = open(to)
      target.writeAt(bytes, 0)
      target.close()
      plain.remove(from)
    },
  })
}

type Tables = ReadonlyMap<string, readonly Row[]>

/** Rows of all tables. What follows them in a file is not looked at, as LMDB does not look at it. */
function encode(tables: Tables): Buffer {
  const parts: Buffer[] = [numberOf(tables.size)]
  const add = (bytes: Buffer) => parts.push(numberOf(bytes.length), bytes)
  for (const [name, rows] of tables) {
    add(Buffer.from(name))
    parts.push(numberOf(rows.length))
    for (const { key, value } of rows) {
      add(key)
      add(value)
    }
  }
  return Buffer.concat(parts)
}

function decode(bytes: Buffer): Tables {
  let at = 0
  const number = () => {
    at += 4
    return bytes.readUInt32LE(at - 4)
  }
  const text = () => {
    const length = number()
    at += length
    return Buffer.from(bytes.subarray(at - length, at))
  }
  return new Map(
    times(number(), () => {
      const name = text().toString()
      return [name, times(number(), () => ({ key: text(), value: text() }))] as const
    }),
  )
}

function times<T>(count: number, read: () => T): T[] {
  return Array.from({ length: count }, read)
}

function numberOf(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

class DataFile implements DiskFile {
  readonly path: string
  readonly #projections: MemoryProjections
  #bytes: Buffer
  #isWritten = false

  constructor(path: string, projections: MemoryProjections) {
    this.path = path
    this.#projections = projections
    this.#bytes = encode(projections.committed(dirname(path)))
  }

  writeAt(bytes: Uint8Array, position: number): void {
    const before = this.#isWritten ? this.#bytes : Buffer.alloc(0)
    this.#isWritten = true
    const grown = Buffer.alloc(Math.max(before.length, position + bytes.length))
    grown.set(before)
    grown.set(bytes, position)
    this.#bytes = grown
  }

  readAt(target: Uint8Array, position: number, length: number): number {
    const found = this.#bytes.subarray(position, position + length)
    target.set(found)
    return found.length
  }

  size(): number {
    return this.#bytes.length
  }

  /** The rows are in the bytes that are left. */
  truncate(): void {}

  sync(): void {}

  seal(): void {}

  close(): void {
    if (this.#isWritten) this.#projections.commit(dirname(this.path), decode(this.#bytes))
    this.#isWritten = false
  }

  async writeAtAsync(bytes: Uint8Array, position: number): Promise<void> {
    this.writeAt(bytes, position)
  }

  async readAtAsync(target: Uint8Array, position: number, length: number): Promise<number> {
    return this.readAt(target, position, length)
  }

  async syncAsync(): Promise<void> {}

  async closeAsync(): Promise<void> {
    this.close()
  }
}
