import type { Command } from '../commands.ts'
import {
  decideAttachPolicy,
  decideCreateAccount,
  decideCreatePolicy,
  decideDeleteAccount,
  decideDetachPolicy,
  decideIssueCredential,
  decideIssueToken,
  decideRevokeToken,
  decideSetAccountStatus,
  decideSetCredentialStatus,
} from './access.ts'
import {
  decideCreateBucket,
  decideDeleteBucket,
  decideSetCors,
  decideSetDefaultRetention,
  decideSetQuota,
  decideSetVersioning,
} from './bucket.ts'
import type { Decision, DecisionContext } from './decision.ts'
import { decideSetLegalHold, decideSetRetention } from './lock.ts'
import { decideCopyObject, decideDeleteObject, decideWriteObject } from './object.ts'
import { decideMovePayloads, decideRecordDigest, decideRemoveVolume } from './payload.ts'
import {
  decideAbortUpload,
  decideCompleteUpload,
  decideCreateUpload,
  decideReclaimUpload,
  decideWritePart,
} from './upload.ts'

/** Commands that change state; the others only put records into the journal. */
export type DecidableCommand = Exclude<
  Command,
  { kind: 'record-attempt' | 'record-failed-change' | 'record-read' | 'record-server-event' }
>

type Rule<K extends DecidableCommand['kind']> = (
  command: Extract<DecidableCommand, { kind: K }>,
  context: DecisionContext,
) => Decision

/** One rule per command; a command without one does not compile. */
const RULES: { readonly [K in DecidableCommand['kind']]: Rule<K> } = {
  'create-bucket': decideCreateBucket,
  'delete-bucket': decideDeleteBucket,
  'set-versioning': decideSetVersioning,
  'set-default-retention': decideSetDefaultRetention,
  'set-cors': decideSetCors,
  'set-quota': decideSetQuota,
  'write-object': decideWriteObject,
  'copy-object': decideCopyObject,
  'delete-object': decideDeleteObject,
  'set-retention': decideSetRetention,
  'set-legal-hold': decideSetLegalHold,
  'create-upload': decideCreateUpload,
  'write-part': decideWritePart,
  'complete-upload': decideCompleteUpload,
  'abort-upload': decideAbortUpload,
  'reclaim-upload': decideReclaimUpload,
  'move-payloads': decideMovePayloads,
  'remove-volume': decideRemoveVolume,
  'record-digest': decideRecordDigest,
  'create-account': decideCreateAccount,
  'set-account-status': decideSetAccountStatus,
  'delete-account': decideDeleteAccount,
  'issue-credential': decideIssueCredential,
  'set-credential-status': decideSetCredentialStatus,
  'create-policy': decideCreatePolicy,
  'attach-policy': decideAttachPolicy,
  'detach-policy': decideDetachPolicy,
  'issue-token': decideIssueToken,
  'revoke-token': decideRevokeToken,
}

/**
 * The rules of the store: which changes a command makes to the state, or why it is refused.
 * @throws DomainError
 */
export function decide(command: DecidableCommand, context: DecisionContext): Decision {
  const rule = RULES[command.kind] as (command: DecidableCommand, context: DecisionContext) => Decision
  return rule(command, context)
}
