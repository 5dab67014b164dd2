import type { Microseconds, Milliseconds, PayloadId, Sequence } from '../brands.ts'
import type { Done } from '../commands/done.ts'
import type { Sent, SpineCommands } from '../commands/spine-commands.ts'
import type { VersionName } from '../commands/version-name.ts'
import type { SpineChange } from '../events/spine-changes.ts'
import type { PayloadReference, UploadChecksum } from '../events/values.ts'
import type { StateReader } from '../state-ports.ts'

/** Gives small payloads their place in a volume. */
interface PayloadPlacement {
  /** @throws DomainError storage-full */
  place(payload: PayloadId, bytes: Uint8Array, checksum: number, sealed: boolean): PayloadReference
}

/** Inputs of every rule. Rules are pure, except that `placement` assigns places. */
export interface DecisionContext {
  readonly state: StateReader
  /** Sequence of the entry that will hold the changes. */
  readonly sequence: Sequence
  /** Sequence of the attempt, which is an entry without changes; undefined without one. */
  readonly attempt?: Sequence
  /** MD5 of a text in hexadecimal, of which an append makes an ETag. */
  readonly md5?: (text: string) => string
  readonly placement: PayloadPlacement
  /** Full-object or composite checksum of a multipart object, from the checksums of its parts. */
  readonly checksumOfParts: (
    asked: UploadChecksum,
    parts: readonly { readonly checksum: Uint8Array; readonly size: number }[],
  ) => Uint8Array
  /** Logical bytes that a bucket may hold by references for each byte that it received (spec/decisions/0020). */
  readonly referenceRatioMaximum: number
  /** The clock, but never before the last entry of the journal (W1). */
  readonly now: Milliseconds
  /** What the host's clock says: for times that people see. */
  readonly host: Microseconds
  /** The times of the record before: of the attempt, where there is one. */
  readonly last: { readonly orderMicroseconds: Microseconds; readonly timeMicroseconds: Microseconds }
  /** The clock is behind the journal by more than the tolerance: retention does not expire. */
  readonly clockIsBehind: boolean
}

/** The changes of a command, and its result for the caller. */
export interface Decision<Change = SpineChange> {
  readonly changes: readonly Change[]
  readonly etag?: string
  /** The version or marker that was written or deleted, in a bucket with versioning. */
  readonly version?: VersionName
  readonly marker?: boolean
}

/** The reply about a decision that was recorded with this sequence and time. */
export function doneOf(
  { etag, version, marker }: Decision<unknown>,
  sequence: Sequence,
  timeMicroseconds: Microseconds,
): Done {
  const done = etag === undefined ? { sequence, timeMicroseconds } : { sequence, timeMicroseconds, etag }
  if (version === undefined && marker === undefined) return done
  return { ...done, ...(version !== undefined && { version }), ...(marker !== undefined && { marker }) }
}

/**
 * A rule for each of these commands. It makes these changes alone. `Passed` is added to the context of all rules: the state
 * of its feature, under the name of the feature, and helpers.
 */
export type RulesOf<Commands, Change, Passed = unknown> = {
  readonly [K in keyof Commands]: (command: Sent<Commands, K>, context: DecisionContext & Passed) => Decision<Change>
}

/** A rule for each command of the spine. */
export type Rules = RulesOf<SpineCommands, SpineChange>

/** A success that changes nothing. */
export const NOTHING_CHANGES: Decision<never> = { changes: [] }
