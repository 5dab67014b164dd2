import type {
  CorsRule,
  DefaultRetention,
  HeaderPairs,
  LockState,
  ObjectChecksum,
  Quota,
  Retention,
  UploadChecksum,
  Versioning,
} from './events/values.ts'
import type { BucketId, Microseconds, Milliseconds, PayloadId, Sequence, UploadId, VolumeNumber } from './brands.ts'
import type { PayloadLocation } from './payloads/payload-reader.ts'
import type { VersionSelector } from './commands/version-name.ts'

/** State of a bucket as the rules read it. */
export interface BucketState {
  readonly id: BucketId
  readonly name: string
  readonly region: string
  readonly createdMicroseconds: Microseconds
  readonly versioning: Versioning
  readonly lockEnabled: boolean
  readonly defaultRetention: DefaultRetention | undefined
  readonly quota: Quota
}

/** The request that renamed an object: by this a repeat of it is known. */
interface RenamedFrom {
  readonly token: string
  readonly key: string
}

/** A version of an object, or a delete marker, as the rules read it. */
export interface ObjectState {
  /** Sequence of the entry that wrote it, which identifies the version. The highest of a key is the current one. */
  readonly sequence: Sequence
  /** Whether its version id is `null`. */
  readonly isNull: boolean
  /** A delete marker has no bytes, headers or lock. */
  readonly isMarker: boolean
  readonly modifiedMicroseconds: Microseconds
  /** The order time of its writing, where that differs: lifecycle rules count its age from there. */
  readonly agedMicroseconds?: Microseconds | undefined
  readonly size: number
  /** Without quotes. */
  readonly etag: string
  /** All zeros for a multipart object: see its payload. */
  readonly digest: Uint8Array
  readonly headers: HeaderPairs
  readonly metadata: HeaderPairs
  /** Undefined for an object of no bytes. */
  readonly payload: PayloadId | undefined
  readonly lock: LockState | undefined
  /** Of the whole object, where there is one. */
  readonly checksum: ObjectChecksum | undefined
  /** Of an object that a request with a client token renamed: the token, and the key that it had before. */
  readonly renamed?: RenamedFrom | undefined
  /** Key, value, key, value; undefined without tags. */
  readonly tags?: readonly string[] | undefined
  /** Since when it is not the newest of its key any more; an order time. */
  readonly noncurrentMicroseconds?: Microseconds | undefined
  /** When lifecycle rules look at it, where that is not in the order of age: see the table `ages`. */
  readonly revisitMicroseconds?: Microseconds | undefined
}

/** A multipart upload in progress. */
export interface UploadState {
  readonly upload: UploadId
  readonly createdMicroseconds: Microseconds
  /** The order time of its creation, where that differs: its age counts from there. */
  readonly agedMicroseconds?: Microseconds | undefined
  readonly headers: HeaderPairs
  readonly metadata: HeaderPairs
  /** The lock that was asked for. */
  readonly lock: LockState | undefined
  /** The bucket's default at creation, if no lock was asked for. */
  readonly given: Retention | undefined
  /** The checksum for the whole object. */
  readonly checksum: UploadChecksum | undefined
  /** The tags of the object; undefined without tags. */
  readonly tags?: readonly string[] | undefined
}

/** A part of an upload in progress. */
export interface PartState {
  /** 1 to 10,000. */
  readonly part: number
  readonly size: number
  /** 16 bytes. */
  readonly md5: Uint8Array
  /** By the algorithm that the upload asks for. */
  readonly checksum: Uint8Array | undefined
  readonly modifiedMicroseconds: Microseconds
  /** Undefined for a part of no bytes. */
  readonly payload: PayloadId | undefined
}

/** What a bucket holds. `objects` and `bytes` count current versions, which quotas limit. */
export interface LogicalUsage {
  readonly objects: number
  readonly bytes: number
  readonly noncurrentBytes: number
  /** Of parts of uploads in progress. */
  readonly uploadBytes: number
  /** Bytes ever received by this bucket, or by a bucket that it has copies of, whichever is more. */
  readonly receivedBytes: number
}

/** A time, without its first millisecond and with its last one. */
export interface EndsSpan {
  readonly after: Milliseconds
  readonly through: Milliseconds
}

/** What ends by itself, as the rules read it. */
export interface EndsState {
  /** Whether anything ends in a span. */
  endsIn(span: EndsSpan): boolean
}

/**
 * The state after every earlier command of the batch, without the state of features, which their rules ask for
 * themselves. Implemented by the projections.
 */
export interface StateReader {
  bucket(name: string): BucketState | undefined
  /** The CORS rules of a bucket; none without a configuration. */
  cors(bucketId: BucketId): readonly CorsRule[]
  /** The tags of a bucket: key, value, key, value. */
  bucketTags(bucketId: BucketId): readonly string[]
  /** The current object; undefined also when the newest version is a delete marker. */
  object(bucketId: BucketId, key: string): ObjectState | undefined
  /** A version or marker, current or not. */
  version(bucketId: BucketId, key: string, version: VersionSelector): ObjectState | undefined
  /** The newest version or marker of a key, except the one with the sequence `except`. */
  newestVersion(bucketId: BucketId, key: string, except?: Sequence): ObjectState | undefined
  /** True when there is no object, version or marker. */
  bucketIsEmpty(bucketId: BucketId): boolean
  logicalUsage(bucketId: BucketId): LogicalUsage
  upload(bucketId: BucketId, key: string, upload: UploadId): UploadState | undefined
  /** The first uploads in progress of a bucket, by key. */
  uploads(bucketId: BucketId, limit: number): readonly { readonly key: string; readonly upload: UploadId }[]
  part(upload: UploadId, part: number): PartState | undefined
  /** All parts of an upload by number. */
  parts(upload: UploadId): Iterable<PartState>
  /** Where a payload is; undefined when it is gone. */
  payload(payload: PayloadId): PayloadLocation | undefined
  /** How many refer to a payload; 0 when it is gone. */
  references(payload: PayloadId): number
  /** The last entry that records a restore from a backup. */
  lastRestore(): Sequence | undefined
  /** Whether a volume holds no payload and is not the newest one, which is still written. */
  volumeIsSpent(volume: VolumeNumber): boolean
}
