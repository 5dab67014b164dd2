import { DOMAIN_ERRORS, type DomainError, type DomainErrorCode } from '../../engine/errors.ts'
import { S3Error, type S3ErrorCode } from './errors.ts'

interface DomainErrorRow {
  readonly code: S3ErrorCode
  /** Name of the element that carries the subject of the error. */
  readonly element?: string
  /** The S3 code alone says too little: the sentence of the rule goes with it. */
  readonly explained?: true
  /** The sentence of S3, where clients know it and it says more than that of the rule. */
  readonly message?: string
}

/** What each refusal of the rules is called on the S3 wire. A new code of the engine does not compile without a row. */
export const S3_OF_DOMAIN_ERROR: Readonly<Record<DomainErrorCode, DomainErrorRow>> = {
  'bucket-not-found': { code: 'NoSuchBucket', element: 'BucketName' },
  'bucket-exists': { code: 'BucketAlreadyOwnedByYou', element: 'BucketName' },
  'bucket-not-empty': { code: 'BucketNotEmpty', element: 'BucketName' },
  'object-not-found': { code: 'NoSuchKey', element: 'Key' },
  'precondition-failed': { code: 'PreconditionFailed', element: 'Condition' },
  'source-changed': { code: 'OperationAborted' },
  'copy-onto-itself': {
    code: 'InvalidRequest',
    message:
      "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
  },
  'rename-onto-itself': { code: 'InvalidRequest', explained: true },
  'rename-of-versions': { code: 'InvalidBucketState', element: 'BucketName', explained: true },
  'rename-token-reused': { code: 'IdempotencyParameterMismatch', explained: true },
  'command-failed': { code: 'InternalError' },
  'version-not-found': { code: 'NoSuchVersion', element: 'Key' },
  'version-is-marker': { code: 'MethodNotAllowed', explained: true },
  'versioning-is-locked': { code: 'InvalidBucketState', element: 'BucketName', explained: true },
  'lock-not-enabled': { code: 'InvalidRequest', element: 'BucketName', explained: true },
  'retention-in-past': { code: 'InvalidArgument', explained: true },
  'governance-retention': { code: 'AccessDenied', explained: true },
  'compliance-retention': { code: 'AccessDenied', explained: true },
  'legal-hold': { code: 'AccessDenied', explained: true },
  'clock-behind': { code: 'ServiceUnavailable', explained: true },
  'upload-not-found': { code: 'NoSuchUpload' },
  'part-not-found': { code: 'InvalidPart', element: 'PartNumber' },
  'part-too-small': { code: 'EntityTooSmall', element: 'PartNumber' },
  'checksum-mismatch': { code: 'BadDigest', explained: true },
  'checksum-not-known': { code: 'InvalidRequest', explained: true },
  'object-too-large': { code: 'EntityTooLarge', element: 'ProposedSize' },
  'offset-is-not-size': { code: 'InvalidWriteOffset', element: 'ActualObjectSize' },
  'too-many-parts': { code: 'TooManyParts', explained: true },
  'quota-exceeded': { code: 'QuotaExceeded', element: 'BucketName' },
  'too-many-references': { code: 'QuotaExceeded', element: 'BucketName', explained: true },
  'bucket-too-large': { code: 'QuotaExceeded', element: 'BucketName', explained: true },
  'too-many-copies': { code: 'InvalidRequest', explained: true },
  // Nothing on this plane changes who may do what, where events are sent, lifecycle rules, links or checkpoints.
  'account-exists': { code: 'InvalidRequest', explained: true },
  'account-not-found': { code: 'InvalidRequest', explained: true },
  'credential-exists': { code: 'InvalidRequest', explained: true },
  'credential-not-found': { code: 'InvalidRequest', explained: true },
  'too-many-credentials': { code: 'InvalidRequest', explained: true },
  'policy-exists': { code: 'InvalidRequest', explained: true },
  'policy-not-found': { code: 'InvalidRequest', explained: true },
  'too-many-policies': { code: 'InvalidRequest', explained: true },
  'policy-not-attached': { code: 'InvalidRequest', explained: true },
  'policy-attached': { code: 'InvalidRequest', explained: true },
  'token-exists': { code: 'InvalidRequest', explained: true },
  'token-not-found': { code: 'InvalidRequest', explained: true },
  'rule-exists': { code: 'InvalidRequest', explained: true },
  'rule-not-found': { code: 'InvalidRequest', explained: true },
  'too-many-rules': { code: 'InvalidRequest', explained: true },
  'webhook-exists': { code: 'InvalidRequest', explained: true },
  'webhook-not-found': { code: 'InvalidRequest', explained: true },
  'too-many-webhooks': { code: 'InvalidRequest', explained: true },
  'webhook-disabled': { code: 'InvalidRequest', explained: true },
  'webhook-replaying': { code: 'InvalidRequest', explained: true },
  'share-exists': { code: 'InvalidRequest', explained: true },
  'share-not-found': { code: 'InvalidRequest', explained: true },
  'too-many-shares': { code: 'InvalidRequest', explained: true },
  'share-revoked': { code: 'InvalidRequest', explained: true },
  'share-expired': { code: 'InvalidRequest', explained: true },
  'share-exhausted': { code: 'InvalidRequest', explained: true },
  'embed-exists': { code: 'InvalidRequest', explained: true },
  'embed-not-found': { code: 'InvalidRequest', explained: true },
  'embed-revoked': { code: 'InvalidRequest', explained: true },
  'too-many-embeds': { code: 'InvalidRequest', explained: true },
  'checkpoint-forks': { code: 'InvalidRequest', explained: true },
  'checkpoint-rolls-back': { code: 'InvalidRequest', explained: true },
  'checkpoint-skips': { code: 'InvalidRequest', explained: true },
  'checkpoint-signed-twice': { code: 'InvalidRequest', explained: true },
  'checkpoint-missing': { code: 'InvalidRequest', explained: true },
  'checkpoint-not-next': { code: 'InvalidRequest', explained: true },
  'checkpoint-key-changed': { code: 'InvalidRequest', explained: true },
  'checkpoint-withheld': { code: 'InvalidRequest', explained: true },
  'checkpoint-key-unused': { code: 'InvalidRequest', explained: true },
  'too-many-checkpoint-keys': { code: 'InvalidRequest', explained: true },
  'checkpoint-handover-refused': { code: 'InvalidRequest', explained: true },
  'too-many-receipts': { code: 'InvalidRequest', explained: true },
  'journal-full': { code: 'ServiceUnavailable', explained: true },
  'storage-full': { code: 'InsufficientStorage' },
}

export function s3ErrorOf(error: DomainError): S3Error {
  const { code, element, explained, message } = S3_OF_DOMAIN_ERROR[error.code]
  const sentence = explained === true ? DOMAIN_ERRORS[error.code].sentence : message
  return new S3Error(code, {
    ...(sentence === undefined ? {} : { message: sentence }),
    ...(element === undefined || error.subject === undefined ? {} : { details: [[element, error.subject]] }),
  })
}
