import type { VersionSelector } from '../engine/commands.ts'
import type { CorsRule } from '../engine/events/changes.ts'
import type { PayloadLocation } from '../engine/payloads/payload-reader.ts'
import type { BucketState, ObjectState, PartState, UploadState } from '../engine/state-ports.ts'
import { numberKey, readNumber } from './keys.ts'
import type { ProjectionEnvironment } from './lmdb-environment.ts'
import { type ListPage, type ListRequest, listObjects } from './object-listing.ts'
import type { OrderedPage, OrderedRequest } from './ordered-listing.ts'
import { openTables, type Tables } from './table-list.ts'
import { allBuckets, getBucket } from './tables/buckets.ts'
import { getCors } from './tables/cors.ts'
import { getObject, type ListedVersion } from './tables/objects.ts'
import { decodePayload, getPayload, type PayloadRow } from './tables/payloads.ts'
import { getPart, getUpload, getUploadUsage, partsOf, type UploadUsage } from './tables/uploads.ts'
import {
  type BucketUsage,
  decodeBucketUsage,
  decodeVolumeUsage,
  getBucketUsage,
  getFileUsage,
  type VolumeUsage,
} from './tables/usage.ts'
import { getVersion, newestVersionBut } from './tables/versions.ts'
import { listUploads, type UploadEntry, type UploadPlace, uploadsInProgress } from './upload-listing.ts'
import { listVersions } from './version-listing.ts'

/** A volume and how much of it lives. */
export interface StoredVolume extends Readonly<VolumeUsage> {
  readonly volume: number
}

/** A payload as the catalog has it. */
export interface StoredPayload extends PayloadRow {
  readonly payload: number
}

export interface CatalogTotals {
  readonly buckets: number
  readonly objects: number
  readonly logicalBytes: number
  /** Bytes of stored payloads, each counted once whatever the number of copies. */
  readonly physicalBytes: number
}

/**
 * Reading the catalog, from any thread. Each method is one look at a consistent state that includes everything that
 * was acknowledged before the call.
 */
export class CatalogReader {
  readonly #environment: ProjectionEnvironment
  readonly #tables: Tables

  constructor(environment: ProjectionEnvironment) {
    this.#environment = environment
    this.#tables = openTables(environment)
  }

  /** Makes the reads that follow see everything that was acknowledged before. */
  refresh(): void {
    this.#environment.refresh()
  }

  bucket(name: string): BucketState | undefined {
    this.#environment.refresh()
    return getBucket(this.#tables.buckets, name)
  }

  buckets(): BucketState[] {
    this.#environment.refresh()
    return [...allBuckets(this.#tables.buckets)]
  }

  /** The current object of a key in a bucket that `bucket` returned. */
  object(bucketId: number, key: string): ObjectState | undefined {
    return getObject(this.#tables.objects, bucketId, key)
  }

  /** A certain version or delete marker of a key, current or not. */
  version(bucketId: number, key: string, version: VersionSelector): ObjectState | undefined {
    return getVersion(this.#tables, bucketId, key, version)
  }

  /** The newest version or delete marker of a key. */
  newestVersion(bucketId: number, key: string): ObjectState | undefined {
    return newestVersionBut(this.#tables, bucketId, key, -1)
  }

  /** CORS rules of a bucket; empty without a configuration. */
  cors(bucketId: number): readonly CorsRule[] {
    return getCors(this.#tables.cors, bucketId)
  }

  upload(bucketId: number, key: string, upload: number): UploadState | undefined {
    return getUpload(this.#tables.uploads, bucketId, key, upload)
  }

  part(upload: number, part: number): PartState | undefined {
    return getPart(this.#tables.parts, upload, part)
  }

  /** Parts of an upload by number, from behind `after`, at most `limit`. */
  parts(upload: number, after: number, limit: number): PartState[] {
    return [...partsOf(this.#tables.parts, upload, after, limit)]
  }

  /** What multipart uploads in progress hold. */
  uploadUsage(): UploadUsage {
    this.#environment.refresh()
    return getUploadUsage(this.#tables.uploadUsage)
  }

  /** Where an object's bytes are; undefined when the payload is gone, which means that the object changed meanwhile. */
  payload(payload: number): PayloadLocation | undefined {
    return getPayload(this.#tables.payloads, payload)?.location
  }

  /** Payloads from behind an id on, at most `limit`. */
  storedPayloads(after: number, limit: number): StoredPayload[] {
    this.#environment.refresh()
    const rows = this.#tables.payloads.rows({ start: numberKey(after + 1), limit })
    return Array.from(rows, ({ key, value }) => ({ payload: readNumber(key, 0), ...decodePayload(value) }))
  }

  /** Whether an entry refers to a payload file. */
  payloadFileIsUsed(name: string): boolean {
    this.#environment.refresh()
    return this.#tables.payloadFiles.get(Buffer.from(name, 'ascii')) !== undefined
  }

  /** Every volume that was ever written and not removed, by number; the last one is still written. */
  volumes(): StoredVolume[] {
    this.#environment.refresh()
    return Array.from(this.#tables.volumeUsage.rows({}), ({ key, value }) => ({
      volume: readNumber(key, 0),
      ...decodeVolumeUsage(value),
    }))
  }

  /** Ids of multipart payloads whose SHA-256 is not known yet, oldest first, at most `limit`. */
  digestsPending(limit: number): number[] {
    this.#environment.refresh()
    return Array.from(this.#tables.digestsPending.keys({ limit }), (key) => readNumber(key, 0))
  }

  /** Uploads in progress of all buckets from behind `after` on, at most `limit`. */
  uploadsInProgress(after: UploadPlace | undefined, limit: number): UploadPlace[] {
    this.#environment.refresh()
    return uploadsInProgress(this.#tables.uploads, after, limit)
  }

  bucketUsage(bucketId: number): BucketUsage {
    this.#environment.refresh()
    return getBucketUsage(this.#tables.bucketUsage, bucketId)
  }

  totals(): CatalogTotals {
    this.#environment.refresh()
    let objects = 0
    let logicalBytes = 0
    for (const { value } of this.#tables.bucketUsage.rows({})) {
      const usage = decodeBucketUsage(value)
      objects += usage.objects
      logicalBytes += usage.bytes
    }
    let physicalBytes = getFileUsage(this.#tables.fileUsage).bytes
    for (const { value } of this.#tables.volumeUsage.rows({})) physicalBytes += decodeVolumeUsage(value).bytes
    return { buckets: this.#tables.buckets.count(), objects, logicalBytes, physicalBytes }
  }

  /** One page of the current objects of a bucket. */
  list(bucketId: number, request: ListRequest): ListPage {
    this.#environment.refresh()
    return listObjects(this.#tables.objects, bucketId, request)
  }

  /** One page of the versions and delete markers of a bucket; positions are behind a key and an order within it. */
  listVersions(bucketId: number, request: OrderedRequest): OrderedPage<ListedVersion> {
    this.#environment.refresh()
    return listVersions(this.#tables, bucketId, request)
  }

  /** One page of the multipart uploads in progress of a bucket. */
  listUploads(bucketId: number, request: OrderedRequest): OrderedPage<UploadEntry> {
    this.#environment.refresh()
    return listUploads(this.#tables.uploads, bucketId, request)
  }
}
