import { type BucketId, type PayloadId, payloadIdOf, type Sequence, type UploadId } from '../../engine/brands.ts'
import type { VersionSelector } from '../../engine/commands/version-name.ts'
import type { EmbedState, ShareState } from '../../engine/links/state.ts'
import type { CorsRule, ScrubDamage } from '../../engine/events/values.ts'
import type { PayloadLocation } from '../../engine/payloads/payload-reader.ts'
import type { BucketState, EndsSpan, ObjectState, PartState, UploadState } from '../../engine/state-ports.ts'
import type { LifecycleRuleState } from '../../engine/lifecycle/state.ts'
import { numberKey, readNumber } from '../keys.ts'
import type { ProjectionEnvironment } from '../lmdb-environment.ts'
import { type ListPage, type ListRequest, listObjects } from './object-listing.ts'
import { type Ended, listEnding } from './ending-listing.ts'
import { type LockedPage, type LockedPlace, listLocked } from './lock-listing.ts'
import type { HolderSearch } from './payload-holders.ts'
import type { OrderedPage, OrderedRequest } from './ordered-listing.ts'
import type { Tables } from '../tables/table-list.ts'
import { type AgePage, agePage, type AgePageRequest } from '../tables/ages.ts'
import { getApplied } from '../tables/applied.ts'
import { getBucketName } from '../tables/bucket-names.ts'
import { allBuckets, getBucket } from '../tables/buckets.ts'
import { getBucketTags, getCors } from '../tables/bucket-settings.ts'
import { bucketsWithRules, getBucketOfRule, getLifecycleRules } from '../lifecycle/tables.ts'
import { getObject, type ListedVersion } from '../tables/objects.ts'
import { decodePayload, getPayload, type PayloadRow } from '../tables/payloads.ts'
import { firstQueuedDigest, pendingDigests, type QueuedDigest } from '../tables/digests.ts'
import { getLockChanges } from '../tables/lock-changes.ts'
import { getScrub, type ScrubState } from '../scrub/tables.ts'
import { embedRows, linksOfKey, shareRows } from '../links/tables.ts'
import { getPart, getUpload, partsOf } from '../tables/uploads.ts'
import {
  bucketUsage,
  type BucketUsage,
  fileUsage,
  type StoredVolume,
  storedVolumes,
  uploadUsage,
  type UploadUsage,
  volumeUsage,
} from '../tables/usage.ts'
import { getVersion, newestVersion } from '../tables/versions.ts'
import { listUploads, type UploadEntry, type UploadPlace, uploadsInProgress } from './upload-listing.ts'
import { listVersions } from './version-listing.ts'

/** A payload as the catalog has it. */
export interface StoredPayload extends PayloadRow {
  readonly payload: PayloadId
}

interface CatalogTotals {
  readonly buckets: number
  readonly objects: number
  readonly logicalBytes: number
  /** Bytes of stored payloads, each counted once whatever the number of copies, without unused space in volumes. */
  readonly physicalBytes: number
}

/** A snapshot was used too late; reading on could have mixed two states. A fault of the caller. */
export class StaleSnapshotError extends Error {
  override readonly name = 'StaleSnapshotError'

  constructor() {
    super('a snapshot of the catalog was used after its turn of the event loop, or after another one was taken')
  }
}

/**
 * One consistent state of the catalog, with everything that was acknowledged before it was taken. It costs no more than
 * its reads and holds nothing open. So it is valid only in the turn of the event loop that took it, and until the thread
 * takes another one. Take it, read what belongs together, keep the results; never keep it over an `await`.
 *
 * Every method throws StaleSnapshotError when its result is of a later state than earlier results.
 */
export class CatalogSnapshot {
  readonly #environment: ProjectionEnvironment
  readonly #tables: Tables
  /** Number of the read transaction for all reads of this snapshot; undefined: the first read sets it. */
  #transaction: number | undefined
  /** Buckets that no acknowledged commit has changed. */
  readonly #buckets: Map<string, BucketState> | undefined

  constructor(
    environment: ProjectionEnvironment,
    tables: Tables,
    transaction: number | undefined,
    buckets?: Map<string, BucketState>,
  ) {
    this.#environment = environment
    this.#tables = tables
    this.#transaction = transaction
    this.#buckets = buckets
  }

  /** Returns the value just read, if it is of this state. */
  #read<T>(value: T): T {
    this.#transaction ??= this.#environment.readTransaction
    if (this.#environment.readTransaction > this.#transaction) throw new StaleSnapshotError()
    return value
  }

  bucket(name: string): BucketState | undefined {
    const known = this.#buckets?.get(name)
    if (known !== undefined) return known
    const bucket = this.#read(getBucket(this.#tables.buckets, name))
    if (bucket !== undefined) this.#buckets?.set(name, bucket)
    return bucket
  }

  /** The bucket that was created with this id, unless it was deleted since. */
  bucketOfId(bucketId: BucketId): BucketState | undefined {
    const name = getBucketName(this.#tables.bucketNames, bucketId)
    const bucket = name === undefined ? undefined : getBucket(this.#tables.buckets, name)
    return this.#read(bucket?.id === bucketId ? bucket : undefined)
  }

  /** Name of a bucket, also of a deleted one. */
  bucketName(bucketId: BucketId): string | undefined {
    return this.#read(getBucketName(this.#tables.bucketNames, bucketId))
  }

  share(share: string): ShareState | undefined {
    return this.#read(shareRows.get(this.#tables.shares, share))
  }

  /** The share whose token has this digest. */
  findShare(digest: Uint8Array): ShareState | undefined {
    const id = this.#tables.shareDigests.get(Buffer.from(digest))
    return this.#read(id && shareRows.get(this.#tables.shares, id.toString()))
  }

  /** Shares of a key, at most `limit`. */
  sharesOfKey(bucketId: BucketId, key: string, limit: number): ShareState[] {
    const ids = linksOfKey(this.#tables.shareTargets, bucketId, key, limit)
    return this.#read(ids.flatMap((id) => shareRows.get(this.#tables.shares, id) ?? []))
  }

  embed(embed: string): EmbedState | undefined {
    return this.#read(embedRows.get(this.#tables.embeds, embed))
  }

  /** The embed whose token has this digest. */
  findEmbed(digest: Uint8Array): EmbedState | undefined {
    const id = this.#tables.embedDigests.get(Buffer.from(digest))
    return this.#read(id && embedRows.get(this.#tables.embeds, id.toString()))
  }

  /** Embeds of a key, at most `limit`. */
  embedsOfKey(bucketId: BucketId, key: string, limit: number): EmbedState[] {
    const ids = linksOfKey(this.#tables.embedTargets, bucketId, key, limit)
    return this.#read(ids.flatMap((id) => embedRows.get(this.#tables.embeds, id) ?? []))
  }

  buckets(): BucketState[] {
    return this.#read(allBuckets(this.#tables.buckets))
  }

  /** The current object of a key in a bucket that `bucket` returned. */
  object(bucketId: BucketId, key: string): ObjectState | undefined {
    return this.#read(getObject(this.#tables.objects, bucketId, key))
  }

  /** A version or delete marker of a key, current or not. */
  version(bucketId: BucketId, key: string, version: VersionSelector): ObjectState | undefined {
    return this.#read(getVersion(this.#tables, bucketId, key, version))
  }

  /** The newest version or delete marker of a key. */
  newestVersion(bucketId: BucketId, key: string): ObjectState | undefined {
    return this.#read(newestVersion(this.#tables, bucketId, key))
  }

  /** CORS rules of a bucket; empty without a configuration. */
  cors(bucketId: BucketId): readonly CorsRule[] {
    return this.#read(getCors(this.#tables.cors, bucketId))
  }

  /** Tags of a bucket: key, value, key, value. */
  bucketTags(bucketId: BucketId): readonly string[] {
    return this.#read(getBucketTags(this.#tables.bucketTags, bucketId))
  }

  /** Lifecycle rules of a bucket, in the order of their creation. */
  lifecycleRules(bucketId: BucketId): readonly LifecycleRuleState[] {
    return this.#read(getLifecycleRules(this.#tables.lifecycle, bucketId))
  }

  /** Buckets with lifecycle rules after a bucket, in the order of their creation, at most `limit`. */
  bucketsWithRules(after: BucketId | undefined, limit: number): BucketId[] {
    return this.#read(bucketsWithRules(this.#tables.lifecycle, after, limit))
  }

  /** One page of the entries that are due by a lifecycle rule. */
  agePage(bucketId: BucketId, request: AgePageRequest): AgePage {
    return this.#read(agePage(this.#tables.ages, bucketId, request))
  }

  /**
   * The last pass of the scrub, which may be running; undefined before the first. Damaged payloads that were removed
   * since, with their objects, are left out.
   */
  scrub(): ScrubState | undefined {
    const state = getScrub(this.#tables.scrub)
    const isThere = ({ kind, number }: ScrubDamage) =>
      kind === 'segment' || getPayload(this.#tables.payloads, payloadIdOf(number)) !== undefined
    return this.#read(state && { ...state, damage: state.damage.filter(({ damage }) => isThere(damage)) })
  }

  /** What ends by itself in a span, at most `limit` of it. */
  endings(span: EndsSpan, limit: number): Ended[] {
    return this.#read(listEnding(this.#tables, span, limit))
  }

  /** The order time of the last entry of the journal; milliseconds since 1970. */
  journalMilliseconds(): number {
    const { position } = getApplied(this.#tables.applied) ?? {}
    return this.#read(Math.floor((position?.orderMicroseconds ?? 0) / 1000))
  }

  /** Sequence of the last entry of the journal; -1 for an empty journal. */
  journalSequence(): number {
    const { position } = getApplied(this.#tables.applied) ?? {}
    return this.#read(position?.sequence ?? -1)
  }

  /** Name of the bucket that has a lifecycle rule. */
  bucketOfLifecycleRule(rule: string): string | undefined {
    return this.#read(getBucketOfRule(this.#tables.lifecycleRules, rule))
  }

  upload(bucketId: BucketId, key: string, upload: UploadId): UploadState | undefined {
    return this.#read(getUpload(this.#tables.uploads, bucketId, key, upload))
  }

  part(upload: UploadId, part: number): PartState | undefined {
    return this.#read(getPart(this.#tables.parts, upload, part))
  }

  /** Parts of an upload by number, after number `after`, at most `limit`. */
  parts(upload: UploadId, after: number, limit: number): PartState[] {
    return this.#read([...partsOf(this.#tables.parts, upload, after, limit)])
  }

  /** The number and bytes of multipart uploads in progress. */
  uploadUsage(): UploadUsage {
    return this.#read(uploadUsage.get(this.#tables.uploadUsage))
  }

  /** Where an object's bytes are; undefined when the payload is gone because the object changed meanwhile. */
  payload(payload: PayloadId): PayloadLocation | undefined {
    return this.#read(getPayload(this.#tables.payloads, payload)?.location)
  }

  /** Payloads after an id, at most `limit`. */
  storedPayloads(after: number, limit: number): StoredPayload[] {
    const rows = this.#tables.payloads.rows({ start: numberKey(after + 1), limit })
    return this.#read(
      Array.from(rows, ({ key, value }) => ({
        payload: payloadIdOf(readNumber(key, 0)),
        ...decodePayload(this.#tables.payloads, value),
      })),
    )
  }

  /** Reads some more rows for a search; false at its end. */
  searchHolders(search: HolderSearch, limit: number): boolean {
    return this.#read(search.step(this.#tables, limit))
  }

  /** Whether an entry refers to a payload file. */
  payloadFileIsUsed(name: string): boolean {
    return this.#read(this.#tables.payloadFiles.get(Buffer.from(name, 'ascii'))) !== undefined
  }

  /** Every volume that was not removed, by number; the last one is still written. */
  volumes(): StoredVolume[] {
    return this.#read(storedVolumes(this.#tables.volumeUsage))
  }

  /** Ids of multipart payloads whose SHA-256 is not known yet, oldest first, at most `limit`. */
  digestsPending(limit: number): PayloadId[] {
    return this.#read(pendingDigests(this.#tables.digestsPending, limit))
  }

  /**
   * The first of them in a class of sizes, in the bucket with the least id from `fromBucket` on that has one; within a
   * bucket the oldest is the first.
   */
  firstQueuedDigest(
    sizeClass: number,
    fromBucket: number,
    isLeftOut: (payload: PayloadId) => boolean,
  ): QueuedDigest | undefined {
    return this.#read(firstQueuedDigest(this.#tables.digestQueue, sizeClass, fromBucket, isLeftOut))
  }

  /** Uploads in progress of all buckets after `after`, at most `limit`. */
  uploadsInProgress(after: UploadPlace | undefined, limit: number): UploadPlace[] {
    return this.#read(uploadsInProgress(this.#tables.uploads, after, limit))
  }

  bucketUsage(bucketId: BucketId): BucketUsage {
    return this.#read(bucketUsage.get(this.#tables.bucketUsage, bucketId))
  }

  /** Number and bytes of payloads in files, and bytes of payloads in volumes, without what surrounds them on the disk. */
  payloadUsage(): { readonly files: number; readonly fileBytes: number; readonly usedVolumeBytes: number } {
    const { files, bytes: fileBytes } = fileUsage.get(this.#tables.fileUsage)
    let usedVolumeBytes = 0
    for (const { value } of this.#tables.volumeUsage.rows({})) usedVolumeBytes += volumeUsage.decode(value).bytes
    return this.#read({ files, fileBytes, usedVolumeBytes })
  }

  totals(): CatalogTotals {
    let objects = 0
    let logicalBytes = 0
    for (const { value } of this.#tables.bucketUsage.rows({})) {
      const usage = bucketUsage.decode(value)
      objects += usage.objects
      logicalBytes += usage.bytes
    }
    const { fileBytes, usedVolumeBytes } = this.payloadUsage()
    const physicalBytes = fileBytes + usedVolumeBytes
    return this.#read({ buckets: this.#tables.buckets.count(), objects, logicalBytes, physicalBytes })
  }

  /** One page of the current objects of a bucket. */
  list(bucketId: BucketId, request: ListRequest): ListPage {
    return this.#read(listObjects(this.#tables.objects, bucketId, request))
  }

  /** One page of the versions and delete markers of a bucket; positions are after a key and an order within it. */
  listVersions(bucketId: BucketId, request: OrderedRequest): OrderedPage<ListedVersion> {
    return this.#read(listVersions(this.#tables, bucketId, request))
  }

  /** Entries that changed the lock of a version, at most one more than a proof bundle tells. */
  lockChanges(bucketId: BucketId, key: string, version: Sequence): Sequence[] {
    return this.#read(getLockChanges(this.#tables.lockChanges, bucketId, key, version))
  }

  /** One page of the lock table, of all buckets without an id, after `next` of the page before. */
  lockedVersions(bucketId: BucketId | undefined, after: LockedPlace | undefined, limit: number): LockedPage {
    return this.#read(listLocked(this.#tables, bucketId, after, limit))
  }

  /** One page of the multipart uploads in progress of a bucket. */
  listUploads(bucketId: BucketId, request: OrderedRequest): OrderedPage<UploadEntry> {
    return this.#read(listUploads(this.#tables.uploads, bucketId, request))
  }
}
