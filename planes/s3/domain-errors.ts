import type { DomainError, DomainErrorCode } from '../../engine/errors.ts'
import { S3Error, type S3ErrorCode } from './errors.ts'

/** What each refusal of the rules is called on the S3 wire. A new code of the engine does not compile without a row. */
export const S3_CODE_OF_DOMAIN_ERROR = {
  'bucket-not-found': 'NoSuchBucket',
  'bucket-exists': 'BucketAlreadyOwnedByYou',
  'bucket-not-empty': 'BucketNotEmpty',
  'object-not-found': 'NoSuchKey',
  'precondition-failed': 'PreconditionFailed',
  'source-changed': 'OperationAborted',
  'copy-onto-itself': 'InvalidRequest',
  'command-failed': 'InternalError',
  'storage-full': 'InsufficientStorage',
} as const satisfies Record<DomainErrorCode, S3ErrorCode>

/** Name of the element that carries the subject of an error. */
const SUBJECT_ELEMENT: Partial<Record<DomainErrorCode, string>> = {
  'bucket-not-found': 'BucketName',
  'bucket-exists': 'BucketName',
  'bucket-not-empty': 'BucketName',
  'object-not-found': 'Key',
  'precondition-failed': 'Condition',
}

const MESSAGES: Partial<Record<DomainErrorCode, string>> = {
  'copy-onto-itself':
    'This copy request is illegal because it is trying to copy an object to itself without changing the metadata.',
}

export function s3ErrorOf(error: DomainError): S3Error {
  const element = SUBJECT_ELEMENT[error.code]
  const message = MESSAGES[error.code]
  return new S3Error(S3_CODE_OF_DOMAIN_ERROR[error.code], {
    ...(message === undefined ? {} : { message }),
    ...(element === undefined || error.subject === undefined ? {} : { details: [[element, error.subject]] }),
  })
}
