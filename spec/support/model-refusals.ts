/** What the model of a store refuses, and by which rule: conditions, and locks. */
import type { VersionSelector, WriteCondition } from '../../engine/commands.ts'
import type { LockState, Retention } from '../../engine/events/changes.ts'
import type { ModelBucket, ModelVersion } from './model-state.ts'

/** What a caller is told: done, or the code of the refusal with what it is about. */
export interface Outcome {
  readonly code: string
  readonly subject?: string
  readonly etag?: string
  readonly version?: VersionSelector
  readonly marker?: boolean
}

/** What the engine says of the moment of a command. */
export interface Moment {
  /** Sequence of the entry, when the command was carried out. */
  readonly sequence: number
  /** Milliseconds since 1970, never before the journal's last entry. */
  readonly now: number
  readonly clockIsBehind: boolean
}

export class Refusal extends Error {
  readonly outcome: Outcome

  constructor(code: string, subject?: string) {
    super(code)
    this.outcome = subject === undefined ? { code } : { code, subject }
  }
}

export function refuse(code: string, subject?: string): never {
  throw new Refusal(code, subject)
}

export function holds(condition: WriteCondition, current: ModelVersion | undefined): void {
  const { kind } = condition
  if (kind === 'absent' && current !== undefined) refuse('precondition-failed')
  if ((kind === 'exists' || kind === 'matches') && current === undefined) refuse('object-not-found')
  const etag = current?.etag
  if (kind === 'matches' && !condition.etags.includes(etag ?? '')) refuse('precondition-failed')
  if (kind === 'differs' && etag !== undefined && condition.etags.includes(etag)) refuse('precondition-failed')
}

export function lockMayBe(bucket: ModelBucket, asked: LockState | undefined, now: number): void {
  if (asked === undefined) return
  if (!bucket.lockEnabled) refuse('lock-not-enabled')
  if (asked.retention !== undefined && asked.retention.untilMilliseconds <= now) refuse('retention-in-past')
}

export function mayDestroy({ lock }: ModelVersion, moment: Moment, bypass: boolean): void {
  if (lock?.hold === true) refuse('legal-hold')
  if (lock?.retention !== undefined) mayRelease(lock.retention, moment, bypass)
}

/** While the clock cannot be trusted nothing that only time releases is released. */
export function mayRelease(
  { mode, untilMilliseconds }: Retention,
  { now, clockIsBehind }: Moment,
  bypass: boolean,
): void {
  if (clockIsBehind) refuse('clock-behind')
  if (untilMilliseconds <= now) return
  if (mode === 'COMPLIANCE') refuse('compliance-retention')
  if (!bypass) refuse('governance-retention')
}
