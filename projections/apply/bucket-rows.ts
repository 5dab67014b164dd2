import type { BucketId } from '../../engine/brands.ts'
import type { RecordTimes } from '../../engine/journal/record-times.ts'
import type { ChangeNamed } from '../../engine/events/changes.ts'
import type { BucketState } from '../../engine/state-ports.ts'
import { putBucketName } from '../tables/bucket-names.ts'
import { getBucket, putBucket, removeBucket } from '../tables/buckets.ts'
import type { Tables } from '../tables/table-list.ts'

/** Applies changes to the rows of buckets. */
export class BucketRows {
  changed = false
  readonly #tables: Pick<Tables, 'buckets' | 'bucketNames'>
  /** Rows that were read: most commands of a batch are about the same few. */
  readonly #known = new Map<string, BucketState>()
  readonly #withoutLocks = new Set<BucketId>()

  constructor(tables: Pick<Tables, 'buckets' | 'bucketNames'>) {
    this.#tables = tables
  }

  bucket(name: string): BucketState | undefined {
    const bucket = this.#known.get(name) ?? getBucket(this.#tables.buckets, name)
    if (bucket !== undefined) this.#known.set(name, bucket)
    if (bucket?.lockEnabled === false) this.#withoutLocks.add(bucket.id)
    return bucket
  }

  /** Whether a bucket was read that has no Object Lock, which can never be turned on. */
  hasNoLocks(bucketId: BucketId): boolean {
    return this.#withoutLocks.has(bucketId)
  }

  created({ timeMicroseconds: createdMicroseconds }: RecordTimes, change: ChangeNamed<'bucket.created'>): void {
    const { bucketId: id, bucket: name, region, lockEnabled } = change
    const versioning = lockEnabled ? 'enabled' : 'off'
    const quota = { bytes: undefined, objects: undefined }
    const bucket = { id, name, region, createdMicroseconds, versioning, lockEnabled, quota } as const
    this.changed = true
    putBucket(this.#tables.buckets, { ...bucket, defaultRetention: undefined })
    putBucketName(this.#tables.bucketNames, id, name)
  }

  set(name: string, changed: Partial<BucketState>): void {
    const bucket = getBucket(this.#tables.buckets, name)
    if (bucket === undefined) throw new Error(`bucket ${name} is changed but not there`)
    this.#forget(name)
    putBucket(this.#tables.buckets, { ...bucket, ...changed })
  }

  deleted(name: string): void {
    this.#forget(name)
    removeBucket(this.#tables.buckets, name)
  }

  #forget(name: string): void {
    this.changed = true
    this.#known.delete(name)
  }
}
