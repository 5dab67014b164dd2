import type { BucketId } from '../../engine/brands.ts'
import type { ChangeNamed } from '../../engine/events/changes.ts'
import type { Tables } from '../tables/table-list.ts'
import { getLifecycleRules, putLifecycleRules } from './tables.ts'

/** Applies changes to lifecycle rules. */
export class LifecycleRows {
  readonly #tables: Pick<Tables, 'lifecycle' | 'lifecycleRules'>

  constructor(tables: Pick<Tables, 'lifecycle' | 'lifecycleRules'>) {
    this.#tables = tables
  }

  /** A rule with a new prefix starts over; otherwise it continues where it was. */
  ruleSet({ bucketId, bucket, rule }: ChangeNamed<'lifecycle.rule-set'>): void {
    const rules = getLifecycleRules(this.#tables.lifecycle, bucketId)
    const before = rules.find((other) => other.rule === rule.rule)
    const cursors = before?.prefix === rule.prefix ? before.cursors : {}
    const set = { ...rule, cursors }
    const all = before === undefined ? [...rules, set] : rules.map((other) => (other === before ? set : other))
    putLifecycleRules(this.#tables.lifecycle, bucketId, all)
    this.#tables.lifecycleRules.put(Buffer.from(rule.rule), Buffer.from(bucket))
  }

  ruleRemoved({ bucketId, rule }: ChangeNamed<'lifecycle.rule-removed'>): void {
    const rules = getLifecycleRules(this.#tables.lifecycle, bucketId)
    putLifecycleRules(
      this.#tables.lifecycle,
      bucketId,
      rules.filter((other) => other.rule !== rule),
    )
    this.#tables.lifecycleRules.remove(Buffer.from(rule))
  }

  scanned({ bucketId, rule, action, position }: ChangeNamed<'lifecycle.scanned'>): void {
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
