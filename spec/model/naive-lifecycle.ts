/** What lifecycle rules want gone, by the specification and from the state of the model alone. */
import type { Command, CommandOf } from '../../engine/commands/commands.ts'
import type { LifecycleAction, LifecycleRule } from '../../engine/events/values.ts'
import { type Outcome, refuse } from './refusals.ts'
import type { ModelBucket, ModelState, ModelVersion } from './state.ts'

const DAY = 24 * 60 * 60 * 1000
const DONE: Outcome = { code: 'done' }
/** Most rules of a bucket (spec/decisions/0063). */
const RULES_MAXIMUM = 100

/** Carries out a command about rules; undefined for any other. */
export function changeRules(state: ModelState, command: Command): Outcome | undefined {
  if (command.kind === 'delete-lifecycle-rule') {
    const holder = [...state.buckets.values()].find(({ rules }) => rules.has(command.rule))
    if (holder === undefined) return refuse('rule-not-found', command.rule)
    holder.rules.delete(command.rule)
    return DONE
  }
  if (command.kind === 'set-lifecycle-rules') return setRules(state, command)
  if (command.kind !== 'create-lifecycle-rule' && command.kind !== 'replace-lifecycle-rule') return undefined
  const { rule } = command
  const bucket = state.buckets.get(command.bucket) ?? refuse('bucket-not-found', command.bucket)
  if (command.kind === 'replace-lifecycle-rule') {
    if (!bucket.rules.has(rule.rule)) refuse('rule-not-found', rule.rule)
  } else {
    const isTaken = [...state.buckets.values()].some(({ rules }) => rules.has(rule.rule))
    if (isTaken) refuse('rule-exists', rule.rule)
    if (bucket.rules.size >= RULES_MAXIMUM) refuse('too-many-rules', command.bucket)
  }
  bucket.rules.set(rule.rule, rule)
  return DONE
}

/** These are all that the bucket has afterwards, in this order. */
function setRules(state: ModelState, { bucket: name, rules }: CommandOf<'set-lifecycle-rules'>): Outcome {
  const bucket = state.buckets.get(name) ?? refuse('bucket-not-found', name)
  if (rules.length > RULES_MAXIMUM) refuse('too-many-rules', name)
  const others = [...state.buckets.values()].filter((other) => other !== bucket)
  const taken = rules.find(({ rule }) => others.some((other) => other.rules.has(rule)))
  if (taken !== undefined) refuse('rule-exists', taken.rule)
  bucket.rules.clear()
  for (const rule of rules) bucket.rules.set(rule.rule, rule)
  return DONE
}

/** Something that a rule wants gone: a version, or where that is undefined the current object of its key. */
export interface DueEntry {
  readonly key: string
  readonly version: ModelVersion
  readonly action: LifecycleAction
}

/** All that a rule wants gone by now and no lock keeps. `now`: milliseconds, never before the journal. */
export function dueOf(state: ModelState, bucket: ModelBucket, rule: LifecycleRule, now: number): DueEntry[] {
  const { prefix, enabled, expirationDays, noncurrentDays } = rule
  if (!enabled) return []
  const keys = state.keys(bucket).filter((key) => key.startsWith(prefix))
  const isOld = (since: number, days: number | undefined) => days !== undefined && since <= now - days * DAY
  return keys.flatMap((key) =>
    state.versions(bucket, key).flatMap((version, index): DueEntry[] => {
      if (index === 0) {
        const isDue = !version.isMarker && isOld(version.aged, expirationDays)
        return isDue ? [{ key, version, action: 'expiration' }] : []
      }
      const isDue = isOld(version.noncurrentSince ?? Number.POSITIVE_INFINITY, noncurrentDays) && !isHeld(version, now)
      return isDue ? [{ key, version, action: 'noncurrent-expiration' }] : []
    }),
  )
}

/** All that any rule wants gone. */
export function everythingDue(state: ModelState, now: number): (DueEntry & { readonly bucket: string })[] {
  return [...state.buckets].flatMap(([name, bucket]) =>
    [...bucket.rules.values()].flatMap((rule) =>
      dueOf(state, bucket, rule, now).map((entry) => ({ ...entry, bucket: name })),
    ),
  )
}

function isHeld({ lock }: ModelVersion, now: number): boolean {
  return lock?.hold === true || (lock?.retention?.untilMilliseconds ?? 0) > now
}
