import type { CommandOf, DecidableCommand } from '../commands/commands.ts'
import { appendRules } from '../domain/append.ts'
import { bucketRules } from '../domain/bucket.ts'
import type { Decision, DecisionContext, Rules } from '../domain/decision.ts'
import { lockRules } from '../domain/lock.ts'
import { objectRules } from '../domain/object.ts'
import { payloadRules } from '../domain/payload.ts'
import { renameRules } from '../domain/rename.ts'
import { tagRules } from '../domain/tags.ts'
import { uploadRules } from '../domain/upload.ts'
import type { Change } from '../events/changes.ts'
import { featureRules, features } from '../features.ts'
import { merged } from '../merged.ts'
import type { FeatureStates } from '../state-store.ts'
import type { ruleHelpers } from './rule-helpers.ts'

/** One rule for each command of the spine; a command without one does not compile. */
const SPINE_RULES: Rules = {
  ...bucketRules,
  ...objectRules,
  ...renameRules,
  ...appendRules,
  ...lockRules,
  ...tagRules,
  ...uploadRules,
  ...payloadRules,
}

/** Inputs of every rule. */
export type StoreContext = DecisionContext & FeatureStates & typeof ruleHelpers
export type StoreDecision = Decision<Change>
type Rule<K extends DecidableCommand['kind']> = (command: CommandOf<K>, context: StoreContext) => StoreDecision

const RULES: { readonly [K in DecidableCommand['kind']]: Rule<K> } = merged([SPINE_RULES, featureRules])

const UNATTEMPTED: ReadonlySet<string> = new Set(features.flatMap(({ unattempted }): readonly string[] => unattempted))

/** Whether a record of the attempt comes before the outcome: not where the store itself sends the command. */
export function isAttempted({ kind }: DecidableCommand): boolean {
  return !UNATTEMPTED.has(kind)
}

/**
 * The rules of the store: which changes a command makes to the state, or why it is refused.
 * @throws DomainError
 */
export function decide(command: DecidableCommand, context: StoreContext): StoreDecision {
  const rule = RULES[command.kind] as (command: DecidableCommand, context: StoreContext) => StoreDecision
  return rule(command, context)
}
