import type { BucketId, VolumeNumber } from '../../engine/brands.ts'
import { numberKey } from '../keys.ts'
import type { Table } from '../lmdb-environment.ts'
import type { CountRows } from '../tables/row-codecs.ts'
import type { Tables } from '../tables/table-list.ts'
import type { Counts, Tally } from '../tables/tally.ts'
import {
  bucketUsage,
  type BucketUsage,
  fileUsage,
  type FileUsage,
  uploadUsage,
  type UploadUsage,
  volumeUsage,
  type VolumeUsage,
} from '../tables/usage.ts'

/**
 * The counters that nearly every entry changes: summed up here over the entries of a transaction and written once. The
 * caller adds to what a getter or `of` returns.
 */
export class Counters {
  readonly buckets: HeldRows<BucketId, keyof BucketUsage>
  readonly volumes: HeldRows<VolumeNumber, keyof VolumeUsage>
  readonly #tables: Tables
  #files: Tally<keyof FileUsage> | undefined
  #uploads: Tally<keyof UploadUsage> | undefined

  constructor(tables: Tables) {
    this.#tables = tables
    this.buckets = new HeldRows(tables.bucketUsage, bucketUsage)
    this.volumes = new HeldRows(tables.volumeUsage, volumeUsage)
  }

  get files(): Tally<keyof FileUsage> {
    this.#files ??= fileUsage.tally(this.#tables.fileUsage)
    return this.#files
  }

  get uploads(): Tally<keyof UploadUsage> {
    this.#uploads ??= uploadUsage.tally(this.#tables.uploadUsage)
    return this.#uploads
  }

  /**
   * Writes the held counters.
   * @returns whether all of them can be right
   */
  flush(): boolean {
    const files = this.#files
    const uploads = this.#uploads
    if (files !== undefined) fileUsage.put(this.#tables.fileUsage, files)
    if (uploads !== undefined) uploadUsage.put(this.#tables.uploadUsage, uploads)
    this.#files = undefined
    this.#uploads = undefined
    const bucketsAreRight = this.buckets.flush()
    const volumesAreRight = this.volumes.flush()
    return bucketsAreRight && volumesAreRight && files?.isWrong !== true && uploads?.isWrong !== true
  }
}

/** The rows of one table of counters that a transaction changes. */
class HeldRows<Id extends number, F extends string> {
  readonly #table: Table
  readonly #rows: CountRows<F, [Id]>
  readonly #held = new Map<Id, Tally<F>>()
  /** Rows that were read, and nothing was added to: they are not written, since no replay would write them either. */
  readonly #read = new Map<Id, Tally<F>>()

  constructor(table: Table, rows: CountRows<F, [Id]>) {
    this.#table = table
    this.#rows = rows
  }

  of(id: Id): Tally<F> {
    let tally = this.#held.get(id)
    if (tally === undefined) {
      tally = this.#reading(id)
      this.#held.set(id, tally)
    }
    return tally
  }

  /** For reading only. */
  now(id: Id): Readonly<Counts<F>> {
    return (this.#held.get(id) ?? this.#reading(id)).counts
  }

  /** Whether there is a row, or will be one. */
  has(id: Id): boolean {
    return this.#held.has(id) || this.#table.get(numberKey(id)) !== undefined
  }

  remove(id: Id): void {
    this.#held.delete(id)
    this.#read.delete(id)
    this.#table.remove(numberKey(id))
  }

  /** @returns whether all that was written can be right */
  flush(): boolean {
    let areRight = true
    for (const [id, tally] of this.#held) {
      this.#rows.put(this.#table, tally, id)
      if (tally.isWrong) areRight = false
    }
    this.#held.clear()
    this.#read.clear()
    return areRight
  }

  #reading(id: Id): Tally<F> {
    let tally = this.#read.get(id)
    if (tally === undefined) {
      tally = this.#rows.tally(this.#table, id)
      this.#read.set(id, tally)
    }
    return tally
  }
}
