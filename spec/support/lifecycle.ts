/** Lifecycle rules, and passes over them, on a store of a spec. */
import { type Milliseconds, millisecondsOf } from '../../engine/brands.ts'
import type { EngineClient } from '../../engine/client/engine-client.ts'
import type { CommandOf } from '../../engine/commands/commands.ts'
import type { LifecycleRule } from '../../engine/events/values.ts'
import { type ClockNotes, LifecyclePass, type PassCounts } from '../../workers/lifecycle/lifecycle-pass.ts'
import { auditOf } from './commands.ts'
import type { TestStore } from './test-store.ts'

export const DAY = 24 * 60 * 60 * 1000

/** A rule; enabled and of the whole bucket unless told otherwise. */
export function ruleOf(rule: string, given: Partial<LifecycleRule>): LifecycleRule {
  return { rule, prefix: '', enabled: true, expirationDays: undefined, noncurrentDays: undefined, ...given }
}

export function createRule(
  bucket: string,
  rule: string,
  given: Partial<LifecycleRule>,
): CommandOf<'create-lifecycle-rule'> {
  const audit = auditOf('POST lifecycle', bucket)
  return { kind: 'create-lifecycle-rule', audit, bucket, rule: ruleOf(rule, given) }
}

export function replaceRule(
  bucket: string,
  rule: string,
  given: Partial<LifecycleRule>,
): CommandOf<'replace-lifecycle-rule'> {
  const audit = auditOf('PUT lifecycle', bucket)
  return { kind: 'replace-lifecycle-rule', audit, bucket, rule: ruleOf(rule, given) }
}

export function deleteRule(rule: string): CommandOf<'delete-lifecycle-rule'> {
  return { kind: 'delete-lifecycle-rule', audit: auditOf('DELETE lifecycle', rule), rule }
}

export function setRules(bucket: string, rules: readonly LifecycleRule[]): CommandOf<'set-lifecycle-rules'> {
  return { kind: 'set-lifecycle-rules', audit: auditOf('s3:PutBucketLifecycleConfiguration', bucket), bucket, rules }
}

interface PassOptions {
  /** Milliseconds since 1970. */
  readonly now: number
  readonly batchSize?: number
  readonly clockNotes?: ClockNotes
  /** Stands between the worker and the engine. */
  readonly engine?: EngineClient
}

/** One whole pass. */
export async function runPass(
  store: Pick<TestStore, 'client' | 'catalog'>,
  { now, batchSize = 1000, clockNotes = new Set(), engine = store.client }: PassOptions,
): Promise<PassCounts> {
  const clock = (): Milliseconds => millisecondsOf(now)
  const pass = new LifecyclePass(engine, store.catalog, batchSize, clock, clockNotes)
  while (await pass.step());
  return pass.counts
}
