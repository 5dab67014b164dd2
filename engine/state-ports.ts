import type { AccessState } from './access-state.ts'
import type { Change, DefaultRetention, HeaderPairs, LockState, Quota, Versioning } from './events/changes.ts'
import type { JournalPosition } from './journal/journal.ts'
import type { PayloadLocation } from './payloads/payload-reader.ts'
import type { VersionSelector } from './commands.ts'

/** What the rules need to know of a bucket. */
export interface BucketState {
  readonly id: number
  readonly name: string
  readonly region: string
  readonly createdMicroseconds: number
  readonly versioning: Versioning
  readonly lockEnabled: boolean
  readonly defaultRetention: DefaultRetention | undefined
  readonly quota: Quota
}

/** What the rules need to know of a version of an object, or of a delete marker. */
export interface ObjectState {
  /** Sequence of the entry that wrote it: identifies this very version. The highest of a key is its current one. */
  readonly sequence: number
  /** Whether its version id is `null`. */
  readonly isNull: boolean
  /** A delete marker has no bytes, headers or lock. */
  readonly isMarker: boolean
  readonly modifiedMicroseconds: number
  readonly size: number
  /** Without quotes. */
  readonly etag: string
  /** All zeros for a multipart object: see its payload. */
  readonly digest: Uint8Array
  readonly headers: HeaderPairs
  readonly metadata: HeaderPairs
  /** Payload id, 0 for an object of no bytes. */
  readonly payload: number
  readonly lock: LockState | undefined
}

/** A multipart upload in progress. */
export interface UploadState {
  readonly upload: number
  readonly createdMicroseconds: number
  readonly headers: HeaderPairs
  readonly metadata: HeaderPairs
  readonly lock: LockState | undefined
}

/** A part of an upload in progress. */
export interface PartState {
  /** 1 to 10,000. */
  readonly part: number
  readonly size: number
  /** 16 bytes. */
  readonly md5: Uint8Array
  readonly modifiedMicroseconds: number
  /** Payload id, 0 for a part of no bytes. */
  readonly payload: number
}

/** Current versions of a bucket; what quotas limit. */
export interface LogicalUsage {
  readonly objects: number
  readonly bytes: number
}

/** State as it is with every earlier command of the batch applied. Implemented by the projections. */
export interface StateReader extends AccessState {
  bucket(name: string): BucketState | undefined
  /** The current object; undefined also when the newest version is a delete marker. */
  object(bucketId: number, key: string): ObjectState | undefined
  /** A certain version or marker, current or not. */
  version(bucketId: number, key: string, version: VersionSelector): ObjectState | undefined
  /** The newest version or marker of a key but the one of this sequence. */
  newestVersionBut(bucketId: number, key: string, sequence: number): ObjectState | undefined
  /** True when there is no object, version or marker. */
  bucketIsEmpty(bucketId: number): boolean
  logicalUsage(bucketId: number): LogicalUsage
  upload(bucketId: number, key: string, upload: number): UploadState | undefined
  part(upload: number, part: number): PartState | undefined
  /** All parts of an upload by number. */
  parts(upload: number): Iterable<PartState>
  /** Where a payload is; undefined when it is gone. */
  payload(payload: number): PayloadLocation | undefined
  /** Whether a volume holds no payload any more and is not the newest one, which is still written. */
  volumeIsSpent(volume: number): boolean
}

export interface StateTransaction extends StateReader {
  /** Applies the changes of one entry. Never refuses: what is in the journal is the truth. */
  apply(sequence: number, timeMicroseconds: number, changes: readonly Change[]): void
  /**
   * Ends a batch: notes up to where the journal is applied, and where its records can be found again.
   * `firstSequence` is that of the batch.
   */
  finish(position: AppliedPosition, firstSequence: number): void
  /** Payload files that lost their last reference; they may be removed once the transaction is committed. */
  readonly releasedFiles: readonly string[]
  /** Volumes that were removed; the same holds for their files. */
  readonly removedVolumes: readonly number[]
  /** Whether anything changed about who may do what. */
  readonly accessChanged: boolean
}

/** Position of the last applied entry, with the place of the batch that ends with it. */
export interface AppliedPosition extends JournalPosition {
  readonly segmentNumber: number
  /** First sequence of that segment: the name of its file. */
  readonly segmentFirstSequence: number
  /** Offset where the batch begins. */
  readonly batchOffset: number
  /** Offset behind the batch. */
  readonly offset: number
}

export interface StateStore {
  /** Undefined for a store that has applied nothing. */
  applied(): AppliedPosition | undefined
  /** Runs `work` in one write transaction: committed when it returns, without trace when it throws. */
  update<T>(work: (state: StateTransaction) => T): T
  /** Number of the volume that is written and the end of the bytes in it that entries refer to. */
  volumeEnd(): { readonly volume: number; readonly end: number } | undefined
}
