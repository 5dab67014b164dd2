import type { BucketId } from '../brands.ts'
import type { AgePosition, LifecycleAction, LifecycleRule } from '../events/values.ts'

/** A lifecycle rule of a bucket, and how far the worker has come with it. */
export interface LifecycleRuleState extends LifecycleRule {
  /** Entries up to here in the order of age were removed or are held; undefined before the first page. */
  readonly cursors: { readonly [A in LifecycleAction]?: AgePosition }
}

/** State of lifecycle rules as the rules of the engine read it. Implemented by the projections. */
export interface LifecycleState {
  /** In the order of their creation. */
  lifecycleRules(bucketId: BucketId): readonly LifecycleRuleState[]
  /** Name of the bucket that has a rule. */
  bucketOfLifecycleRule(rule: string): string | undefined
}
