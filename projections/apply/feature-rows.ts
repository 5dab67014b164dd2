import type { BucketId, Microseconds, Sequence } from '../../engine/brands.ts'
import type { Change } from '../../engine/events/changes.ts'
import type { AppliedPosition } from '../../engine/journal/positions.ts'

/** What a feature does to its rows in one transaction. `Own`: the changes of the feature. */
export interface FeatureRows<Own extends Change = never> {
  /** Applies a change of the feature. Never refuses: the journal is the truth. */
  apply?(sequence: Sequence, time: Microseconds, change: Own): void
  /** Whether rows changed that other threads keep copies of. */
  readonly changed?: boolean
  /** Called for every entry, when its changes are applied. */
  entry?(sequence: Sequence, time: Microseconds, changes: readonly Change[]): void
  bucketDeleted?(bucketId: BucketId): void
  /** Ends a batch of entries that ends at this position. */
  finish?(position: AppliedPosition): void
}
