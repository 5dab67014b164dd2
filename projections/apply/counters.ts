import type { BucketId, VolumeNumber } from '../../engine/brands.ts'
import { numberKey } from '../keys.ts'
import type { Table } from '../lmdb-environment.ts'
import type { CountRows, CountsOf } from '../tables/row-codecs.ts'
import type { Tables } from '../tables/table-list.ts'
import { bucketUsage, fileUsage, type FileUsage, uploadUsage, type UploadUsage, volumeUsage } from '../tables/usage.ts'

/**
 * The counters that nearly every entry changes: summed up here over the entries of a transaction and written once. The
 * caller changes what a getter or `of` returns in place.
 */
export class Counters {
  readonly buckets: HeldRows<BucketId, typeof bucketUsage>
  readonly volumes: HeldRows<VolumeNumber, typeof volumeUsage>
  readonly #tables: Tables
  #files: FileUsage | undefined
  #uploads: UploadUsage | undefined

  constructor(tables: Tables) {
    this.#tables = tables
    this.buckets = new HeldRows(tables.bucketUsage, bucketUsage)
    this.volumes = new HeldRows(tables.volumeUsage, volumeUsage)
  }

  get files(): FileUsage {
    this.#files ??= fileUsage.get(this.#tables.fileUsage)
    return this.#files
  }

  get uploads(): UploadUsage {
    this.#uploads ??= uploadUsage.get(this.#tables.uploadUsage)
    return this.#uploads
  }

  flush(): void {
    this.buckets.flush()
    this.volumes.flush()
    if (this.#files !== undefined) fileUsage.put(this.#tables.fileUsage, this.#files)
    if (this.#uploads !== undefined) uploadUsage.put(this.#tables.uploadUsage, this.#uploads)
    this.#files = undefined
    this.#uploads = undefined
  }
}

/** The rows of one table of counters that a transaction changes. */
class HeldRows<Id extends number, R extends CountRows<string, [Id]>> {
  readonly #table: Table
  readonly #rows: R
  readonly #held = new Map<Id, CountsOf<R>>()

  constructor(table: Table, rows: R) {
    this.#table = table
    this.#rows = rows
  }

  of(id: Id): CountsOf<R> {
    let counts = this.#held.get(id)
    if (counts === undefined) {
      counts = this.#rows.get(this.#table, id) as CountsOf<R>
      this.#held.set(id, counts)
    }
    return counts
  }

  /** For reading only. A row that nothing was added to is not written, since no replay would write it either. */
  now(id: Id): Readonly<CountsOf<R>> {
    return this.#held.get(id) ?? (this.#rows.get(this.#table, id) as CountsOf<R>)
  }

  /** Whether there is a row, or will be one. */
  has(id: Id): boolean {
    return this.#held.has(id) || this.#table.get(numberKey(id)) !== undefined
  }

  remove(id: Id): void {
    this.#held.delete(id)
    this.#table.remove(numberKey(id))
  }

  flush(): void {
    for (const [id, counts] of this.#held) this.#rows.put(this.#table, counts, id)
    this.#held.clear()
  }
}
