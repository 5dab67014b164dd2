import type { DecidableCommand } from '../commands/commands.ts'
import { accessRules } from '../access/rules.ts'
import { appendRules } from '../domain/append.ts'
import { bucketRules } from '../domain/bucket.ts'
import { checkpointRules } from '../checkpoints/rules.ts'
import type { Decision, DecisionContext, Rules } from '../domain/decision.ts'
import { lifecycleRules } from '../lifecycle/rules.ts'
import { lockRules } from '../domain/lock.ts'
import { objectRules } from '../domain/object.ts'
import { payloadRules } from '../domain/payload.ts'
import { renameRules } from '../domain/rename.ts'
import { scrubRules } from '../scrub/rules.ts'
import { sharingRules } from '../links/rules.ts'
import { uploadRules } from '../domain/upload.ts'
import { webhookRules } from '../webhooks/rules.ts'

/** One rule for each command; a command without one does not compile. */
const RULES: Rules = {
  ...bucketRules,
  ...objectRules,
  ...renameRules,
  ...appendRules,
  ...lockRules,
  ...lifecycleRules,
  ...uploadRules,
  ...payloadRules,
  ...accessRules,
  ...webhookRules,
  ...sharingRules,
  ...scrubRules,
  ...checkpointRules,
}

/**
 * The rules of the store: which changes a command makes to the state, or why it is refused.
 * @throws DomainError
 */
export function decide(command: DecidableCommand, context: DecisionContext): Decision {
  const rule = RULES[command.kind] as (command: DecidableCommand, context: DecisionContext) => Decision
  return rule(command, context)
}
