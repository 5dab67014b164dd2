import { hash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import type { Sequence } from '../../engine/brands.ts'
import type { Disk, DiskFile } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { HeldRows } from '../apply/held-rows.ts'
import { SEAL_TABLE } from '../apply/access-seal.ts'
import type { HeldTable } from '../apply/write-held.ts'
import type { ProjectionEnvironment } from '../lmdb-environment.ts'
import { TABLES } from '../tables/table-list.ts'
import { type CopyOptions, requireRoom } from './copy-snapshot.ts'
import { changesPath } from './snapshot-chain.ts'
import { BLOCK_BYTES, type ChangesRun, encodeEnd, type SnapshotDescription } from './snapshot-file.ts'

/**
 * The data of a file of changes: runs of pieces, each
 *
 *   length of the rest (4) | rows, compressed by zlib
 *
 * and each row
 *
 *   number of the table (1) | length of the key (2) | 0 for a row that was removed, or the length of the value and 1 (4) | key | value
 */
export const PIECE_LENGTH_BYTES = 4
export const ROW_HEAD_BYTES = 7
/** Rows of a piece, before compression: a merge of a thousand runs holds one of each. */
const PIECE_BYTES = 16 * 1024
/** Rows of a run, and bytes of their keys and values: what memory takes. */
const RUN_ROWS_MAXIMUM = 400_000
const RUN_BYTES_MAXIMUM = 32 * 1024 ** 2

const STORED_NAMES: readonly string[] = [...Object.values(TABLES), SEAL_TABLE]

/** A file of changes that was written. */
export interface KeptChanges {
  readonly path: string
  readonly bytes: number
}

/**
 * Writes the rows that a replay changes: the last one of each row, in runs that are sorted, so that many files can be applied in
 * one pass. The file gets its name only when it is whole and synced.
 */
export class ChangesWriter {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #options: CopyOptions
  readonly #target: DiskFile
  /** By the number of the table. */
  readonly #held = STORED_NAMES.map(() => new HeldRows())
  readonly #runs: ChangesRun[] = []
  readonly #blocks: string[] = []
  readonly #block = Buffer.allocUnsafeSlow(BLOCK_BYTES)
  #inBlock = 0
  /** Of the data, up to the block that is being filled. */
  #written = 0
  #piece = Buffer.allocUnsafeSlow(2 * PIECE_BYTES)
  #inPiece = 0

  /** @throws the disk's errors */
  constructor(disk: Disk, paths: StorePaths, options: CopyOptions) {
    this.#disk = disk
    this.#paths = paths
    this.#options = options
    disk.makeDirectory(paths.snapshots)
    disk.remove(paths.snapshotMaking)
    this.#target = disk.create(paths.snapshotMaking)
  }

  /**
   * Adds the rows of a lot, in place of earlier ones.
   * @throws DiskFullError, WorkStoppedError, and the disk's errors
   */
  add(lot: readonly HeldTable[]): void {
    for (const { name, held } of lot) {
      const own = this.#rowsOf(TABLES[name])
      for (let row = 0; row < held.count; row += 1) own.put(held.key(row), held.value(row))
    }
    const rows = this.#held.reduce((sum, { count }) => sum + count, 0)
    const bytes = this.#held.reduce((sum, held) => sum + held.bytes, 0)
    if (rows >= RUN_ROWS_MAXIMUM || bytes >= RUN_BYTES_MAXIMUM) this.#endRun()
  }

  /** Adds the seal over the rows as they are after all lots. */
  addSeal(environment: Pick<ProjectionEnvironment, 'table'>): void {
    for (const { key, value } of environment.table(SEAL_TABLE).rows({})) this.#rowsOf(SEAL_TABLE).put(key, value)
  }

  /**
   * Writes everything that was added.
   * @returns bytes of the data
   * @throws DiskFullError, WorkStoppedError, and the disk's errors
   */
  finish(): number {
    this.#endRun()
    if (this.#inBlock > 0) this.#endBlock()
    return this.#written
  }

  /**
   * Gives the file its name. After `finish`.
   * @throws the disk's errors
   */
  keep(from: Sequence, about: Omit<SnapshotDescription, 'dataBytes' | 'blocks' | 'changes'>): KeptChanges {
    const changes = { from, tables: STORED_NAMES, runs: this.#runs }
    const end = encodeEnd({ ...about, dataBytes: this.#written, blocks: this.#blocks, changes })
    this.#target.writeAt(end, this.#written)
    this.#target.sync()
    this.#target.close()
    const path = changesPath(this.#paths, from, about.position.sequence)
    this.#disk.rename(this.#paths.snapshotMaking, path)
    this.#disk.syncDirectory(this.#paths.snapshots)
    return { path, bytes: this.#written + end.length }
  }

  /** Ends it without a file. */
  abandon(): void {
    this.#target.close()
    this.#disk.remove(this.#paths.snapshotMaking)
  }

  #rowsOf(table: string): HeldRows {
    return this.#held[STORED_NAMES.indexOf(table)] as HeldRows
  }

  #endRun(): void {
    const at = this.#written + this.#inBlock
    for (const [table, held] of this.#held.entries()) {
      for (const row of held.sorted()) this.#addRow(table, held.key(row), held.value(row))
      held.clear()
    }
    this.#endPiece()
    const bytes = this.#written + this.#inBlock - at
    if (bytes > 0) this.#runs.push({ at, bytes })
  }

  #addRow(table: number, key: Buffer, value: Buffer | undefined): void {
    const start = this.#inPiece
    const end = start + ROW_HEAD_BYTES + key.length + (value?.length ?? 0)
    if (end > this.#piece.length) {
      const larger = Buffer.allocUnsafeSlow(2 * end)
      larger.set(this.#piece.subarray(0, start))
      this.#piece = larger
    }
    const piece = this.#piece
    piece[start] = table
    piece.writeUInt16BE(key.length, start + 1)
    piece.writeUInt32BE(value === undefined ? 0 : value.length + 1, start + 3)
    piece.set(key, start + ROW_HEAD_BYTES)
    if (value !== undefined) piece.set(value, start + ROW_HEAD_BYTES + key.length)
    this.#inPiece = end
    if (end >= PIECE_BYTES) this.#endPiece()
  }

  #endPiece(): void {
    if (this.#inPiece === 0) return
    const rows = deflateSync(this.#piece.subarray(0, this.#inPiece))
    const length = Buffer.alloc(PIECE_LENGTH_BYTES)
    length.writeUInt32BE(rows.length)
    this.#write(length)
    this.#write(rows)
    this.#inPiece = 0
    this.#options.pace.worked()
  }

  #write(bytes: Buffer): void {
    for (let from = 0; from < bytes.length; ) {
      const length = bytes.copy(this.#block, this.#inBlock, from)
      this.#inBlock += length
      from += length
      if (this.#inBlock === BLOCK_BYTES) this.#endBlock()
    }
  }

  #endBlock(): void {
    const block = this.#block.subarray(0, this.#inBlock)
    requireRoom(this.#disk, this.#paths, block.length, this.#options.reservedBytes)
    this.#blocks.push(hash('sha256', block))
    this.#target.writeAt(block, this.#written)
    this.#target.sync()
    this.#written += block.length
    this.#inBlock = 0
    this.#options.pace.moved(block.length)
  }
}
