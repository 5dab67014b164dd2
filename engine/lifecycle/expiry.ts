import { type Microseconds, microsecondsOf, type Milliseconds, type Sequence } from '../brands.ts'
import type { VersionName } from '../commands/version-name.ts'
import { DomainError } from '../errors.ts'
import type { DomainErrorCode } from '../domain/error-table.ts'
import type { LifecycleAction, LifecycleRule } from '../events/values.ts'
import type { BucketState, ObjectState } from '../state-ports.ts'
import type { DecisionContext } from '../domain/decision.ts'
import { requireDestroyable } from '../domain/lock.ts'
import { agedFrom } from '../domain/versions.ts'

const DAY_MICROSECONDS = 24 * 60 * 60 * 1_000_000

/** Why a version that is due stays, as the records call it (specification, Audit event). */
const SKIP_REASONS: { readonly [C in DomainErrorCode]?: SkipReason } = {
  'legal-hold': 'legal_hold',
  'governance-retention': 'governance_retention',
  'compliance-retention': 'compliance_retention',
  'clock-behind': 'clock_unavailable',
}
export type SkipReason = 'legal_hold' | 'governance_retention' | 'compliance_retention' | 'clock_unavailable'

/** Verdict on one entry of a page. */
export type ExpiryVerdict =
  /** There is nothing to do for it any more. */
  | { readonly kind: 'gone' }
  /** It is too young, or its rule does nothing now: so for all after it. */
  | { readonly kind: 'waits' }
  /** The clock cannot be trusted: so for all after it. */
  | { readonly kind: 'clock'; readonly version: VersionName }
  /** A lock keeps it: until then, or where that is undefined until the lock is changed. */
  | {
      readonly kind: 'held'
      readonly version: VersionName
      readonly reason: SkipReason
      readonly untilMicroseconds: Microseconds | undefined
    }
  /** To be deleted: as this version, or where that is undefined as the object of its key. */
  | { readonly kind: 'due'; readonly version: VersionName | undefined }

/** The days of an action; undefined when a rule does not have it. */
function daysOf(rule: LifecycleRule, action: LifecycleAction): number | undefined {
  return action === 'expiration' ? rule.expirationDays : rule.noncurrentDays
}

/** The last moment of which everything is due; undefined for a rule that does nothing. */
export function cutoffOf(rule: LifecycleRule, action: LifecycleAction, now: number): Microseconds | undefined {
  const days = daysOf(rule, action)
  return rule.enabled && days !== undefined ? microsecondsOf(now * 1000 - days * DAY_MICROSECONDS) : undefined
}

/**
 * Judges a version for an action of a rule: the only place that does. A destruction passes the guard of locks, and
 * never bypasses it. The age is judged by the later of the clock and the journal, so no clock that was set back makes
 * anything older.
 */
export function judgeExpiry(
  entry: { readonly key: string; readonly version: Sequence },
  action: LifecycleAction,
  rule: LifecycleRule,
  bucket: BucketState,
  context: DecisionContext,
): ExpiryVerdict {
  const cutoff = cutoffOf(rule, action, context.now)
  if (cutoff === undefined) return { kind: 'waits' }
  if (!entry.key.startsWith(rule.prefix)) return { kind: 'gone' }
  const found = action === 'expiration' ? currentOf(entry, bucket, context) : noncurrentOf(entry, bucket, context)
  if (found === undefined) return { kind: 'gone' }
  if (agedFrom(found) > cutoff) return { kind: 'waits' }
  const version = found.isNull ? 'null' : found.sequence
  if (context.clockIsBehind) return { kind: 'clock', version }
  // In a bucket with versioning an expired object is only hidden, which a lock allows.
  const isDestroyed = action !== 'expiration' || bucket.versioning === 'off'
  const reason = isDestroyed ? heldBy(found, context) : undefined
  if (reason === undefined) return { kind: 'due', version: action === 'expiration' ? undefined : version }
  const until = reason === 'legal_hold' ? undefined : found.lock?.retention?.untilMilliseconds
  return { kind: 'held', version, reason, untilMicroseconds: untilOf(until) }
}

/** A retention may end in the year 9999; microseconds reach to 2255, and later is as good as never. */
function untilOf(milliseconds: Milliseconds | undefined): Microseconds | undefined {
  const microseconds = milliseconds === undefined ? undefined : microsecondsOf(milliseconds * 1000)
  return Number.isSafeInteger(microseconds) ? microseconds : undefined
}

function currentOf(
  { key, version }: { readonly key: string; readonly version: Sequence },
  bucket: BucketState,
  { state }: DecisionContext,
): ObjectState | undefined {
  const found = state.object(bucket.id, key)
  return found?.sequence === version ? found : undefined
}

/** A version that is not the newest of its key. */
function noncurrentOf(
  { key, version }: { readonly key: string; readonly version: Sequence },
  bucket: BucketState,
  { state }: DecisionContext,
): ObjectState | undefined {
  const nullVersion = state.version(bucket.id, key, 'null')
  const found = nullVersion?.sequence === version ? nullVersion : state.version(bucket.id, key, version)
  if (found?.noncurrentMicroseconds === undefined) return undefined
  return state.newestVersion(bucket.id, key)?.sequence === version ? undefined : found
}

function heldBy(version: ObjectState, context: DecisionContext): SkipReason | undefined {
  try {
    requireDestroyable(version, context, false)
    return undefined
  } catch (error) {
    const reason = error instanceof DomainError ? SKIP_REASONS[error.code] : undefined
    if (reason === undefined) throw error
    return reason
  }
}
