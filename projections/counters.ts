import { numberKey } from './keys.ts'
import type { Tables } from './table-list.ts'
import { getUploadUsage, putUploadUsage, type UploadUsage } from './tables/uploads.ts'
import {
  type BucketUsage,
  type FileUsage,
  getBucketUsage,
  getFileUsage,
  getVolumeUsage,
  putBucketUsage,
  putFileUsage,
  putVolumeUsage,
  type VolumeUsage,
} from './tables/usage.ts'

/**
 * The counters that nearly every entry touches: added up here over the entries of a transaction and written once. What
 * a method returns is changed in place.
 */
export class Counters {
  readonly #tables: Tables
  readonly #buckets = new Map<number, BucketUsage>()
  readonly #volumes = new Map<number, VolumeUsage>()
  #files: FileUsage | undefined
  #uploads: UploadUsage | undefined

  constructor(tables: Tables) {
    this.#tables = tables
  }

  get files(): FileUsage {
    this.#files ??= getFileUsage(this.#tables.fileUsage)
    return this.#files
  }

  get uploads(): UploadUsage {
    this.#uploads ??= getUploadUsage(this.#tables.uploadUsage)
    return this.#uploads
  }

  /** For looking only: what nothing was added to is not written, since no replay would write it either. */
  bucketNow(bucketId: number): Readonly<BucketUsage> {
    return this.#buckets.get(bucketId) ?? getBucketUsage(this.#tables.bucketUsage, bucketId)
  }

  bucket(bucketId: number): BucketUsage {
    let usage = this.#buckets.get(bucketId)
    if (usage === undefined) {
      usage = getBucketUsage(this.#tables.bucketUsage, bucketId)
      this.#buckets.set(bucketId, usage)
    }
    return usage
  }

  volume(volume: number): VolumeUsage {
    let usage = this.#volumes.get(volume)
    if (usage === undefined) {
      usage = getVolumeUsage(this.#tables.volumeUsage, volume)
      this.#volumes.set(volume, usage)
    }
    return usage
  }

  forgetBucket(bucketId: number): void {
    this.#buckets.delete(bucketId)
    this.#tables.bucketUsage.remove(numberKey(bucketId))
  }

  forgetVolume(volume: number): void {
    this.#volumes.delete(volume)
    this.#tables.volumeUsage.remove(numberKey(volume))
  }

  /** Writes what was added up. */
  flush(): void {
    for (const [bucketId, usage] of this.#buckets) putBucketUsage(this.#tables.bucketUsage, bucketId, usage)
    for (const [volume, usage] of this.#volumes) putVolumeUsage(this.#tables.volumeUsage, volume, usage)
    if (this.#files !== undefined) putFileUsage(this.#tables.fileUsage, this.#files)
    if (this.#uploads !== undefined) putUploadUsage(this.#tables.uploadUsage, this.#uploads)
    this.#buckets.clear()
    this.#volumes.clear()
    this.#files = undefined
    this.#uploads = undefined
  }
}
