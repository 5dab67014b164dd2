/**
 * The error table of the S3 plane: code, HTTP status and default message.
 * Source of codes and statuses: the S3 API reference, list of error responses.
 */

import { DOMAIN_ERRORS, type DomainErrorCode } from '../../../engine/domain/error-table.ts'
import type { DomainError } from '../../../engine/errors.ts'
import type { HeaderLine } from '../../http/exchange.ts'

interface ErrorRow {
  readonly status: number
  /** Never empty: the AWS command line crashes on an empty message instead of naming the code. */
  readonly message: string
}

export const S3_ERRORS = {
  AccessDenied: { status: 403, message: 'Access Denied' },
  AccessForbidden: { status: 403, message: 'The CORS configuration of the bucket does not allow this request.' },
  AuthorizationHeaderMalformed: { status: 400, message: 'The Authorization header is malformed.' },
  AuthorizationQueryParametersError: { status: 400, message: 'The signature query parameters are malformed.' },
  BadDigest: { status: 400, message: 'The body does not match the checksum sent with it.' },
  BadRequest: { status: 400, message: 'The request is malformed.' },
  BucketAlreadyExists: { status: 409, message: 'The bucket name is taken by another owner.' },
  BucketAlreadyOwnedByYou: { status: 409, message: 'The bucket already exists and belongs to you.' },
  BucketNotEmpty: { status: 409, message: 'The bucket you tried to delete is not empty.' },
  ConditionalRequestConflict: {
    status: 409,
    message: 'Another write to this key happened at the same time. Try again.',
  },
  EntityTooLarge: { status: 400, message: 'The body is larger than one request may be.' },
  EntityTooSmall: { status: 400, message: 'A part other than the last is smaller than the minimum.' },
  IllegalVersioningConfigurationException: { status: 400, message: 'The versioning configuration has no status.' },
  IncompleteBody: { status: 400, message: 'The body is shorter than its Content-Length.' },
  IncorrectNumberOfFilesInPostRequest: { status: 400, message: 'POST requires exactly one file upload per request.' },
  InsufficientStorage: {
    status: 507,
    message: 'The disk of the server is full. Reads still work, and deletes as long as the journal has room.',
  },
  InternalError: { status: 500, message: 'The server had an internal error. Try again.' },
  InvalidAccessKeyId: { status: 403, message: 'The access key does not exist.' },
  IdempotencyParameterMismatch: { status: 400, message: 'The client token was used for another request.' },
  InvalidArgument: { status: 400, message: 'An argument is not valid.' },
  InvalidBucketName: { status: 400, message: 'The bucket name is not valid.' },
  InvalidBucketState: { status: 409, message: 'The state of the bucket does not allow this request.' },
  InvalidChunkSizeError: { status: 403, message: 'Only the last chunk is allowed to have less than 8192 bytes.' },
  InvalidDigest: { status: 400, message: 'The Content-MD5 is not 16 bytes in base64.' },
  InvalidLocationConstraint: { status: 400, message: 'The location constraint is not valid.' },
  InvalidPart: { status: 400, message: 'A part does not exist, or its ETag does not match.' },
  InvalidPartNumber: { status: 416, message: 'The requested partnumber is not satisfiable.' },
  InvalidPartOrder: { status: 400, message: 'The part numbers are not in ascending order.' },
  InvalidPolicyDocument: { status: 400, message: 'The policy of the form cannot be read.' },
  InvalidRange: { status: 416, message: 'The range cannot be satisfied.' },
  InvalidRequest: { status: 400, message: 'The request is not valid.' },
  InvalidRetentionPeriod: { status: 400, message: 'The default retention period is not valid.' },
  InvalidTag: { status: 400, message: 'A tag is not valid.' },
  InvalidURI: { status: 400, message: 'The URI cannot be decoded.' },
  InvalidWriteOffset: {
    status: 400,
    message: 'The write offset value that you specified does not match the current object size.',
  },
  KeyTooLongError: { status: 400, message: 'The key is longer than 1024 bytes.' },
  MalformedPOSTRequest: {
    status: 400,
    message: 'The body of your POST request is not well-formed multipart/form-data.',
  },
  MalformedPolicy: { status: 400, message: 'The policy is not valid.' },
  MalformedXML: { status: 400, message: 'The XML is not well-formed or does not match the schema.' },
  MalformedTrailerError: { status: 400, message: 'The trailer of the body is not well-formed.' },
  MaxMessageLengthExceeded: { status: 400, message: 'The body is larger than this request may carry.' },
  MaxPostPreDataLengthExceededError: {
    status: 400,
    message: 'Your POST request fields preceding the upload file were too large.',
  },
  MetadataTooLarge: { status: 400, message: 'The user metadata is larger than 2048 bytes.' },
  MethodNotAllowed: { status: 405, message: 'The method is not allowed on this resource.' },
  MissingContentLength: {
    status: 411,
    message:
      'A Content-Length header is required. Send a file (curl -T FILE), or a stream in parts, as aws s3 cp -, ' +
      'rclone rcat and upload_fileobj (boto3) do.',
  },
  NoSuchBucket: { status: 404, message: 'The specified bucket does not exist.' },
  NoSuchBucketPolicy: { status: 404, message: 'The bucket has no policy: policies of accounts decide.' },
  NoSuchCORSConfiguration: { status: 404, message: 'The bucket has no CORS configuration.' },
  NoSuchKey: { status: 404, message: 'The specified key does not exist.' },
  NoSuchLifecycleConfiguration: { status: 404, message: 'The bucket has no lifecycle rules.' },
  NoSuchObjectLockConfiguration: { status: 404, message: 'The version has no Object Lock setting of this kind.' },
  NoSuchPublicAccessBlockConfiguration: { status: 404, message: 'The bucket has no public access block.' },
  NoSuchTagSet: { status: 404, message: 'The bucket has no tags.' },
  NoSuchUpload: { status: 404, message: 'The multipart upload does not exist. It may be completed or aborted.' },
  NoSuchVersion: { status: 404, message: 'The specified version does not exist.' },
  NoSuchWebsiteConfiguration: { status: 404, message: 'The bucket has no website configuration.' },
  NotImplemented: { status: 501, message: 'The request asks for something that this server does not do.' },
  ObjectLockConfigurationNotFoundError: { status: 404, message: 'The bucket has no Object Lock configuration.' },
  ObjectDamaged: {
    status: 409,
    message: 'The stored bytes of the object are damaged. Ask the operator of the server.',
  },
  OperationAborted: { status: 409, message: 'A conflicting operation is in progress. Try again.' },
  PreconditionFailed: { status: 412, message: 'At least one of the conditions did not hold.' },
  QuotaExceeded: { status: 403, message: 'The quota of the bucket does not allow this write.' },
  OutcomeUnknown: {
    status: 500,
    message:
      'The disk of the server failed. Whether the change was made is only known after a restart: check before repeating it.',
  },
  ReplicationConfigurationNotFoundError: { status: 404, message: 'The bucket has no replication configuration.' },
  RequestTimeTooSkewed: { status: 403, message: 'The time of the request is too far from the time of the server.' },
  ServerSideEncryptionConfigurationNotFoundError: {
    status: 404,
    message: 'The bucket has no encryption configuration: whether the store encrypts is a setting of the server.',
  },
  ServiceUnavailable: { status: 503, message: 'The server cannot answer now. Nothing was changed. Try again.' },
  SignatureDoesNotMatch: { status: 403, message: 'The signature is not the one that the server calculated.' },
  SlowDown: { status: 503, message: 'Too many requests at once. Reduce the rate and try again.' },
  TooManyParts: { status: 400, message: 'The object has as many parts as one may have.' },
  XAmzContentSHA256Mismatch: { status: 400, message: 'The body does not match the x-amz-content-sha256 header.' },
} as const satisfies Readonly<Record<string, ErrorRow>>

export type S3ErrorCode = keyof typeof S3_ERRORS

/** One extra element of an error document, such as `['Key', 'a/b']`. */
type ErrorDetail = readonly [elementName: string, text: string]

interface S3ErrorOptions {
  /** Replaces the message of the table. */
  readonly message?: string
  readonly details?: readonly ErrorDetail[]
  /** Extra response headers, such as Content-Range of a 416. */
  readonly headers?: readonly HeaderLine[]
  /** For log and record of a 501: the header, or `?` and the query parameter. Default: the detail `Header`. */
  readonly refused?: string | undefined
}

/** A refusal with a code of the S3 error table. */
export class S3Error extends Error {
  override readonly name = 'S3Error'
  readonly code: S3ErrorCode
  readonly status: number
  readonly details: readonly ErrorDetail[]
  readonly headers: readonly HeaderLine[]
  /** The header, or the query parameter with a `?` before it, that a 501 refuses. */
  readonly refused: string | undefined

  constructor(code: S3ErrorCode, options: S3ErrorOptions = {}) {
    super(options.message || S3_ERRORS[code].message)
    this.code = code
    this.status = S3_ERRORS[code].status
    this.details = options.details ?? []
    this.headers = options.headers ?? []
    this.refused = options.refused ?? this.details.find(([name]) => name === 'Header')?.[1]
  }
}

interface RefusalRow {
  readonly s3?: {
    readonly code: S3ErrorCode
    readonly element?: string
    readonly explained?: true
    readonly message?: string
  }
  readonly sentence: string
}

/** The table of the engine, whose S3 codes must be in the table above. */
const REFUSALS: Readonly<Record<DomainErrorCode, RefusalRow>> = DOMAIN_ERRORS

/** The S3 error of a refusal by the engine. */
export function s3ErrorOf(error: DomainError): S3Error {
  const { s3 = { code: 'InvalidRequest', explained: true }, sentence } = REFUSALS[error.code]
  const { code, element, explained, message = explained === true ? sentence : undefined } = s3
  return new S3Error(code, {
    ...(message === undefined ? {} : { message }),
    ...(element === undefined || error.subject === undefined ? {} : { details: [[element, error.subject]] }),
  })
}

/** InvalidArgument with the name of the argument, its value, and the reason. */
export function invalidArgument(argumentName: string, argumentValue: string, message: string): S3Error {
  const details: ErrorDetail[] = [
    ['ArgumentName', argumentName],
    ['ArgumentValue', argumentValue],
  ]
  return new S3Error('InvalidArgument', { message, details })
}

/** MalformedXML with the reason `why`. */
export function malformedXml(why: string): S3Error {
  return new S3Error('MalformedXML', { message: `The XML you provided is not valid here. ${why}` })
}
