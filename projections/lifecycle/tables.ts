import { type BucketId, bucketIdOf } from '../../engine/brands.ts'
import { listOf, optional } from '../../engine/events/schema/kinds.ts'
import { field, record } from '../../engine/events/schema/record.ts'
import { agePosition, lifecycleRule } from '../../engine/events/values.ts'
import type { LifecycleRuleState } from '../../engine/lifecycle/state.ts'
import { numberKey, readNumber } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'
import { packed } from '../tables/row-codecs.ts'

/** The names of its tables. */
export const lifecycleTables = {
  lifecycle: 'lifecycle',
  lifecycleRules: 'lifecycle-rules',
} as const

/**
 * `lifecycle`: bucket id (8) -> MessagePack of its rules in the order of their creation, each with the places in the
 * order of age that its two actions have reached; no row without rules.
 *
 * `lifecycle-rules`: rule id -> name of its bucket, both in UTF-8.
 */
const rows = packed(
  listOf(
    record('rule', {
      rule: field(lifecycleRule, 'rule'),
      expiration: field(optional(agePosition), 'expiration'),
      noncurrent: field(optional(agePosition), 'noncurrent expiration'),
    }),
  ),
)

function decode(value: Buffer): readonly LifecycleRuleState[] {
  return rows.decode(value).map(({ rule, expiration, noncurrent }) => ({
    ...rule,
    cursors: { ...(expiration && { expiration }), ...(noncurrent && { 'noncurrent-expiration': noncurrent }) },
  }))
}

export function getLifecycleRules(table: TableReader, bucketId: BucketId): readonly LifecycleRuleState[] {
  const value = table.get(numberKey(bucketId))
  return value === undefined ? [] : decode(value)
}

/** Buckets that have rules after a bucket, in the order of their creation. */
export function bucketsWithRules(table: TableReader, after: BucketId | undefined, limit: number): BucketId[] {
  const start = after === undefined ? {} : { start: numberKey(after + 1) }
  return Array.from(table.keys({ ...start, limit }), (key) => bucketIdOf(readNumber(key, 0)))
}

export function putLifecycleRules(table: Table, bucketId: BucketId, rules: readonly LifecycleRuleState[]): void {
  if (rules.length === 0) return table.remove(numberKey(bucketId))
  const stored = rules.map(({ cursors, ...rule }) => ({
    rule,
    expiration: cursors.expiration,
    noncurrent: cursors['noncurrent-expiration'],
  }))
  return table.put(numberKey(bucketId), rows.encode(stored))
}

/** No rule has a longer id, and LMDB fails on keys beyond a few KiB: anybody may ask for anything. */
const ID_LENGTH_MAXIMUM = 255

export function getBucketOfRule(table: TableReader, rule: string): string | undefined {
  if (rule.length === 0 || rule.length > ID_LENGTH_MAXIMUM) return undefined
  return table.get(Buffer.from(rule))?.toString()
}
