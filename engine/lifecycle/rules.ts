import { DomainError } from '../errors.ts'
import { requireBucket } from '../domain/bucket.ts'
import type { RulesOf } from '../domain/decision.ts'
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
}
