/** What a store holds, in the simplest form there is: lists in memory. The rules that change it are in rules.ts. */
import type { VersionSelector } from '../../engine/commands/version-name.ts'
import type {
  CorsRule,
  DefaultRetention,
  LifecycleRule,
  LockState,
  ObjectChecksum,
  Quota,
  Retention,
  UploadChecksum,
  Versioning,
} from '../../engine/events/values.ts'
import type { BucketUsage } from '../../projections/tables/usage.ts'
import type { ModelEvent } from './naive-events.ts'
import { byUtf8 } from './naive-listing.ts'
import type { ModelEmbed, ModelShare } from './naive-links.ts'
import type { ModelWebhook } from './naive-webhooks.ts'

/** Bytes that were stored once, whoever refers to them. */
export interface ModelPayload {
  readonly id: number
  readonly kind: 'volume' | 'file' | 'parts'
  readonly bytes: Buffer
  /** Of a multipart object: its parts in order, undefined for one of no bytes. */
  readonly parts: readonly (ModelPayload | undefined)[]
  readonly completion: number | undefined
  isDigested: boolean
}

/** A version or a delete marker. */
export interface ModelVersion {
  /** The entry that made it, which tells the order of versions. */
  readonly sequence: number
  readonly isNull: boolean
  readonly isMarker: boolean
  /** What the wire calls it, unless that is `null`; undefined while no answer has told it. */
  id: string | undefined
  /** What people see. Milliseconds since 1970, like all times here. */
  readonly modified: number
  /** What its age counts from. */
  readonly aged: number
  /** As the command said; the bytes of a part may be fewer, so that not each needs 5 MiB. */
  readonly size: number
  /** Undefined for a marker. */
  readonly etag: string | undefined
  readonly headers: readonly string[]
  readonly payload: ModelPayload | undefined
  /** That of the bytes, where their client gave one. */
  readonly checksum: ObjectChecksum | undefined
  /** The request with a token that gave it its key, and the key before. */
  readonly renamed?: { readonly token: string; readonly key: string } | undefined
  lock: LockState | undefined
  /** Keys and values in turn; undefined, or empty, for none. */
  tags?: readonly string[] | undefined
  /** Since when another one is newer; undefined for the newest of its key. */
  noncurrentSince?: number | undefined
}

export interface ModelBucket {
  readonly id: number
  readonly created: number
  readonly region: string
  readonly lockEnabled: boolean
  versioning: Versioning
  defaultRetention: DefaultRetention | undefined
  quota: Quota
  cors: readonly CorsRule[]
  /** Keys and values in turn. */
  tags: readonly string[]
  /** Lifecycle rules by id, oldest first. */
  readonly rules: Map<string, LifecycleRule>
  /** Bytes that were ever stored anew for it, or for a bucket that it has copies of. */
  receivedBytes: number
  /** Versions of each key, newest first; no key without one. */
  readonly keys: Map<string, ModelVersion[]>
}

export interface ModelPart {
  readonly modified: number
  readonly size: number
  readonly etag: string
  readonly payload: ModelPayload | undefined
  /** By the algorithm that the upload asked for. */
  readonly checksum?: Uint8Array | undefined
}

/** A multipart upload in progress. */
export interface ModelUpload {
  readonly upload: number
  /** What the wire calls it; undefined while no answer has told it. */
  id: string | undefined
  readonly created: number
  /** The bucket may have been deleted. */
  readonly bucketId: number
  readonly bucket: string
  readonly key: string
  readonly headers: readonly string[]
  readonly lock: LockState | undefined
  /** What the bucket's default gave at creation. */
  readonly given: Retention | undefined
  /** What it asked for. */
  readonly checksum?: UploadChecksum | undefined
  readonly tags?: readonly string[] | undefined
  readonly parts: Map<number, ModelPart>
}

/** An upload that was completed, and the numbers of the parts that were listed. */
export interface Completion {
  readonly upload: ModelUpload
  readonly numbers: readonly number[]
}

export class ModelState {
  readonly buckets = new Map<string, ModelBucket>()
  readonly uploads = new Map<number, ModelUpload>()
  readonly completions: Completion[] = []
  /** Storage events in the order in which they were taken in. */
  readonly events: ModelEvent[] = []
  readonly webhooks = new Map<string, ModelWebhook>()
  readonly shares = new Map<string, ModelShare>()
  readonly embeds = new Map<string, ModelEmbed>()
  /** What the wire calls versions, by their sequences; those that are gone too. */
  readonly versionIds = new Map<number, string>()
  /** The sequence of the last command that was carried out. */
  sequence = 0

  /** Another state with the same in it; changes of one do not show in the other. Payloads are shared. */
  copy(): ModelState {
    const copy = new ModelState()
    for (const [name, bucket] of this.buckets) {
      const keys = [...bucket.keys].map(([key, all]) => [key, all.map((version) => ({ ...version }))] as const)
      copy.buckets.set(name, { ...bucket, rules: new Map(bucket.rules), keys: new Map(keys) })
    }
    for (const [id, upload] of this.uploads) copy.uploads.set(id, { ...upload, parts: new Map(upload.parts) })
    copy.completions.push(...this.completions)
    copy.events.push(...this.events)
    for (const [id, webhook] of this.webhooks) copy.webhooks.set(id, webhook)
    for (const [id, share] of this.shares) copy.shares.set(id, share)
    for (const [id, embed] of this.embeds) copy.embeds.set(id, embed)
    for (const [sequence, id] of this.versionIds) copy.versionIds.set(sequence, id)
    copy.sequence = this.sequence
    return copy
  }

  /** Takes in what the wire calls a version, unless that is known. */
  learn(version: ModelVersion, id: string | undefined): void {
    version.id ??= id
    if (version.id !== undefined) this.versionIds.set(version.sequence, version.id)
  }

  versions(bucket: ModelBucket | undefined, key: string): readonly ModelVersion[] {
    return bucket?.keys.get(key) ?? []
  }

  /** The current object; undefined also where the newest is a delete marker. */
  current(bucket: ModelBucket | undefined, key: string): ModelVersion | undefined {
    const [newest] = this.versions(bucket, key)
    return newest?.isMarker === false ? newest : undefined
  }

  find(bucket: ModelBucket | undefined, key: string, version: VersionSelector): ModelVersion | undefined {
    return this.versions(bucket, key).find(({ isNull, sequence }) =>
      version === 'null' ? isNull : !isNull && sequence === version,
    )
  }

  remove(bucket: ModelBucket, key: string, version: ModelVersion | undefined): void {
    const kept = this.versions(bucket, key).filter((one) => one !== version)
    if (kept[0] !== undefined) kept[0].noncurrentSince = undefined
    if (kept.length === 0) bucket.keys.delete(key)
    else bucket.keys.set(key, kept)
  }

  /** Puts a version on top; one with the id `null` takes the place of the other that has it. */
  add(bucket: ModelBucket, key: string, version: ModelVersion): void {
    const kept = this.versions(bucket, key).filter(({ isNull }) => !(isNull && version.isNull))
    if (kept[0] !== undefined) kept[0].noncurrentSince ??= version.aged
    bucket.keys.set(key, [version, ...kept])
  }

  /** Keys of a bucket as S3 sorts them. */
  keys(bucket: ModelBucket): string[] {
    return [...bucket.keys.keys()].toSorted(byUtf8)
  }

  /** Removes a bucket with its uploads in progress. */
  removeBucket(name: string): void {
    const uploads = this.uploadsOf(this.buckets.get(name)?.id ?? 0)
    for (const { upload } of uploads) this.uploads.delete(upload)
    this.buckets.delete(name)
  }

  /** Uploads in progress of a bucket in the order of their listing. */
  uploadsOf(bucketId: number): ModelUpload[] {
    return [...this.uploads.values()]
      .filter((upload) => upload.bucketId === bucketId)
      .toSorted((left, right) => byUtf8(left.key, right.key) || left.upload - right.upload)
  }

  /** Every version of every bucket. */
  get everyVersion(): { readonly bucket: ModelBucket; readonly key: string; readonly version: ModelVersion }[] {
    return [...this.buckets.values()].flatMap((bucket) =>
      this.keys(bucket).flatMap((key) => this.versions(bucket, key).map((version) => ({ bucket, key, version }))),
    )
  }

  usage(bucket: ModelBucket): BucketUsage {
    const { receivedBytes } = bucket
    const usage = { objects: 0, bytes: 0, noncurrent: 0, noncurrentBytes: 0, markers: 0, uploadBytes: 0, receivedBytes }
    for (const { parts } of this.uploadsOf(bucket.id)) for (const { size } of parts.values()) usage.uploadBytes += size
    for (const versions of bucket.keys.values()) {
      for (const [index, { isMarker, size }] of versions.entries()) {
        if (isMarker) usage.markers += 1
        else if (index === 0) {
          usage.objects += 1
          usage.bytes += size
        } else {
          usage.noncurrent += 1
          usage.noncurrentBytes += size
        }
      }
    }
    return usage
  }

  /** Every payload that something refers to, and how often: versions, parts in progress, multipart payloads. */
  get references(): Map<ModelPayload, number> {
    const counts = new Map<ModelPayload, number>()
    const refer = (payload: ModelPayload | undefined): void => {
      if (payload === undefined) return
      const before = counts.get(payload) ?? 0
      counts.set(payload, before + 1)
      // A multipart payload refers to its parts once, whatever the number of its copies.
      if (before === 0) for (const part of payload.parts) refer(part)
    }
    for (const { version } of this.everyVersion) refer(version.payload)
    for (const { parts } of this.uploads.values()) for (const { payload } of parts.values()) refer(payload)
    return counts
  }
}

/** The id of a version on the wire: undefined while no answer has told it. */
export function wireId({ isNull, id }: ModelVersion): string | undefined {
  return isNull ? 'null' : id
}
