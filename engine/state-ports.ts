import type { Change, HeaderPairs } from './events/changes.ts'
import type { JournalPosition } from './journal/journal.ts'

/** What the rules need to know of a bucket. */
export interface BucketState {
  readonly id: number
  readonly name: string
  readonly region: string
  readonly createdMicroseconds: number
}

/** What the rules need to know of a current object. */
export interface ObjectState {
  /** Sequence of the entry that wrote it: identifies this very version. */
  readonly sequence: number
  readonly modifiedMicroseconds: number
  readonly size: number
  /** Without quotes. */
  readonly etag: string
  readonly digest: Uint8Array
  readonly headers: HeaderPairs
  readonly metadata: HeaderPairs
  /** Payload id, 0 for an object of no bytes. */
  readonly payload: number
}

/** State as it is with every earlier command of the batch applied. Implemented by the projections. */
export interface StateReader {
  bucket(name: string): BucketState | undefined
  object(bucketId: number, key: string): ObjectState | undefined
  bucketIsEmpty(bucketId: number): boolean
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
