import { DomainError } from '../errors.ts'
import { requireBucket } from '../domain/bucket.ts'
import type { RulesOf } from '../domain/decision.ts'
import type { LifecycleRule } from '../events/values.ts'
import type { LifecycleChange } from './change-types.ts'
import type { LifecycleCommands } from './commands.ts'
import type { LifecycleState } from './state.ts'

/** Maximum lifecycle rules of a bucket: every pass reads each of them. */
export const RULES_MAXIMUM = 100

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
    return {
      changes: [
        ...removed.map(({ rule }) => ({ name: 'lifecycle.rule-removed', bucketId, bucket, rule }) as const),
        ...rules.map((rule) => ({ name: 'lifecycle.rule-set', bucketId, bucket, rule }) as const),
      ],
    }
  },
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
