import type { SpineCommand } from '../commands/spine-commands.ts'
import type { Decision, DecisionContext } from '../domain/decision.ts'
import { type ExpiryVerdict, judgeExpiry, type SkipReason } from './expiry.ts'
import type { AuditContext } from '../events/audit.ts'
import type { AgePosition } from '../events/values.ts'
import type { BucketState, StateReader } from '../state-ports.ts'
import type { LifecycleChange } from './change-types.ts'
import type { ExpirePage, PageOutcome } from './commands.ts'
import type { LifecycleRuleState, LifecycleState } from './state.ts'

type Entry = ExpirePage['entries'][number]
type Ended = Extract<ExpiryVerdict, { kind: 'waits' | 'clock' }>

/** Callbacks of the engine for a page. */
interface PageWork {
  /** Inputs for judging the next entry. */
  context(): DecisionContext
  /** Carries out a deletion with its records; false when it was refused. */
  remove(removal: SpineCommand<'delete-object'>): boolean
  /** Records something of the worker's own; false when it cannot be written. */
  note(audit: AuditContext, decision: Decision<LifecycleChange>): boolean
  /** Whether the batch takes another entry. */
  hasRoom(): boolean
}

/** Operations in the audit records of lifecycle rules (specification, Audit event). */
const REMOVAL = {
  expiration: 'lifecycle.expire-object',
  'noncurrent-expiration': 'lifecycle.expire-noncurrent-version',
} as const
const SKIP = 'lifecycle.skip-locked-version'
/** That a rule has come further. The specification has no name for it: it only wants that to be durable. */
const SCAN = 'lifecycle.scan'

/**
 * Removes the due entries of one page of a rule, and records how far the rule has come, all in one batch. Every entry
 * is judged again by the present rule and state, because the page was read before. The next page starts at the first
 * entry that could not be removed or that is not due.
 */
export function expirePage(
  command: ExpirePage,
  state: StateReader,
  lifecycle: LifecycleState,
  work: PageWork,
): PageOutcome {
  const bucket = state.bucket(command.bucket)
  const rule = bucket && lifecycle.lifecycleRules(bucket.id).find((other) => other.rule === command.rule)
  const isStale = bucket?.id !== command.bucketId || rule?.prefix !== command.prefix
  if (bucket === undefined || rule === undefined || isStale) {
    return { scanned: 0, expired: 0, held: 0, failed: 0, end: 'waits' }
  }
  return expireEntries(command, bucket, rule, work)
}

function expireEntries(
  command: ExpirePage,
  bucket: BucketState,
  rule: LifecycleRuleState,
  work: PageWork,
): PageOutcome {
  const count = { scanned: 0, expired: 0, held: 0, failed: 0 }
  let end: PageOutcome['end'] = 'done'
  let reached: AgePosition | undefined
  for (const [index, entry] of command.entries.entries()) {
    const handled = index > 0 && !work.hasRoom() ? 'full' : expireOne(command, entry, bucket, rule, work)
    if (handled === 'clock') count.held += 1
    if (handled === 'full' || handled === 'waits' || handled === 'clock') {
      end = handled
      break
    }
    count.scanned += 1
    if (handled !== 'gone') count[handled] += 1
    if (count.failed === 0) reached = { timeMicroseconds: entry.timeMicroseconds, version: entry.version }
  }
  if (end === 'done' && count.failed === 0) reached = command.through ?? reached
  if (reached !== undefined && command.movesCursor && !move(command, rule, reached, work)) count.failed += 1
  return { ...count, end }
}

function expireOne(
  command: ExpirePage,
  entry: Entry,
  bucket: BucketState,
  rule: LifecycleRuleState,
  work: PageWork,
): 'expired' | 'held' | 'failed' | 'gone' | Ended['kind'] {
  const verdict = judgeExpiry(entry, command.action, rule, bucket, work.context())
  const { key } = entry
  switch (verdict.kind) {
    case 'gone':
    case 'waits':
      break
    case 'clock':
      if (!command.clockIsNoted)
        work.note(skipAudit(command, key, rule, 'clock_unavailable'), { changes: [], version: verdict.version })
      break
    case 'held': {
      const { reason, version, untilMicroseconds } = verdict
      const held = { bucketId: bucket.id, key, version: entry.version, untilMicroseconds }
      const changes = [{ name: 'lifecycle.version-held', ...held } as const]
      return work.note(skipAudit(command, key, rule, reason), { changes, version }) ? 'held' : 'failed'
    }
    case 'due': {
      const audit = auditOf(command, key, rule, REMOVAL[command.action])
      const { version } = verdict
      const removal = { bucket: bucket.name, key, bypassGovernance: false, condition: { kind: 'none' } } as const
      const named = version === undefined ? {} : { version }
      return work.remove({ kind: 'delete-object', audit, ...removal, ...named }) ? 'expired' : 'failed'
    }
  }
  return verdict.kind
}

/** Records the place that a rule has reached, if it has moved; false when that place cannot be written. */
function move(command: ExpirePage, rule: LifecycleRuleState, position: AgePosition, work: PageWork): boolean {
  const { bucketId, action } = command
  const before = rule.cursors[action]
  if (before?.timeMicroseconds === position.timeMicroseconds && before.version === position.version) return true
  const audit = auditOf(command, undefined, rule, SCAN)
  return work.note(audit, { changes: [{ name: 'lifecycle.scanned', bucketId, rule: rule.rule, action, position }] })
}

function skipAudit(command: ExpirePage, key: string, rule: LifecycleRuleState, reason: SkipReason): AuditContext {
  const audit = auditOf(command, key, rule, SKIP)
  return { ...audit, metadata: [...audit.metadata, 'reason', reason] }
}

function auditOf(
  { audit, bucket }: ExpirePage,
  key: string | undefined,
  { rule, prefix }: LifecycleRuleState,
  operation: string,
): AuditContext {
  const resource = key === undefined ? `bucket:${bucket}` : `bucket:${bucket}/${key}`
  return { ...audit, operation, resource, metadata: ['rule_id', rule, 'rule_prefix', prefix] }
}
