import { DomainError } from '../errors.ts'
import { requireBucket } from '../domain/bucket.ts'
import type { RulesOf } from '../domain/decision.ts'
import type { LifecycleRule } from '../events/values.ts'
import type { LifecycleChange } from './change-types.ts'
import type { LifecycleCommands } from './commands.ts'
import type { LifecycleState } from './state.ts'

/** Maximum lifecycle rules of a bucket: every pass reads each of them. */
export const RULES_MAXIMUM = 100

/** Of the changes that set all rules of a bucket: they are one record of the journal, of 32 KiB with its audit record. */
const RULES_BYTES_MAXIMUM = 20 * 1024

/** Upper bound of what the stored form adds to the texts of a change. */
const CHANGE_OVERHEAD_BYTES = 48

export const lifecycleRules: RulesOf<LifecycleCommands, LifecycleChange, { readonly lifecycle: LifecycleState }> = {
  'create-lifecycle-rule'({ bucket: name, rule }, { state, lifecycle }) {
    const { id: bucketId, name: bucket } = requireBucket(state, name)
    if (lifecycle.bucketOfLifecycleRule(rule.rule) !== undefined) throw new DomainError('rule-exists', rule.rule)
    if (lifecycle.lifecycleRules(bucketId).length >= RULES_MAXIMUM) throw new DomainError('too-many-rules', bucket)
    return { changes: [{ name: 'lifecycle.rule-set', bucketId, bucket, rule }] }
  },

  'replace-lifecycle-rule'({ bucket: name, rule }, { state, lifecycle }) {
    const { id: bucketId, name: bucket } = requireBucket(state, name)
    if (lifecycle.bucketOfLifecycleRule(rule.rule) !== bucket) throw new DomainError('rule-not-found', rule.rule)
    return { changes: [{ name: 'lifecycle.rule-set', bucketId, bucket, rule }] }
  },

  'delete-lifecycle-rule'({ rule }, { state, lifecycle }) {
    const name = lifecycle.bucketOfLifecycleRule(rule)
    if (name === undefined) throw new DomainError('rule-not-found', rule)
    const { id: bucketId, name: bucket } = requireBucket(state, name)
    return { changes: [{ name: 'lifecycle.rule-removed', bucketId, bucket, rule }] }
  },

  'set-lifecycle-rules'({ bucket: name, rules }, { state, lifecycle }) {
    const { id: bucketId, name: bucket } = requireBucket(state, name)
    if (rules.length > RULES_MAXIMUM) throw new DomainError('too-many-rules', bucket)
    for (const { rule } of rules) {
      if ((lifecycle.bucketOfLifecycleRule(rule) ?? bucket) !== bucket) throw new DomainError('rule-exists', rule)
    }
    const removed = removedFor(rules, lifecycle.lifecycleRules(bucketId))
    requireRoom(bucket, removed, rules)
    return {
      changes: [
        ...removed.map(({ rule }) => ({ name: 'lifecycle.rule-removed', bucketId, bucket, rule }) as const),
        ...rules.map((rule) => ({ name: 'lifecycle.rule-set', bucketId, bucket, rule }) as const),
      ],
    }
  },
}

/** @throws DomainError */
function requireRoom(bucket: string, removed: readonly LifecycleRule[], set: readonly LifecycleRule[]): void {
  // Removal alone always fits: each rule was set in such a record, or has one of the short ids that the store makes.
  if (set.length === 0) return
  const texts = [...removed.map(({ rule }) => rule), ...set.map(({ rule, prefix }) => rule + prefix)]
  const each = CHANGE_OVERHEAD_BYTES + Buffer.byteLength(bucket)
  const bytes = texts.reduce((sum, text) => sum + each + Buffer.byteLength(text), 0)
  if (bytes > RULES_BYTES_MAXIMUM) throw new DomainError('rules-too-large', bucket)
}

/**
 * The rules to remove before these are set. A rule that stays keeps the place that it has reached, and new rules come last; so
 * all are removed, and start over, where the order would be another.
 */
function removedFor(rules: readonly LifecycleRule[], present: readonly LifecycleRule[]): readonly LifecycleRule[] {
  const wanted = new Set(rules.map(({ rule }) => rule))
  const kept = present.filter(({ rule }) => wanted.has(rule))
  const isInOrder = kept.every(({ rule }, at) => rules[at]?.rule === rule)
  return isInOrder ? present.filter(({ rule }) => !wanted.has(rule)) : present
}
