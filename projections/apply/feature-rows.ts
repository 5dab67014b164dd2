import type { BucketId, Sequence } from '../../engine/brands.ts'
import type { Change } from '../../engine/events/changes.ts'
import type { CredentialUse } from '../../engine/journal/credential-uses.ts'
import type { AppliedPosition } from '../../engine/journal/positions.ts'
import type { RecordTimes } from '../../engine/journal/record-times.ts'

/** What a feature does to its rows in one transaction. `Own`: the changes of the feature. */
export interface FeatureRows<Own extends Change = never> {
  /** Applies a change of the feature. Never refuses: the journal is the truth. */
  apply?(sequence: Sequence, times: RecordTimes, change: Own): void
  /** Whether rows changed that other threads keep copies of. */
  readonly changed?: boolean
  /** Called for every entry, when its changes are applied. */
  entry?(sequence: Sequence, times: RecordTimes, changes: readonly Change[]): void
  bucketDeleted?(bucketId: BucketId): void
  /** Ends a batch of entries that ends at this position. */
  finish?(position: AppliedPosition, uses: readonly CredentialUse[]): void
}
