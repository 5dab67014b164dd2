import type { DomainErrorRow } from './error-row.ts'

/**
 * Every reason to refuse a command, with the error of each plane: a code without a row in its errors.ts does not compile.
 */
export const DOMAIN_ERRORS = {
  'bucket-not-found': {
    s3: { code: 'NoSuchBucket', element: 'BucketName' },
    management: 'BUCKET_NOT_FOUND',
    sentence: 'The specified bucket does not exist.',
  },
  'bucket-exists': {
    s3: { code: 'BucketAlreadyOwnedByYou', element: 'BucketName' },
    management: 'BUCKET_EXISTS',
    sentence: 'The bucket already exists.',
  },
  'bucket-not-empty': {
    s3: { code: 'BucketNotEmpty', element: 'BucketName' },
    management: 'BUCKET_NOT_EMPTY',
    sentence: 'The bucket still holds objects.',
  },
  'object-not-found': {
    s3: { code: 'NoSuchKey', element: 'Key' },
    management: 'OBJECT_NOT_FOUND',
    sentence: 'The specified key does not exist.',
  },
  'precondition-failed': {
    s3: { code: 'PreconditionFailed', element: 'Condition' },
    management: 'CONFLICT',
    sentence: 'A condition of the request is not met.',
  },
  'source-changed': {
    s3: { code: 'OperationAborted' },
    management: 'CONFLICT',
    sentence: 'The source of the copy changed while it was read.',
  },
  'copy-onto-itself': {
    s3: {
      code: 'InvalidRequest',
      message:
        "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
    },
    management: 'INVALID_REQUEST',
    sentence: 'A copy onto itself must change the metadata.',
  },
  'rename-onto-itself': {
    s3: { code: 'InvalidRequest', explained: true },
    management: 'INVALID_REQUEST',
    sentence: 'The source and the target of a rename are the same key.',
  },
  'rename-of-versions': {
    s3: { code: 'InvalidBucketState', element: 'BucketName', explained: true },
    management: 'BUCKET_STATE',
    sentence: 'Objects in a bucket with versioning cannot be renamed. Copy the object and delete the source.',
  },
  'rename-token-reused': {
    s3: { code: 'IdempotencyParameterMismatch', explained: true },
    management: 'INVALID_REQUEST',
    sentence: 'The client token was used to rename another key.',
  },
  'command-failed': {
    s3: { code: 'InternalError' },
    management: 'INTERNAL_ERROR',
    sentence: 'The command could not be carried out.',
  },
  'version-not-found': {
    s3: { code: 'NoSuchVersion', element: 'Key' },
    management: 'VERSION_NOT_FOUND',
    sentence: 'The specified version does not exist.',
  },
  'version-is-marker': {
    s3: { code: 'MethodNotAllowed', explained: true },
    management: 'VERSION_IS_MARKER',
    sentence: 'The specified version is a delete marker.',
  },
  'versioning-is-locked': {
    s3: { code: 'InvalidBucketState', element: 'BucketName', explained: true },
    management: 'BUCKET_STATE',
    sentence: 'Versioning cannot be suspended on a bucket with Object Lock.',
  },
  'lock-not-enabled': {
    s3: { code: 'InvalidRequest', element: 'BucketName', explained: true },
    management: 'BUCKET_STATE',
    sentence: 'Object Lock is not enabled on this bucket.',
  },
  'retention-in-past': {
    s3: { code: 'InvalidArgument', explained: true },
    management: 'INVALID_REQUEST',
    sentence: 'The retain until date must be in the future.',
  },
  'governance-retention': {
    result: 'denied',
    s3: { code: 'AccessDenied', explained: true },
    management: 'VERSION_LOCKED',
    sentence: 'The version is under governance retention.',
  },
  'compliance-retention': {
    result: 'denied',
    s3: { code: 'AccessDenied', explained: true },
    management: 'VERSION_LOCKED',
    sentence: 'The version is under compliance retention.',
  },
  'legal-hold': {
    result: 'denied',
    s3: { code: 'AccessDenied', explained: true },
    management: 'VERSION_LOCKED',
    sentence: 'The version is under a legal hold.',
  },
  'clock-behind': {
    s3: { code: 'ServiceUnavailable', explained: true },
    management: 'CLOCK_BEHIND',
    sentence: 'The clock is behind its recorded high-water mark; retention cannot be judged.',
  },
  'clock-is-not-behind': {
    management: 'CLOCK_NOT_BEHIND',
    sentence: 'The clock of the host is not behind the journal, so there is nothing to set back.',
  },
  'clock-passed-ends': {
    management: 'CLOCK_HELD',
    sentence: 'Something has ended since, which would hold or open again if the clock were set back.',
  },
  'upload-not-found': {
    s3: { code: 'NoSuchUpload' },
    management: 'NOT_FOUND',
    sentence: 'The specified multipart upload does not exist.',
  },
  'part-not-found': {
    s3: { code: 'InvalidPart', element: 'PartNumber' },
    management: 'INVALID_REQUEST',
    sentence: 'A listed part was not uploaded, or its ETag does not match.',
  },
  'part-too-small': {
    s3: { code: 'EntityTooSmall', element: 'PartNumber' },
    management: 'INVALID_REQUEST',
    sentence: 'A part other than the last is smaller than the minimum.',
  },
  'checksum-mismatch': {
    s3: { code: 'BadDigest', explained: true },
    management: 'INVALID_REQUEST',
    sentence: 'The checksum of the object does not match its parts.',
  },
  'checksum-not-known': {
    s3: { code: 'InvalidRequest', explained: true },
    management: 'INVALID_REQUEST',
    sentence: 'The upload did not request a checksum, or one of its parts has none.',
  },
  'object-too-large': {
    s3: { code: 'EntityTooLarge', element: 'ProposedSize' },
    management: 'OBJECT_TOO_LARGE',
    sentence: 'The parts together exceed the maximum size of an object.',
  },
  // The management plane does not append.
  'offset-is-not-size': {
    s3: { code: 'InvalidWriteOffset', element: 'ActualObjectSize' },
    management: 'INVALID_REQUEST',
    sentence: 'The write offset does not match the size of the object.',
  },
  'too-many-parts': {
    s3: { code: 'TooManyParts', explained: true },
    management: 'INVALID_REQUEST',
    sentence: 'The object already has the maximum of 10000 parts. Rewrite it as one object to append more.',
  },
  'quota-exceeded': {
    result: 'denied',
    s3: { code: 'QuotaExceeded', element: 'BucketName' },
    management: 'QUOTA_EXCEEDED',
    sentence: 'The quota of the bucket would be exceeded.',
  },
  'too-many-references': {
    result: 'denied',
    s3: { code: 'QuotaExceeded', element: 'BucketName', explained: true },
    management: 'QUOTA_EXCEEDED',
    sentence:
      'The bucket would hold too many copies for the bytes that it received. Delete versions or abort uploads, write the bytes instead of copying them, or have storage.reference_ratio_maximum raised.',
  },
  'bucket-too-large': {
    result: 'denied',
    s3: { code: 'QuotaExceeded', element: 'BucketName', explained: true },
    management: 'QUOTA_EXCEEDED',
    sentence:
      'The versions and uploads of the bucket would hold more than 4 PiB together, the maximum. Delete some of them.',
  },
  'too-many-copies': {
    s3: { code: 'InvalidRequest', explained: true },
    management: 'INVALID_REQUEST',
    sentence:
      'The bytes of this object are shared by the maximum of 2147483648 copies. Write it anew to copy it again.',
  },
  // The S3 plane cannot change accounts, policies, tokens, rules, webhooks, links or checkpoints: no `s3` from here on.
  'account-exists': { management: 'CONFLICT', sentence: 'The service account already exists.' },
  'account-name-taken': {
    management: 'ACCOUNT_NAME_TAKEN',
    sentence: 'Another service account has this name; case does not tell names apart.',
  },
  'account-not-found': { management: 'ACCOUNT_NOT_FOUND', sentence: 'The service account does not exist.' },
  'access-key-taken': { management: 'ACCESS_KEY_TAKEN', sentence: 'Another credential has this access key.' },
  'credential-exists': { management: 'CONFLICT', sentence: 'The credential already exists.' },
  'credential-not-found': {
    management: 'CREDENTIAL_NOT_FOUND',
    sentence: 'The service account has no such credential.',
  },
  'too-many-credentials': {
    management: 'TOO_MANY_CREDENTIALS',
    sentence: 'The service account has the maximum number of credentials.',
  },
  'policy-exists': { management: 'CONFLICT', sentence: 'The policy already exists.' },
  'policy-not-found': { management: 'POLICY_NOT_FOUND', sentence: 'The policy does not exist.' },
  'too-many-policies': {
    management: 'TOO_MANY_POLICIES',
    sentence: 'The service account has the maximum number of policies.',
  },
  'policy-not-attached': {
    management: 'POLICY_NOT_ATTACHED',
    sentence: 'The policy is not attached to the service account.',
  },
  'policy-attached': {
    management: 'CONFLICT',
    sentence: 'The policy is attached to a service account; detach it first.',
  },
  'token-exists': { management: 'CONFLICT', sentence: 'The management token already exists.' },
  'token-not-found': { management: 'TOKEN_NOT_FOUND', sentence: 'The management token does not exist.' },
  'rule-exists': { management: 'CONFLICT', sentence: 'The lifecycle rule already exists.' },
  'rule-not-found': { management: 'LIFECYCLE_RULE_NOT_FOUND', sentence: 'The lifecycle rule does not exist.' },
  'too-many-rules': {
    management: 'TOO_MANY_LIFECYCLE_RULES',
    sentence: 'The bucket has the maximum number of lifecycle rules.',
  },
  'rules-too-large': {
    management: 'INVALID_REQUEST',
    sentence:
      'The lifecycle rules that are set at once, and the ids of the rules that they replace, have more than 20 KiB. Delete the rules first, or use shorter prefixes and ids.',
  },
  'webhook-exists': { management: 'CONFLICT', sentence: 'The webhook already exists.' },
  'webhook-not-found': { management: 'WEBHOOK_NOT_FOUND', sentence: 'The webhook does not exist.' },
  'too-many-webhooks': { management: 'TOO_MANY_WEBHOOKS', sentence: 'There are already 100 webhooks, the maximum.' },
  'webhook-disabled': { management: 'WEBHOOK_DISABLED', sentence: 'The webhook is disabled.' },
  'webhook-replaying': { management: 'WEBHOOK_REPLAYING', sentence: 'A replay of this webhook is still running.' },
  'share-exists': { management: 'CONFLICT', sentence: 'The share already exists.' },
  'share-not-found': {
    management: 'SHARE_NOT_FOUND',
    public: 'SHARE_NOT_FOUND',
    sentence: 'The share does not exist.',
  },
  'too-many-shares': {
    management: 'TOO_MANY_SHARES',
    sentence: 'The limit of 1000 shares per object, or 100000 per store, is reached. Delete some.',
  },
  'share-revoked': { management: 'CONFLICT', public: 'SHARE_REVOKED', sentence: 'The share is revoked.' },
  'share-expired': { management: 'CONFLICT', public: 'SHARE_EXPIRED', sentence: 'The share has expired.' },
  'share-exhausted': {
    management: 'CONFLICT',
    public: 'SHARE_EXHAUSTED',
    sentence: 'The share has no downloads left.',
  },
  'embed-exists': { management: 'CONFLICT', sentence: 'The embed already exists.' },
  'embed-not-found': { management: 'EMBED_NOT_FOUND', sentence: 'The embed does not exist.' },
  'embed-revoked': { management: 'EMBED_REVOKED', sentence: 'The embed is revoked.' },
  'too-many-embeds': {
    management: 'TOO_MANY_EMBEDS',
    sentence: 'The limit of 1000 embeds per object, or 100000 per store, is reached. Delete some.',
  },
  'checkpoint-forks': {
    management: 'CONFLICT',
    sentence: 'A checkpoint of this size was already signed with a different root.',
  },
  'checkpoint-rolls-back': {
    management: 'CONFLICT',
    sentence: 'The log has signed more than this checkpoint covers, or was restored from a backup since.',
  },
  'checkpoint-skips': {
    management: 'CONFLICT',
    sentence: 'The checkpoint does not follow the last one, or covers records that do not exist.',
  },
  'checkpoint-signed-twice': { management: 'CONFLICT', sentence: 'This checkpoint is already signed.' },
  'checkpoint-missing': { management: 'CHECKPOINT_NOT_FOUND', sentence: 'No checkpoint has this size.' },
  'checkpoint-not-next': {
    management: 'CONFLICT',
    sentence: 'The witness has seen another checkpoint of this log since, or one that is not smaller.',
  },
  'checkpoint-key-changed': {
    management: 'CONFLICT',
    sentence: 'The checkpoint is signed with another key than the one that the log has now.',
  },
  'checkpoint-withheld': {
    management: 'CHECKPOINT_KEY_KEPT',
    sentence: 'The last checkpoint is not published yet: it waits for its receipts. Rotate the key when it is.',
  },
  'checkpoint-key-unused': {
    management: 'CHECKPOINT_KEY_KEPT',
    sentence: 'The key was just rotated and has signed no checkpoint yet.',
  },
  'too-many-checkpoint-keys': {
    management: 'CHECKPOINT_KEY_KEPT',
    sentence: 'The key was rotated 100 times, the maximum.',
  },
  'checkpoint-handover-refused': {
    management: 'CONFLICT',
    sentence: 'The hand-over of the key does not follow what the log has signed.',
  },
  'too-many-receipts': { management: 'TOO_MANY_RECEIPTS', sentence: 'The checkpoint has 64 receipts, the maximum.' },
  'journal-full': {
    s3: { code: 'ServiceUnavailable', explained: true },
    management: 'AUDIT_UNAVAILABLE',
    sentence: 'The disk is full: the journal has no room for the record of this change. Free some space.',
  },
  // Not of the rules: a read meets it. No client may repeat the request by itself (spec/decisions/0007).
  'object-damaged': {
    s3: { code: 'ObjectDamaged', element: 'Key', explained: true },
    management: 'OBJECT_DAMAGED',
    public: 'OBJECT_DAMAGED',
    sentence:
      'The stored bytes of the object are damaged: they are not those that were written. Repeating the request does not help. The operator of the server can put them back from a backup.',
  },
  // Not of the rules either. A client may repeat the request: after a start of the server all rows are derived again.
  'row-damaged': {
    s3: { code: 'ServiceUnavailable', explained: true },
    management: 'STATE_DAMAGED',
    sentence: 'A row of the state is damaged. A start of the server derives the state again from the journal.',
  },
  'storage-full': {
    s3: { code: 'InsufficientStorage' },
    management: 'STORAGE_FULL',
    sentence: 'There is not enough free space to store this.',
  },
} as const satisfies Record<string, DomainErrorRow>

export type DomainErrorCode = keyof typeof DOMAIN_ERRORS

/** Result in the audit record of a refused request. */
export function resultOfRefusal(code: DomainErrorCode): 'denied' | 'failure' {
  const row: DomainErrorRow = DOMAIN_ERRORS[code]
  return row.result ?? 'failure'
}
