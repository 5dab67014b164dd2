import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Disk } from '../../engine/disk/disk.ts'
import { putSeal } from './access-seal.ts'
import { asFullDisk } from '../full-disk.ts'
import type { ProjectionEnvironment, StoredTable } from '../lmdb-environment.ts'
import { openTables, type Tables } from '../tables/table-list.ts'
import { type HeldBytes, HeldRows } from './held-rows.ts'
import { type HeldTable, writeHeld } from './write-held.ts'

/**
 * The rows that replay is about to write, in the file `lot` of the projections' directory. A process that is killed between two
 * transactions loses nothing: the next start writes the rows again, and replays what follows. A row of `applied` names the file
 * while the file counts. The file is not synced, and the rows are not either.
 *
 *   length of the description (4) | description: JSON | for each table the pages of its bytes, then of its fields, as in memory
 */
interface Description {
  /** 32 hexadecimal digits, as in the row. */
  readonly name: string
  /** Hexadecimal; of the rows of access when all rows of the lot are there. */
  readonly seal: string | undefined
  readonly tables: readonly {
    readonly name: HeldTable['name']
    readonly count: number
    readonly ascends: boolean
    /** Bytes of each page, and numbers of each page of fields. */
    readonly bytes: readonly number[]
    readonly fields: readonly number[]
  }[]
}

/** Rows as one thread hands them to another. */
export interface Lot {
  readonly tables: readonly HeldTable<HeldBytes>[]
  /** Seal over the rows of access after it; undefined where they are not sealed. */
  readonly seal: Uint8Array | undefined
}

const KEY = Buffer.from('lot')
const LENGTH_BYTES = 4

function pathOf(directory: string): string {
  return join(directory, 'lot')
}

/**
 * Writes a lot to the tables, and keeps it in a file meanwhile.
 * @param disk undefined: it is not kept
 * @param progress called after each transaction
 */
export function writeLot(
  disk: Disk | undefined,
  environment: ProjectionEnvironment,
  lot: Lot,
  progress?: () => void,
): void {
  const tables = openTables(environment)
  const name = disk && keepLot(disk, environment.directory, lot)
  writeRows(environment, tables, lot, name, progress)
  disk?.remove(pathOf(environment.directory))
}

function writeRows(
  environment: ProjectionEnvironment,
  tables: Tables<StoredTable>,
  { tables: held, seal }: Lot,
  name: string | undefined,
  progress?: () => void,
): void {
  const rows = held.map((table) => ({ name: table.name, held: HeldRows.of(table.held) }))
  writeHeld(environment, tables, rows, {
    progress,
    first: () => {
      if (name !== undefined) tables.applied.put(KEY, Buffer.from(name))
    },
    last: () => {
      if (name !== undefined) tables.applied.remove(KEY)
      if (seal !== undefined) putSeal(environment, seal)
    },
  })
}

/** @returns its name */
function keepLot(disk: Disk, directory: string, { tables, seal }: Lot): string {
  const description: Description = {
    name: randomBytes(16).toString('hex'),
    seal: seal && Buffer.from(seal).toString('hex'),
    tables: tables.map(({ name, held: { count, ascends, bytes, fields } }) => {
      return { name, count, ascends, bytes: lengths(bytes), fields: lengths(fields) }
    }),
  }
  const path = pathOf(directory)
  const making = `${path}-making`
  disk.remove(making)
  const file = disk.create(making)
  try {
    const json = Buffer.from(JSON.stringify(description))
    const length = Buffer.alloc(LENGTH_BYTES)
    length.writeUInt32BE(json.length)
    let at = 0
    const write = (bytes: Uint8Array) => {
      file.writeAt(bytes, at)
      at += bytes.length
    }
    for (const bytes of [length, json]) write(bytes)
    for (const { held } of tables) {
      for (const page of held.bytes) write(page)
      for (const { buffer, byteOffset, byteLength } of held.fields)
        write(new Uint8Array(buffer, byteOffset, byteLength))
    }
  } finally {
    file.close()
  }
  disk.rename(making, path)
  return description.name
}

function lengths(pages: readonly (Uint8Array | Uint32Array)[]): number[] {
  return pages.map(({ length }) => length)
}

/**
 * Writes the rest of a lot that a process was killed in, and removes its file. A lot that the rows do not name counts no longer.
 * @throws RowDamagedError, DiskFullError, and the disk's errors: then it can be finished later
 */
export function finishLot(disk: Disk, environment: ProjectionEnvironment): void {
  const path = pathOf(environment.directory)
  disk.remove(`${path}-making`)
  if (!disk.exists(path)) return
  const tables = openTables(environment)
  const named = tables.applied.get(KEY)?.toString()
  const kept = named === undefined ? undefined : readLot(disk, path, named)
  try {
    if (kept !== undefined) writeRows(environment, tables, kept, named)
  } catch (error) {
    throw asFullDisk(error)
  }
  environment.refresh()
  disk.remove(path)
}

/** Undefined for a lot of another name, or of another form, which another build of this layout wrote. */
function readLot(disk: Disk, path: string, name: string): Lot | undefined {
  const file = disk.openToRead(path)
  try {
    let at = 0
    const read = (length: number): Buffer<ArrayBuffer> => {
      const bytes = Buffer.alloc(length)
      if (file.readAt(bytes, at, length) !== length) throw new Error(`${path} ends at ${at + length}`)
      at += length
      return bytes
    }
    const description = JSON.parse(read(read(LENGTH_BYTES).readUInt32BE()).toString()) as Description
    if (description.name !== name || description.tables.some(({ bytes }) => !Array.isArray(bytes))) return undefined
    const tables = description.tables.map(({ name: table, count, ascends, bytes, fields }) => {
      const held = {
        count,
        ascends,
        bytes: bytes.map((length) => read(length)),
        fields: fields.map((length) => new Uint32Array(read(4 * length).buffer)),
      }
      return { name: table, held }
    })
    return { tables, seal: description.seal === undefined ? undefined : Buffer.from(description.seal, 'hex') }
  } finally {
    file.close()
  }
}
