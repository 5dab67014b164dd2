/** What the model of a store refuses, and by which rule: conditions, and locks (specification, Object Lock rules). */
import type { WriteCondition } from '../../engine/commands/spine-commands.ts'
import type { VersionSelector } from '../../engine/commands/version-name.ts'
import type { LockState, Retention } from '../../engine/events/values.ts'
import type { ModelBucket, ModelVersion } from './state.ts'

/** What a caller is told: done, or the code of the refusal with what it is about. */
export interface Outcome {
  readonly code: string
  readonly subject?: string
  readonly etag?: string
  readonly version?: VersionSelector
  readonly marker?: boolean
  /** Of a refusal for which several rules are a reason: all of them, `code` first. */
  readonly reasons?: readonly string[]
}

/** What the engine says of the moment of a command. */
export interface Moment {
  /** Sequence of the entry, when the command was carried out. */
  readonly sequence: number
  /** Milliseconds since 1970, never before the journal's last entry. */
  readonly now: number
  /** What people see as the time of a change, where it is not `now`: the host's clock, when it is behind the journal. */
  readonly time?: number
  /** The clock is so far behind the journal that no retention is released. */
  readonly clockIsBehind: boolean
}

/** The time that a change has for people (spec/decisions/0229-two-times.md). */
export function timeOf({ now, time = now }: Pick<Moment, 'now' | 'time'>): number {
  return time
}

export class Refusal extends Error {
  readonly outcome: Outcome

  constructor(outcome: Outcome) {
    super(outcome.code)
    this.outcome = outcome
  }
}

export function refuse(code: string, subject?: string): never {
  throw new Refusal(subject === undefined ? { code } : { code, subject })
}

/** Refuses where there is a reason. The engine names the first; on the wire another check may come before. */
export function refuseFor(reasons: readonly string[]): void {
  const [code] = reasons
  if (code !== undefined) throw new Refusal({ code, reasons })
}

export function conditionReasons(condition: WriteCondition, current: ModelVersion | undefined): string[] {
  const { kind } = condition
  if (kind === 'none') return []
  if (kind === 'absent') return current === undefined ? [] : ['precondition-failed']
  if (current === undefined) return kind === 'differs' ? [] : ['object-not-found']
  if (kind !== 'matches' && kind !== 'differs') return []
  // A delete marker has no ETag.
  const isListed = current.etag !== undefined && condition.etags.includes(current.etag)
  return isListed === (kind === 'matches') ? [] : ['precondition-failed']
}

/** Why the lock that a write asks for is refused. */
export function lockReasons(bucket: ModelBucket, asked: LockState | undefined, now: number): string[] {
  if (asked === undefined) return []
  const isPast = asked.retention !== undefined && asked.retention.untilMilliseconds <= now
  return [...(bucket.lockEnabled ? [] : ['lock-not-enabled']), ...(isPast ? ['retention-in-past'] : [])]
}

/** Why a version cannot be destroyed. A hold needs no clock to be judged. */
export function destructionReasons({ lock }: ModelVersion, moment: Moment, bypass: boolean): string[] {
  if (lock?.hold === true) return ['legal-hold']
  return lock?.retention === undefined ? [] : releaseReasons(lock.retention, moment, bypass)
}

/** While the clock cannot be trusted nothing that only time releases is released. */
function releaseReasons(
  { mode, untilMilliseconds }: Retention,
  { now, clockIsBehind }: Moment,
  bypass: boolean,
): string[] {
  if (clockIsBehind) return ['clock-behind']
  if (untilMilliseconds <= now) return []
  if (mode === 'COMPLIANCE') return ['compliance-retention']
  return bypass ? [] : ['governance-retention']
}

/** Why a retention cannot take the place of the present one; undefined takes it away. */
export function retentionReasons(
  present: Retention | undefined,
  wanted: Retention | undefined,
  moment: Moment,
  bypass: boolean,
): string[] {
  if (wanted !== undefined && wanted.untilMilliseconds <= moment.now) return ['retention-in-past']
  if (present === undefined) return []
  const isWeaker = present.mode === 'COMPLIANCE' && wanted?.mode === 'GOVERNANCE'
  const loosens = wanted === undefined || wanted.untilMilliseconds < present.untilMilliseconds || isWeaker
  return loosens ? releaseReasons(present, moment, bypass) : []
}
