import { DOMAIN_ERRORS, type DomainError, type DomainErrorCode } from '../../engine/errors.ts'
import { ManagementError, type ManagementErrorCode } from './errors.ts'

/** The error of this plane for each domain error. A new code of the engine does not compile without a row here. */
export const MANAGEMENT_OF_DOMAIN_ERROR: Readonly<Record<DomainErrorCode, ManagementErrorCode>> = {
  'bucket-not-found': 'BUCKET_NOT_FOUND',
  'bucket-exists': 'BUCKET_EXISTS',
  'bucket-not-empty': 'BUCKET_NOT_EMPTY',
  'object-not-found': 'OBJECT_NOT_FOUND',
  'precondition-failed': 'CONFLICT',
  'source-changed': 'CONFLICT',
  'copy-onto-itself': 'INVALID_REQUEST',
  'command-failed': 'INTERNAL_ERROR',
  'version-not-found': 'VERSION_NOT_FOUND',
  'version-is-marker': 'VERSION_IS_MARKER',
  'versioning-is-locked': 'BUCKET_STATE',
  'lock-not-enabled': 'BUCKET_STATE',
  'retention-in-past': 'INVALID_REQUEST',
  'governance-retention': 'VERSION_LOCKED',
  'compliance-retention': 'VERSION_LOCKED',
  'legal-hold': 'VERSION_LOCKED',
  'clock-behind': 'CLOCK_BEHIND',
  'upload-not-found': 'NOT_FOUND',
  'part-not-found': 'INVALID_REQUEST',
  'part-too-small': 'INVALID_REQUEST',
  'object-too-large': 'OBJECT_TOO_LARGE',
  'quota-exceeded': 'QUOTA_EXCEEDED',
  'account-exists': 'CONFLICT',
  'account-not-found': 'ACCOUNT_NOT_FOUND',
  'credential-exists': 'CONFLICT',
  'credential-not-found': 'CREDENTIAL_NOT_FOUND',
  'too-many-credentials': 'TOO_MANY_CREDENTIALS',
  'policy-exists': 'CONFLICT',
  'policy-not-found': 'POLICY_NOT_FOUND',
  'too-many-policies': 'TOO_MANY_POLICIES',
  'policy-not-attached': 'POLICY_NOT_ATTACHED',
  'policy-attached': 'CONFLICT',
  'token-exists': 'CONFLICT',
  'token-not-found': 'TOKEN_NOT_FOUND',
  'rule-exists': 'CONFLICT',
  'rule-not-found': 'LIFECYCLE_RULE_NOT_FOUND',
  'too-many-rules': 'TOO_MANY_LIFECYCLE_RULES',
  'webhook-exists': 'CONFLICT',
  'webhook-not-found': 'WEBHOOK_NOT_FOUND',
  'too-many-webhooks': 'TOO_MANY_WEBHOOKS',
  'webhook-disabled': 'WEBHOOK_DISABLED',
  'webhook-replaying': 'WEBHOOK_REPLAYING',
  'journal-full': 'AUDIT_UNAVAILABLE',
  'storage-full': 'STORAGE_FULL',
}

/** Keeps the sentence of the domain error, which is the most specific. */
export function managementErrorOf({ code }: DomainError): ManagementError {
  return new ManagementError(MANAGEMENT_OF_DOMAIN_ERROR[code], DOMAIN_ERRORS[code].sentence)
}
