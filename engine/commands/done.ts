import type { Microseconds, Sequence } from '../brands.ts'
import type { DomainErrorCode } from '../domain/error-table.ts'
import type { PageOutcome } from '../lifecycle/commands.ts'
import type { VersionName } from './version-name.ts'

/** Outcome for one key of a batch: deleted, with fields of `Done`; refused by the rules; refused by the sender. */
export type DeletionOutcome =
  | { readonly kind: 'deleted'; readonly version?: VersionName; readonly marker?: boolean }
  | { readonly kind: 'failed'; readonly code: DomainErrorCode; readonly subject: string | undefined }
  | { readonly kind: 'refused' }

/** The result of a successful command. */
export interface Done {
  /** Sequence of the entry that records the outcome (or the attempt, for `record-attempt`). */
  readonly sequence: Sequence
  readonly timeMicroseconds: Microseconds
  /** ETag of the object or part written. */
  readonly etag?: string
  /** Sequence of the version or marker that was written or deleted; `null` for the `null` version. */
  readonly version?: VersionName
  /** Whether that is a delete marker. */
  readonly marker?: boolean
  /** Outcome of a page of a lifecycle rule. */
  readonly page?: PageOutcome
  /** Outcomes of the first deletions of a batch, at least of one; the rest was not carried out. */
  readonly deletions?: readonly DeletionOutcome[]
}
