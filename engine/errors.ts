import type { AuditResult } from './events/audit.ts'

interface DomainErrorRow {
  /** What the audit record of the refused request says. */
  readonly result: Exclude<AuditResult, 'attempted' | 'success'>
  readonly sentence: string
}

/** Every reason to refuse a command. Each plane maps all of them to its own errors. */
export const DOMAIN_ERRORS = {
  'bucket-not-found': { result: 'failure', sentence: 'The specified bucket does not exist.' },
  'bucket-exists': { result: 'failure', sentence: 'The bucket already exists.' },
  'bucket-not-empty': { result: 'failure', sentence: 'The bucket still holds objects.' },
  'object-not-found': { result: 'failure', sentence: 'The specified key does not exist.' },
  'precondition-failed': { result: 'failure', sentence: 'A condition of the request is not met.' },
  'source-changed': { result: 'failure', sentence: 'The source of the copy changed while it was read.' },
  'copy-onto-itself': { result: 'failure', sentence: 'A copy onto itself must change the metadata.' },
  'rename-onto-itself': { result: 'failure', sentence: 'The source and the target of a rename are the same key.' },
  'rename-of-versions': {
    result: 'failure',
    sentence: 'Objects in a bucket with versioning cannot be renamed. Copy the object and delete the source.',
  },
  'rename-token-reused': { result: 'failure', sentence: 'The client token was used to rename another key.' },
  'command-failed': { result: 'failure', sentence: 'The command could not be carried out.' },
  'version-not-found': { result: 'failure', sentence: 'The specified version does not exist.' },
  'version-is-marker': { result: 'failure', sentence: 'The specified version is a delete marker.' },
  'versioning-is-locked': {
    result: 'failure',
    sentence: 'Versioning cannot be suspended on a bucket with Object Lock.',
  },
  'lock-not-enabled': { result: 'failure', sentence: 'Object Lock is not enabled on this bucket.' },
  'retention-in-past': { result: 'failure', sentence: 'The retain until date must be in the future.' },
  'governance-retention': { result: 'denied', sentence: 'The version is under governance retention.' },
  'compliance-retention': { result: 'denied', sentence: 'The version is under compliance retention.' },
  'legal-hold': { result: 'denied', sentence: 'The version is under a legal hold.' },
  'clock-behind': {
    result: 'failure',
    sentence: 'The clock is behind its recorded high-water mark; retention cannot be judged.',
  },
  'upload-not-found': { result: 'failure', sentence: 'The specified multipart upload does not exist.' },
  'part-not-found': { result: 'failure', sentence: 'A listed part was not uploaded, or its ETag does not match.' },
  'part-too-small': { result: 'failure', sentence: 'A part other than the last is smaller than the minimum.' },
  'checksum-mismatch': {
    result: 'failure',
    sentence: 'The checksum of the object does not match its parts.',
  },
  'checksum-not-known': {
    result: 'failure',
    sentence: 'The upload did not request a checksum, or one of its parts has none.',
  },
  'object-too-large': { result: 'failure', sentence: 'The parts together exceed the maximum size of an object.' },
  'offset-is-not-size': { result: 'failure', sentence: 'The write offset does not match the size of the object.' },
  'too-many-parts': {
    result: 'failure',
    sentence: 'The object already has the maximum of 10000 parts. Rewrite it as one object to append more.',
  },
  'quota-exceeded': { result: 'denied', sentence: 'The quota of the bucket would be exceeded.' },
  'too-many-references': {
    result: 'denied',
    sentence:
      'The bucket would hold too many copies for the bytes that it received. Delete versions or abort uploads, write the bytes instead of copying them, or have storage.reference_ratio_maximum raised.',
  },
  'bucket-too-large': {
    result: 'denied',
    sentence:
      'The versions and uploads of the bucket would hold more than 4 PiB together, the maximum. Delete some of them.',
  },
  'too-many-copies': {
    result: 'failure',
    sentence:
      'The bytes of this object are shared by the maximum of 2147483648 copies. Write it anew to copy it again.',
  },
  'account-exists': { result: 'failure', sentence: 'The service account already exists.' },
  'account-not-found': { result: 'failure', sentence: 'The service account does not exist.' },
  'credential-exists': { result: 'failure', sentence: 'The credential already exists.' },
  'credential-not-found': { result: 'failure', sentence: 'The service account has no such credential.' },
  'too-many-credentials': { result: 'failure', sentence: 'The service account has the maximum number of credentials.' },
  'policy-exists': { result: 'failure', sentence: 'The policy already exists.' },
  'policy-not-found': { result: 'failure', sentence: 'The policy does not exist.' },
  'too-many-policies': { result: 'failure', sentence: 'The service account has the maximum number of policies.' },
  'policy-not-attached': { result: 'failure', sentence: 'The policy is not attached to the service account.' },
  'policy-attached': {
    result: 'failure',
    sentence: 'The policy is attached to a service account; detach it first.',
  },
  'token-exists': { result: 'failure', sentence: 'The management token already exists.' },
  'token-not-found': { result: 'failure', sentence: 'The management token does not exist.' },
  'rule-exists': { result: 'failure', sentence: 'The lifecycle rule already exists.' },
  'rule-not-found': { result: 'failure', sentence: 'The lifecycle rule does not exist.' },
  'too-many-rules': { result: 'failure', sentence: 'The bucket has the maximum number of lifecycle rules.' },
  'webhook-exists': { result: 'failure', sentence: 'The webhook already exists.' },
  'webhook-not-found': { result: 'failure', sentence: 'The webhook does not exist.' },
  'too-many-webhooks': { result: 'failure', sentence: 'There are already 100 webhooks, the maximum.' },
  'webhook-disabled': { result: 'failure', sentence: 'The webhook is disabled.' },
  'webhook-replaying': { result: 'failure', sentence: 'A replay of this webhook is still running.' },
  'share-exists': { result: 'failure', sentence: 'The share already exists.' },
  'share-not-found': { result: 'failure', sentence: 'The share does not exist.' },
  'too-many-shares': {
    result: 'failure',
    sentence: 'The limit of 1000 shares per object, or 100000 per store, is reached. Delete some.',
  },
  'share-revoked': { result: 'failure', sentence: 'The share is revoked.' },
  'share-expired': { result: 'failure', sentence: 'The share has expired.' },
  'share-exhausted': { result: 'failure', sentence: 'The share has no downloads left.' },
  'embed-exists': { result: 'failure', sentence: 'The embed already exists.' },
  'embed-not-found': { result: 'failure', sentence: 'The embed does not exist.' },
  'embed-revoked': { result: 'failure', sentence: 'The embed is revoked.' },
  'too-many-embeds': {
    result: 'failure',
    sentence: 'The limit of 1000 embeds per object, or 100000 per store, is reached. Delete some.',
  },
  'checkpoint-forks': {
    result: 'failure',
    sentence: 'A checkpoint of this size was already signed with a different root.',
  },
  'checkpoint-rolls-back': {
    result: 'failure',
    sentence: 'The log has signed more than this checkpoint covers, or was restored from a backup since.',
  },
  'checkpoint-skips': {
    result: 'failure',
    sentence: 'The checkpoint does not follow the last one, or covers records that do not exist.',
  },
  'checkpoint-signed-twice': { result: 'failure', sentence: 'This checkpoint is already signed.' },
  'checkpoint-missing': { result: 'failure', sentence: 'No checkpoint has this size.' },
  'checkpoint-not-next': {
    result: 'failure',
    sentence: 'The witness has seen another checkpoint of this log since, or one that is not smaller.',
  },
  'checkpoint-key-changed': {
    result: 'failure',
    sentence: 'The checkpoint is signed with another key than the one that the log has now.',
  },
  'checkpoint-withheld': {
    result: 'failure',
    sentence: 'The last checkpoint is not published yet: it waits for its receipts. Rotate the key when it is.',
  },
  'checkpoint-key-unused': {
    result: 'failure',
    sentence: 'The key was just rotated and has signed no checkpoint yet.',
  },
  'too-many-checkpoint-keys': { result: 'failure', sentence: 'The key was rotated 100 times, the maximum.' },
  'checkpoint-handover-refused': {
    result: 'failure',
    sentence: 'The hand-over of the key does not follow what the log has signed.',
  },
  'too-many-receipts': { result: 'failure', sentence: 'The checkpoint has 64 receipts, the maximum.' },
  'journal-full': {
    result: 'failure',
    sentence: 'The disk is full: the journal has no room for the record of this change. Free some space.',
  },
  'storage-full': { result: 'failure', sentence: 'There is not enough free space to store this.' },
} as const satisfies Record<string, DomainErrorRow>

export type DomainErrorCode = keyof typeof DOMAIN_ERRORS

/** A command that the rules refuse. The caller's fault or the state's, never a fault of the store. */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly code: DomainErrorCode
  /** Name of the condition, bucket or other thing concerned, if any. */
  readonly subject: string | undefined

  constructor(code: DomainErrorCode, subject?: string) {
    super(DOMAIN_ERRORS[code].sentence)
    this.code = code
    this.subject = subject
  }
}

/** The engine accepts no more commands: it is stopping, or has failed. Nothing was changed, nor will be after a restart. */
export class EngineUnavailableError extends Error {
  override readonly name: string = 'EngineUnavailableError'
}

/** The engine failed at the command or before it, and nobody can say now whether the change will exist after a restart. */
export class OutcomeUnknownError extends EngineUnavailableError {
  override readonly name = 'OutcomeUnknownError'
}

/** A newer version of the program wrote something that this one cannot read. Nothing of it is touched. */
export class NewerFormatError extends Error {
  override readonly name = 'NewerFormatError'
}
