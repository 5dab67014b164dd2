import type { VersionSelector } from '../commands.ts'
import type { Change, PayloadReference } from '../events/changes.ts'
import type { StateReader } from '../state-ports.ts'

/** Gives small payloads their place in a volume. */
export interface PayloadPlacement {
  /** @throws DomainError storage-full */
  place(payload: number, bytes: Uint8Array, checksum: number, sealed: boolean): PayloadReference
}

/** What a rule may look at. Rules are pure but for the places that `placement` hands out. */
export interface DecisionContext {
  readonly state: StateReader
  /** Sequence of the entry that will hold the changes. */
  readonly sequence: number
  readonly placement: PayloadPlacement
  /** Milliseconds since 1970: the clock, but never before the last entry of the journal (W1). */
  readonly now: number
  /** The clock is behind the journal by more than the tolerance: what only time releases is not released. */
  readonly clockIsBehind: boolean
}

/** What a command does to the state, and what its caller is told. */
export interface Decision {
  readonly changes: readonly Change[]
  readonly etag?: string
  /** The version or marker that was written or deleted, in a bucket with versioning. */
  readonly version?: VersionSelector
  readonly marker?: boolean
}

/** A success that changes nothing. */
export const NOTHING_CHANGES: Decision = { changes: [] }
