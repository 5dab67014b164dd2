import type { LifecycleRule } from '../events/values.ts'
import { listText, NONE, type SettingReaders } from '../records/setting-texts.ts'
import type { StateReader } from '../state-ports.ts'
import type { LifecycleCommands } from './commands.ts'
import type { LifecycleState } from './state.ts'

/** A rule as one text, without its bucket: the record names that already. */
function ruleText(rule: LifecycleRule | undefined): string {
  if (rule === undefined) return NONE
  const { prefix, enabled, expirationDays: expiration, noncurrentDays } = rule
  return JSON.stringify({ prefix, enabled, expiration, noncurrent_version_expiration: noncurrentDays })
}

/** All rules of a bucket, with their ids. */
function rulesText(rules: readonly LifecycleRule[]): string {
  return listText(
    rules.map(({ rule, prefix, enabled, expirationDays: expiration, noncurrentDays }) => {
      return { id: rule, prefix, enabled, expiration, noncurrent_version_expiration: noncurrentDays }
    }),
  )
}

function ruleBefore(
  rule: string,
  { state, lifecycle }: { readonly state: StateReader; readonly lifecycle: LifecycleState },
): LifecycleRule | undefined {
  const bucket = state.bucket(lifecycle.bucketOfLifecycleRule(rule) ?? '')
  return bucket && lifecycle.lifecycleRules(bucket.id).find((other) => other.rule === rule)
}

/** What a change of a rule is, in its records. */
export const lifecycleSettings: SettingReaders<LifecycleCommands, { readonly lifecycle: LifecycleState }> = {
  'create-lifecycle-rule': ({ rule }) => [['lifecycle_rule', undefined, ruleText(rule)]],

  'replace-lifecycle-rule'({ rule }, context) {
    const before = ruleBefore(rule.rule, context)
    return [['lifecycle_rule', before && ruleText(before), ruleText(rule)]]
  },

  'delete-lifecycle-rule'({ rule }, context) {
    const before = ruleBefore(rule, context)
    return before === undefined ? [] : [['lifecycle_rule', ruleText(before), NONE]]
  },

  'set-lifecycle-rules'({ bucket: name, rules }, { state, lifecycle }) {
    const bucket = state.bucket(name)
    return [['lifecycle_rules', bucket && rulesText(lifecycle.lifecycleRules(bucket.id)), rulesText(rules)]]
  },
}
