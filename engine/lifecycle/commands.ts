import type { BucketId } from '../brands.ts'
import type { AuditContext } from '../events/audit.ts'
import type { AgePosition, LifecycleAction, LifecycleRule } from '../events/values.ts'

/** Commands on lifecycle rules. */
export interface LifecycleCommands {
  /** The caller makes the id; an id already in use is refused. */
  'create-lifecycle-rule': { bucket: string; rule: LifecycleRule }
  /** Replaces all of a rule but its id. */
  'replace-lifecycle-rule': { bucket: string; rule: LifecycleRule }
  'delete-lifecycle-rule': { rule: string }
  /** Replaces all rules of a bucket: these are all that it has afterwards, in this order. No id occurs twice. */
  'set-lifecycle-rules': { bucket: string; rules: readonly LifecycleRule[] }
}

/** One page of a lifecycle rule: the entries that were due when it was read, in the order of age. */
export interface ExpirePage {
  readonly kind: 'expire-page'
  /** Principal of the removals; operation, resource and metadata come from each entry. */
  readonly audit: AuditContext
  readonly bucket: string
  /** A bucket of the same name that was created since is another one. */
  readonly bucketId: BucketId
  readonly rule: string
  /** The rule's prefix when the page was read: a rule whose prefix has changed since starts over. */
  readonly prefix: string
  readonly action: LifecycleAction
  /** False for entries out of the order of age, and after an entry that failed. */
  readonly movesCursor: boolean
  readonly entries: readonly ({ readonly key: string } & AgePosition)[]
  /** Where the page ended: it may have passed keys of other prefixes after its last entry. */
  readonly through: AgePosition | undefined
  /** That the clock cannot be trusted is recorded already. */
  readonly clockIsNoted: boolean
}

/**
 * Outcome of a page. `end`: all entries were judged; the batch was full before; the next entry is too young or the rule
 * is gone; the clock is behind.
 */
export interface PageOutcome {
  /** Entries that were judged. */
  readonly scanned: number
  readonly expired: number
  readonly held: number
  readonly failed: number
  readonly end: 'done' | 'full' | 'waits' | 'clock'
}
