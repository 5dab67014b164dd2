/** The rules of Object Lock (specification, Object Lock rules 1 to 10; W4, W5) over the model. */
import type { HeaderLine } from '../../planes/http/exchange.ts'
import type { ErrorCode } from './expectation.ts'
import type { Bucket, Moment, Retention, RetentionMode, Version } from './model-state.ts'

/** What the lock headers of a write say. A mode without a time, or a time without a mode, is a fault of the caller. */
export interface AskedLock {
  readonly mode?: RetentionMode | undefined
  readonly until?: number | undefined
  readonly hold?: boolean | undefined
}

const DAY = 24 * 3600 * 1000

export function lockHeaders({ mode, until, hold }: AskedLock): HeaderLine[] {
  const headers: HeaderLine[] = []
  if (mode !== undefined) headers.push(['x-amz-object-lock-mode', mode])
  if (until !== undefined) headers.push(['x-amz-object-lock-retain-until-date', new Date(until).toISOString()])
  if (hold !== undefined) headers.push(['x-amz-object-lock-legal-hold', hold ? 'ON' : 'OFF'])
  return headers
}

/** Why the lock that a write asks for is refused. */
export function askedLockRefusals(bucket: Bucket, asked: AskedLock, { now }: Moment): ErrorCode[] {
  if ((asked.mode === undefined) !== (asked.until === undefined)) {
    return bucket.hasLock ? ['InvalidArgument'] : ['InvalidArgument', 'InvalidRequest']
  }
  if (asked.until === undefined && asked.hold === undefined) return []
  const refusals: ErrorCode[] = bucket.hasLock ? [] : ['InvalidRequest']
  if (asked.until !== undefined && asked.until <= now) refusals.push('InvalidArgument')
  return refusals
}

/** The lock of a version at its birth: what was asked for, else the default of the bucket as it is now (rule 3). */
export function lockAtBirth(bucket: Bucket, asked: AskedLock, now: number): Pick<Version, 'retention' | 'hold'> {
  const { mode, until, hold } = asked
  if (mode !== undefined && until !== undefined) return { retention: { mode, until }, hold }
  const { standard } = bucket
  if (standard === undefined) return { retention: undefined, hold }
  const days = standard.value * (standard.unit === 'Years' ? 365 : 1)
  return { retention: { mode: standard.mode, until: now + days * DAY }, hold }
}

/** Why a version cannot be destroyed. A hold needs no clock to be judged. */
export function destructionRefusals({ retention, hold }: Version, moment: Moment, bypasses: boolean): ErrorCode[] {
  if (hold === true) return ['AccessDenied']
  return retention === undefined ? [] : releaseRefusals(retention, moment, bypasses)
}

function releaseRefusals(retention: Retention, { now, isBehind }: Moment, bypasses: boolean): ErrorCode[] {
  if (isBehind) return ['ServiceUnavailable']
  if (now >= retention.until) return []
  return retention.mode === 'GOVERNANCE' && bypasses ? [] : ['AccessDenied']
}

/** Why a retention cannot take the place of another one; undefined takes it away. */
export function replacementRefusals(
  present: Retention | undefined,
  wanted: Retention | undefined,
  moment: Moment,
  bypasses: boolean,
): ErrorCode[] {
  if (wanted !== undefined && wanted.until <= moment.now) return ['InvalidArgument']
  if (present === undefined) return []
  const isWeaker = present.mode === 'COMPLIANCE' && wanted?.mode === 'GOVERNANCE'
  const loosens = wanted === undefined || wanted.until < present.until || isWeaker
  return loosens ? releaseRefusals(present, moment, bypasses) : []
}
