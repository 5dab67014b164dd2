import type { RecordTimes } from '../../engine/journal/record-times.ts'
import type { BucketId, Sequence } from '../../engine/brands.ts'
import type { ChangeNamed } from '../../engine/events/schema/change.ts'
import type { LifecycleChange } from '../../engine/lifecycle/change-types.ts'
import type { LifecycleRuleState, LifecycleState } from '../../engine/lifecycle/state.ts'
import type { FeatureRows } from '../apply/feature-rows.ts'
import type { NamedTables } from '../tables/named-tables.ts'
import { getLifecycleRules, putLifecycleRules, getBucketOfRule, type lifecycleTables } from './tables.ts'

/** The rows of versions, which say when rules look at them. */
interface HeldVersions {
  held(change: ChangeNamed<LifecycleChange, 'lifecycle.version-held'>): void
}

type RowTables = NamedTables<typeof lifecycleTables>

/** Applies changes to lifecycle rules. */
export class LifecycleRows implements LifecycleState, FeatureRows<LifecycleChange> {
  readonly #tables: RowTables
  readonly #versions: HeldVersions

  constructor(tables: RowTables, versions: HeldVersions) {
    this.#tables = tables
    this.#versions = versions
  }

  lifecycleRules(bucketId: BucketId): readonly LifecycleRuleState[] {
    return getLifecycleRules(this.#tables.lifecycle, bucketId)
  }

  bucketOfLifecycleRule(rule: string): string | undefined {
    return getBucketOfRule(this.#tables.lifecycleRules, rule)
  }

  apply(_sequence: Sequence, _times: RecordTimes, change: LifecycleChange): void {
    switch (change.name) {
      case 'lifecycle.rule-set':
        return this.#ruleSet(change)
      case 'lifecycle.rule-removed':
        return this.#ruleRemoved(change)
      case 'lifecycle.scanned':
        return this.#scanned(change)
      case 'lifecycle.version-held':
        return this.#versions.held(change)
    }
  }

  /** A rule with a new prefix starts over; otherwise it continues where it was. */
  #ruleSet({ bucketId, bucket, rule }: ChangeNamed<LifecycleChange, 'lifecycle.rule-set'>): void {
    const rules = getLifecycleRules(this.#tables.lifecycle, bucketId)
    const before = rules.find((other) => other.rule === rule.rule)
    const cursors = before?.prefix === rule.prefix ? before.cursors : {}
    const set = { ...rule, cursors }
    const all = before === undefined ? [...rules, set] : rules.map((other) => (other === before ? set : other))
    putLifecycleRules(this.#tables.lifecycle, bucketId, all)
    this.#tables.lifecycleRules.put(Buffer.from(rule.rule), Buffer.from(bucket))
  }

  #ruleRemoved({ bucketId, rule }: ChangeNamed<LifecycleChange, 'lifecycle.rule-removed'>): void {
    const rules = getLifecycleRules(this.#tables.lifecycle, bucketId)
    putLifecycleRules(
      this.#tables.lifecycle,
      bucketId,
      rules.filter((other) => other.rule !== rule),
    )
    this.#tables.lifecycleRules.remove(Buffer.from(rule))
  }

  #scanned({ bucketId, rule, action, position }: ChangeNamed<LifecycleChange, 'lifecycle.scanned'>): void {
    const rules = getLifecycleRules(this.#tables.lifecycle, bucketId)
    const moved = rules.map((other) =>
      other.rule === rule ? { ...other, cursors: { ...other.cursors, [action]: position } } : other,
    )
    putLifecycleRules(this.#tables.lifecycle, bucketId, moved)
  }

  bucketDeleted(bucketId: BucketId): void {
    for (const { rule } of getLifecycleRules(this.#tables.lifecycle, bucketId)) {
      this.#tables.lifecycleRules.remove(Buffer.from(rule))
    }
    putLifecycleRules(this.#tables.lifecycle, bucketId, [])
  }
}
