import type { DecidableCommand } from '../commands/commands.ts'
import { accessRules } from './access.ts'
import { appendRules } from './append.ts'
import { bucketRules } from './bucket.ts'
import { checkpointRules } from './checkpoint.ts'
import type { Decision, DecisionContext, Rules } from './decision.ts'
import { lifecycleRules } from './lifecycle.ts'
import { lockRules } from './lock.ts'
import { objectRules } from './object.ts'
import { payloadRules } from './payload.ts'
import { renameRules } from './rename.ts'
import { scrubRules } from './scrub.ts'
import { sharingRules } from './sharing.ts'
import { uploadRules } from './upload.ts'
import { webhookRules } from './webhook.ts'

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
