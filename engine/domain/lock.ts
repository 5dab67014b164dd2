import { type Milliseconds, millisecondsOf } from '../brands.ts'
import type { SpineCommand } from '../commands/spine-commands.ts'
import type { VersionName, VersionSelector } from '../commands/version-name.ts'
import { DomainError } from '../errors.ts'
import type { DefaultRetention, LockState, Retention } from '../events/values.ts'
import type { BucketState, ObjectState, StateReader } from '../state-ports.ts'
import { requireBucket } from './bucket.ts'
import type { Decision, DecisionContext, Rules } from './decision.ts'

/** The bounds of S3. A year is 365 days (specification, Object Lock rule 2), so both are the same length of time. */
export const DEFAULT_RETENTION_MAXIMUM = { days: 36_500, years: 100 } as const

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000
const DAYS_PER_YEAR = 365

/**
 * The one guard before a version is destroyed, by a deletion with its id or by a write that replaces the `null` version
 * (S7, W4). A legal hold and a compliance retention cannot be bypassed.
 * @throws DomainError legal-hold, governance-retention, compliance-retention, clock-behind
 */
export function requireDestroyable(
  version: ObjectState,
  { now, clockIsBehind }: DecisionContext,
  bypassGovernance: boolean,
): void {
  const { lock } = version
  if (lock === undefined) return
  if (lock.hold === true) throw new DomainError('legal-hold')
  if (lock.retention === undefined) return
  if (clockIsBehind) throw new DomainError('clock-behind')
  requireReleased(lock.retention, now, bypassGovernance)
}

function requireReleased(retention: Retention, now: Milliseconds, bypassGovernance: boolean): void {
  if (retention.untilMilliseconds <= now) return
  if (retention.mode === 'COMPLIANCE') throw new DomainError('compliance-retention')
  if (!bypassGovernance) throw new DomainError('governance-retention')
}

/**
 * Checks the lock that a write asks for.
 * @throws DomainError lock-not-enabled, retention-in-past
 */
export function requireLockable(bucket: BucketState, asked: LockState | undefined, now: Milliseconds): void {
  if (asked === undefined) return
  if (!bucket.lockEnabled) throw new DomainError('lock-not-enabled', bucket.name)
  requireFuture(asked.retention, now)
}

function requireFuture(retention: Retention | undefined, now: Milliseconds): void {
  if (retention !== undefined && retention.untilMilliseconds <= now) throw new DomainError('retention-in-past')
}

/**
 * The lock of a new version: as asked for; without a retention in it the bucket's present default (specification,
 * Object Lock, rules 3 and 4).
 * @param given by the default earlier, to the upload that makes the version: it is not loosened
 */
export function lockAtBirth(
  bucket: BucketState,
  asked: LockState | undefined,
  now: Milliseconds,
  given?: Retention,
): LockState | undefined {
  const retention = asked?.retention ?? stricter(given, defaultRetention(bucket.defaultRetention, now))
  const hold = asked?.hold
  return retention === undefined && hold === undefined ? undefined : { retention, hold }
}

/** The stricter mode until the later end. */
function stricter(one: Retention | undefined, other: Retention | undefined): Retention | undefined {
  if (one === undefined || other === undefined) return one ?? other
  const isCompliance = one.mode === 'COMPLIANCE' || other.mode === 'COMPLIANCE'
  return {
    mode: isCompliance ? 'COMPLIANCE' : 'GOVERNANCE',
    untilMilliseconds:
      one.untilMilliseconds > other.untilMilliseconds ? one.untilMilliseconds : other.untilMilliseconds,
  }
}

/** The retention that a version written now gets by the default of its bucket. */
export function defaultRetention(standard: DefaultRetention | undefined, now: Milliseconds): Retention | undefined {
  if (standard === undefined) return undefined
  const days = standard.unit === 'years' ? standard.value * DAYS_PER_YEAR : standard.value
  return { mode: standard.mode, untilMilliseconds: millisecondsOf(now + days * DAY_MILLISECONDS) }
}

/** Whether a retention would release a version earlier, or more easily, than the present one. */
function loosens(present: Retention, wanted: Retention | undefined): boolean {
  if (wanted === undefined || wanted.untilMilliseconds < present.untilMilliseconds) return true
  return present.mode === 'COMPLIANCE' && wanted.mode === 'GOVERNANCE'
}

/**
 * The version for which a command asks to bypass governance, whether it is retained or not; undefined when it does not
 * exist, and for a deletion without an id, which only hides the key.
 */
export function bypassedVersion(
  command: SpineCommand<'delete-object' | 'set-retention'>,
  state: StateReader,
): VersionName | undefined {
  const bucket = state.bucket(command.bucket)
  if (!command.bypassGovernance || bucket === undefined) return undefined
  const { kind, key, version } = command
  const current = kind === 'set-retention' ? state.object(bucket.id, key) : undefined
  const found = version === undefined ? current : state.version(bucket.id, key, version)
  if (found === undefined) return undefined
  return found.isNull ? 'null' : found.sequence
}

function locked(bucket: BucketState, key: string, version: ObjectState, lock: LockState): Decision {
  const changes = [{ name: 'version.locked', bucketId: bucket.id, key, version: version.sequence, lock } as const]
  return { changes, version: version.isNull ? 'null' : version.sequence }
}

/** Names a version; an undefined version is the current object. */
interface NamedVersion {
  readonly bucket: string
  readonly key: string
  readonly version: VersionSelector | undefined
}

/** @throws DomainError bucket-not-found, lock-not-enabled, object-not-found, version-not-found, version-is-marker */
function requireLockedVersion(
  command: NamedVersion,
  { state }: DecisionContext,
): { readonly bucket: BucketState; readonly version: ObjectState } {
  const bucket = requireBucket(state, command.bucket)
  if (!bucket.lockEnabled) throw new DomainError('lock-not-enabled', bucket.name)
  return { bucket, version: requireVersion(command, bucket, state) }
}

/** @throws DomainError object-not-found, version-not-found, version-is-marker */
export function requireVersion(
  { key, version: name }: NamedVersion,
  { id }: BucketState,
  state: StateReader,
): ObjectState {
  const version = name === undefined ? state.object(id, key) : state.version(id, key, name)
  if (version === undefined) throw new DomainError(name === undefined ? 'object-not-found' : 'version-not-found', key)
  if (version.isMarker) throw new DomainError('version-is-marker')
  return version
}

export const lockRules = {
  /** Tightening needs only the permission to set a retention; loosening is judged like a release. */
  'set-retention'(command, context) {
    const { bucket, version } = requireLockedVersion(command, context)
    const { retention: wanted } = command
    requireFuture(wanted, context.now)
    const present = version.lock?.retention
    if (present !== undefined && loosens(present, wanted)) {
      if (context.clockIsBehind) throw new DomainError('clock-behind')
      requireReleased(present, context.now, command.bypassGovernance)
    }
    return locked(bucket, command.key, version, { retention: wanted, hold: version.lock?.hold })
  },

  /** A hold and a retention are independent of each other (rule 10). */
  'set-legal-hold'(command, context) {
    const { bucket, version } = requireLockedVersion(command, context)
    return locked(bucket, command.key, version, { retention: version.lock?.retention, hold: command.hold })
  },
} satisfies Partial<Rules>
