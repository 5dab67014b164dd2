import type { AccessChange } from './access-changes.ts'

/**
 * The vocabulary of the journal: what an entry can do to the store. A closed union; kinds are never reused and a field
 * is never moved (spec/formats/journal.md). Each change is stored as an array that begins with its kind.
 */

export const CHANGE_KIND = {
  'bucket.created': 1,
  'bucket.deleted': 2,
  'object.written': 3,
  'object.deleted': 4,
  'journal.recovered': 5,
  'server.started': 6,
  'server.stopped': 7,
  'bucket.versioning-set': 8,
  'bucket.retention-set': 9,
  'bucket.cors-set': 10,
  'bucket.quota-set': 11,
  'marker.written': 12,
  'version.deleted': 13,
  'version.locked': 14,
  'upload.created': 15,
  'upload.part-written': 16,
  'upload.completed': 17,
  'upload.aborted': 18,
  'payload.moved': 19,
  'payload.digested': 20,
  'clock.observed': 21,
  'volume.removed': 22,
  'account.created': 23,
  'account.status-set': 24,
  'account.deleted': 25,
  'credential.issued': 26,
  'credential.status-set': 27,
  'policy.created': 28,
  'policy.attached': 29,
  'policy.detached': 30,
  'token.issued': 31,
  'token.revoked': 32,
  'credential.removed': 33,
} as const
export type ChangeName = keyof typeof CHANGE_KIND

/** Name and value pairs, flat, in the order they were sent. */
export type HeaderPairs = readonly string[]

/** Where the bytes of an object are. `payload` is the sequence of the entry that stored them. */
export type PayloadReference =
  | { readonly kind: 'shared'; readonly payload: number }
  | {
      readonly kind: 'volume'
      readonly payload: number
      readonly volume: number
      readonly offset: number
      /** Bytes in the volume; a sealed payload is longer than the object. */
      readonly length: number
      /** CRC-32 of those bytes. */
      readonly checksum: number
      /** Whether the bytes are encrypted (spec/formats/payloads.md). */
      readonly sealed: boolean
    }
  | {
      readonly kind: 'file'
      readonly payload: number
      readonly name: string
      /** Bytes of the object, encrypted or not. */
      readonly length: number
      readonly sealed: boolean
    }

/** Versioning of a bucket; `off` until it is set for the first time, and never again. */
export type Versioning = 'off' | 'enabled' | 'suspended'

export const RETENTION_MODES = ['GOVERNANCE', 'COMPLIANCE'] as const
export type RetentionMode = (typeof RETENTION_MODES)[number]

/** Retention of a version. */
export interface Retention {
  readonly mode: RetentionMode
  /** The version is retained while the time is before this; milliseconds since 1970. */
  readonly untilMilliseconds: number
}

/** What Object Lock says of a version. */
export interface LockState {
  readonly retention: Retention | undefined
  /** Undefined when no legal hold was ever put or lifted. */
  readonly hold: boolean | undefined
}

/** Retention that a bucket gives to every version written without one. */
export interface DefaultRetention {
  readonly mode: RetentionMode
  readonly unit: 'days' | 'years'
  /** At least 1. */
  readonly value: number
}

/** One rule of a bucket's CORS configuration, as it was put (S3 API reference, CORSRule). */
export interface CorsRule {
  readonly id: string | undefined
  readonly origins: readonly string[]
  readonly methods: readonly string[]
  readonly headers: readonly string[]
  readonly exposed: readonly string[]
  readonly maxAgeSeconds: number | undefined
}

/** Limits of a bucket on the current versions of its objects; undefined is unlimited. */
export interface Quota {
  readonly bytes: number | undefined
  readonly objects: number | undefined
}

export interface BucketCreated {
  readonly name: 'bucket.created'
  readonly bucketId: number
  readonly bucket: string
  readonly region: string
  /** Object Lock; versioning is enabled with it. */
  readonly lockEnabled: boolean
}

export interface BucketVersioningSet {
  readonly name: 'bucket.versioning-set'
  readonly bucketId: number
  readonly bucket: string
  readonly versioning: 'enabled' | 'suspended'
}

export interface BucketRetentionSet {
  readonly name: 'bucket.retention-set'
  readonly bucketId: number
  readonly bucket: string
  readonly retention: DefaultRetention | undefined
}

export interface BucketCorsSet {
  readonly name: 'bucket.cors-set'
  readonly bucketId: number
  readonly bucket: string
  /** Empty: the configuration is removed. */
  readonly rules: readonly CorsRule[]
}

export interface BucketQuotaSet {
  readonly name: 'bucket.quota-set'
  readonly bucketId: number
  readonly bucket: string
  readonly quota: Quota
}

export interface BucketDeleted {
  readonly name: 'bucket.deleted'
  readonly bucketId: number
  readonly bucket: string
}

export interface ObjectWritten {
  readonly name: 'object.written'
  readonly bucketId: number
  readonly key: string
  /** Bytes. */
  readonly size: number
  /** Without quotes. */
  readonly etag: string
  /** SHA-256 of the bytes, 32 bytes; all zeros for a multipart object, whose payload is digested later. */
  readonly digest: Uint8Array
  /** Content headers to give back (Content-Type and so on). */
  readonly headers: HeaderPairs
  /** User metadata, names without the `x-amz-meta-` prefix. */
  readonly metadata: HeaderPairs
  /** Undefined for an object of no bytes. */
  readonly payload: PayloadReference | undefined
  /** True when a current object was there. */
  readonly replaced: boolean
  /** Where the version stands; undefined in a bucket without versioning, where it replaces what was there. */
  readonly version: VersionPlace | undefined
  readonly lock: LockState | undefined
}

/** How a new version or marker of a versioned bucket joins the others of its key. */
export interface VersionPlace {
  /** Whether its version id is `null`: the bucket is suspended. */
  readonly isNull: boolean
  /** Sequence of the earlier `null` version or marker that it replaces; 0 when there is none. */
  readonly replacesNull: number
}

/** A delete marker becomes the newest version of a key. */
export interface MarkerWritten {
  readonly name: 'marker.written'
  readonly bucketId: number
  readonly key: string
  readonly version: VersionPlace
}

/** One version or marker is removed for ever. */
export interface VersionDeleted {
  readonly name: 'version.deleted'
  readonly bucketId: number
  readonly key: string
  /** Sequence of the version. */
  readonly version: number
  /** Sequence of the version that becomes the current object in its place; 0 when none does. */
  readonly promotes: number
}

/** The whole lock state of a version from now on. */
export interface VersionLocked {
  readonly name: 'version.locked'
  readonly bucketId: number
  readonly key: string
  readonly version: number
  readonly lock: LockState
}

/** The upload's number is the sequence of the entry. */
export interface UploadCreated {
  readonly name: 'upload.created'
  readonly bucketId: number
  readonly key: string
  readonly headers: HeaderPairs
  readonly metadata: HeaderPairs
  /** Fixed here for the object to be; undefined leaves it to the bucket's default at completion. */
  readonly lock: LockState | undefined
}

export interface UploadPartWritten {
  readonly name: 'upload.part-written'
  readonly bucketId: number
  readonly key: string
  readonly upload: number
  /** 1 to 10,000. */
  readonly part: number
  readonly size: number
  /** MD5 in hexadecimal. */
  readonly etag: string
  /** SHA-256, 32 bytes. */
  readonly digest: Uint8Array
  readonly payload: PayloadReference | undefined
  /** True when a part of this number was there: it is dropped. */
  readonly replaced: boolean
}

/**
 * The listed parts become one payload, whose number is the upload's; an `object.written` of the same entry refers to
 * it. Parts that are not listed are dropped.
 */
export interface UploadCompleted {
  readonly name: 'upload.completed'
  readonly bucketId: number
  readonly key: string
  readonly upload: number
  /** Part numbers as bits: number n is bit n % 8 of byte n / 8. */
  readonly listed: Uint8Array
  readonly dropped: Uint8Array
}

export interface UploadAborted {
  readonly name: 'upload.aborted'
  readonly bucketId: number
  readonly key: string
  readonly upload: number
  /** The parts that were there, as bits. */
  readonly dropped: Uint8Array
}

/** Bytes of small payloads were copied to other places by compaction; length and checksum stay. */
export interface PayloadMoved {
  readonly name: 'payload.moved'
  readonly payload: number
  readonly volume: number
  readonly offset: number
}

/** Nothing in a volume is referred to any more: its file is removed. */
export interface VolumeRemoved {
  readonly name: 'volume.removed'
  readonly volume: number
}

/** The SHA-256 of a multipart payload is known. */
export interface PayloadDigested {
  readonly name: 'payload.digested'
  readonly payload: number
  /** 32 bytes. */
  readonly digest: Uint8Array
}

/** The entry's time is the clock's high-water mark for retention (specification, Object Lock clock). */
export interface ClockObserved {
  readonly name: 'clock.observed'
}

export interface ObjectDeleted {
  readonly name: 'object.deleted'
  readonly bucketId: number
  readonly key: string
}

export interface JournalRecovered {
  readonly name: 'journal.recovered'
  readonly segment: number
  readonly offset: number
  readonly length: number
  readonly digest: Uint8Array
}

export interface ServerStarted {
  readonly name: 'server.started'
  readonly version: string
  /** 16 hexadecimal digits, new at each start; names of payload files begin with it. */
  readonly start: string
}

export interface ServerStopped {
  readonly name: 'server.stopped'
}

export type Change =
  | AccessChange
  | BucketCreated
  | BucketDeleted
  | BucketVersioningSet
  | BucketRetentionSet
  | BucketCorsSet
  | BucketQuotaSet
  | ObjectWritten
  | ObjectDeleted
  | JournalRecovered
  | ServerStarted
  | ServerStopped
  | MarkerWritten
  | VersionDeleted
  | VersionLocked
  | UploadCreated
  | UploadPartWritten
  | UploadCompleted
  | UploadAborted
  | PayloadMoved
  | PayloadDigested
  | VolumeRemoved
  | ClockObserved
