/**
 * Every operation of the S3 API by name, those that this store does not do included: an operation that is not in the
 * table does not exist, and none falls through to another one. Recognition is in recognize-operation.ts; the router,
 * the authorizer, the metrics and the audit records read the same rows.
 */

export type Level = 'service' | 'bucket' | 'object'
export type Method = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE' | 'OPTIONS'

export interface Operation {
  /** The name in the S3 API reference. */
  readonly name: string
  readonly method: Method
  readonly level: Level
  /** The query parameter that selects this operation, such as `acl`; undefined for the plain resource. */
  readonly subresource: string | undefined
  /** A further mark that tells it from others of the same method and subresource. */
  readonly mark: Mark | undefined
  /** The permission that policies grant or deny. */
  readonly action: string
  /** The permission when the request names a version, where it is another one. */
  readonly versionAction: string | undefined
  /** Whether it changes something, and so is audited twice: attempt and outcome. */
  readonly changes: boolean
  /** The largest body that is read; 0 when there is none. */
  readonly bodyBytesMaximum: number
  /** Parameters that change the meaning of other operations and that this one takes. */
  readonly accepts: readonly ('versionId' | 'partNumber')[]
  readonly implemented: boolean
}

/** A query parameter (with a certain value, if one is given) or a header that must be there. */
export type Mark =
  | { readonly query: string; readonly value?: string }
  | { readonly header: string; readonly query?: undefined }

const MEBIBYTE = 1024 ** 2
const DOCUMENT_BYTES_MAXIMUM = MEBIBYTE
const SMALL_DOCUMENT_BYTES_MAXIMUM = 64 * 1024
const COMPLETE_BYTES_MAXIMUM = 4 * MEBIBYTE
export const PUT_BYTES_MAXIMUM = 5 * 1024 ** 3

const COPY_SOURCE: Mark = { header: 'x-amz-copy-source' }
const ID: Mark = { query: 'id' }

type Extras = Partial<
  Pick<Operation, 'mark' | 'versionAction' | 'bodyBytesMaximum' | 'accepts' | 'implemented' | 'changes'>
>

/** `PUT object ?tagging` spells method, level and subresource as a reader of the S3 reference knows them. */
type Pattern = `${Method} ${Level}` | `${Method} ${Level} ?${string}`

function row(name: string, pattern: Pattern, action: string, extras: Extras = {}): Operation {
  const [method, level, subresource] = pattern.split(' ') as [Method, Level, string | undefined]
  const reads = method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
  return {
    name,
    method,
    level,
    subresource: subresource?.slice(1),
    mark: undefined,
    action: `s3:${action}`,
    versionAction: undefined,
    changes: !reads,
    bodyBytesMaximum: reads || method === 'DELETE' ? 0 : DOCUMENT_BYTES_MAXIMUM,
    accepts: [],
    implemented: false,
    ...extras,
  }
}

const IMPLEMENTED = { implemented: true } as const
const VERSION = { accepts: ['versionId'] } as const satisfies Extras
const VERSION_OR_PART = { accepts: ['versionId', 'partNumber'] } as const satisfies Extras
const OBJECT_BODY = { bodyBytesMaximum: PUT_BYTES_MAXIMUM } as const satisfies Extras
const NO_BODY = { bodyBytesMaximum: 0 } as const satisfies Extras

const SERVICE_OPERATIONS: readonly Operation[] = [
  // The SDK for JavaScript tells them apart in the query; they share the path.
  row('ListDirectoryBuckets', 'GET service', 'ListAllMyDirectoryBuckets', {
    mark: { query: 'x-id', value: 'ListDirectoryBuckets' },
  }),
  row('ListBuckets', 'GET service', 'ListAllMyBuckets', IMPLEMENTED),
]

const BUCKET_OPERATIONS: readonly Operation[] = [
  row('CreateBucket', 'PUT bucket', 'CreateBucket', { ...IMPLEMENTED, bodyBytesMaximum: SMALL_DOCUMENT_BYTES_MAXIMUM }),
  row('HeadBucket', 'HEAD bucket', 'ListBucket', IMPLEMENTED),
  row('DeleteBucket', 'DELETE bucket', 'DeleteBucket', IMPLEMENTED),
  row('GetBucketLocation', 'GET bucket ?location', 'GetBucketLocation', IMPLEMENTED),
  row('ListObjectsV2', 'GET bucket', 'ListBucket', { ...IMPLEMENTED, mark: { query: 'list-type', value: '2' } }),
  row('ListObjects', 'GET bucket', 'ListBucket'),
  row('ListObjectVersions', 'GET bucket ?versions', 'ListBucketVersions', IMPLEMENTED),
  row('ListMultipartUploads', 'GET bucket ?uploads', 'ListBucketMultipartUploads', IMPLEMENTED),
  row('DeleteObjects', 'POST bucket ?delete', 'DeleteObject'),
  row('WriteGetObjectResponse', 'POST bucket', 'WriteGetObjectResponse', {
    ...OBJECT_BODY,
    mark: { header: 'x-amz-request-route' },
  }),
  row('PostObject', 'POST bucket', 'PutObject', OBJECT_BODY),
  row('PreflightBucket', 'OPTIONS bucket', 'Preflight', IMPLEMENTED),
  row('CreateSession', 'GET bucket ?session', 'CreateSession'),
  row('GetBucketVersioning', 'GET bucket ?versioning', 'GetBucketVersioning', IMPLEMENTED),
  row('PutBucketVersioning', 'PUT bucket ?versioning', 'ManageBucket', IMPLEMENTED),
  row('GetObjectLockConfiguration', 'GET bucket ?object-lock', 'GetBucketObjectLockConfiguration', IMPLEMENTED),
  row('PutObjectLockConfiguration', 'PUT bucket ?object-lock', 'ManageBucket', IMPLEMENTED),
  row('GetBucketCors', 'GET bucket ?cors', 'GetBucketCORS', IMPLEMENTED),
  row('PutBucketCors', 'PUT bucket ?cors', 'ManageBucket', IMPLEMENTED),
  row('DeleteBucketCors', 'DELETE bucket ?cors', 'ManageBucket', IMPLEMENTED),
  row('GetBucketAbac', 'GET bucket ?abac', 'GetBucketAbac'),
  row('PutBucketAbac', 'PUT bucket ?abac', 'PutBucketAbac'),
  row('GetBucketAccelerateConfiguration', 'GET bucket ?accelerate', 'GetAccelerateConfiguration'),
  row('PutBucketAccelerateConfiguration', 'PUT bucket ?accelerate', 'PutAccelerateConfiguration'),
  row('GetBucketAcl', 'GET bucket ?acl', 'GetBucketAcl'),
  row('PutBucketAcl', 'PUT bucket ?acl', 'PutBucketAcl'),
  row('GetBucketAnalyticsConfiguration', 'GET bucket ?analytics', 'GetAnalyticsConfiguration', { mark: ID }),
  row('ListBucketAnalyticsConfigurations', 'GET bucket ?analytics', 'GetAnalyticsConfiguration'),
  row('PutBucketAnalyticsConfiguration', 'PUT bucket ?analytics', 'PutAnalyticsConfiguration'),
  row('DeleteBucketAnalyticsConfiguration', 'DELETE bucket ?analytics', 'PutAnalyticsConfiguration'),
  row('GetBucketEncryption', 'GET bucket ?encryption', 'GetEncryptionConfiguration'),
  row('PutBucketEncryption', 'PUT bucket ?encryption', 'PutEncryptionConfiguration'),
  row('DeleteBucketEncryption', 'DELETE bucket ?encryption', 'PutEncryptionConfiguration'),
  row(
    'GetBucketIntelligentTieringConfiguration',
    'GET bucket ?intelligent-tiering',
    'GetIntelligentTieringConfiguration',
    {
      mark: ID,
    },
  ),
  row(
    'ListBucketIntelligentTieringConfigurations',
    'GET bucket ?intelligent-tiering',
    'GetIntelligentTieringConfiguration',
  ),
  row(
    'PutBucketIntelligentTieringConfiguration',
    'PUT bucket ?intelligent-tiering',
    'PutIntelligentTieringConfiguration',
  ),
  row(
    'DeleteBucketIntelligentTieringConfiguration',
    'DELETE bucket ?intelligent-tiering',
    'PutIntelligentTieringConfiguration',
  ),
  row('GetBucketInventoryConfiguration', 'GET bucket ?inventory', 'GetInventoryConfiguration', { mark: ID }),
  row('ListBucketInventoryConfigurations', 'GET bucket ?inventory', 'GetInventoryConfiguration'),
  row('PutBucketInventoryConfiguration', 'PUT bucket ?inventory', 'PutInventoryConfiguration'),
  row('DeleteBucketInventoryConfiguration', 'DELETE bucket ?inventory', 'PutInventoryConfiguration'),
  row('GetBucketLifecycleConfiguration', 'GET bucket ?lifecycle', 'GetLifecycleConfiguration'),
  row('PutBucketLifecycleConfiguration', 'PUT bucket ?lifecycle', 'PutLifecycleConfiguration'),
  row('DeleteBucketLifecycle', 'DELETE bucket ?lifecycle', 'PutLifecycleConfiguration'),
  row('GetBucketLogging', 'GET bucket ?logging', 'GetBucketLogging'),
  row('PutBucketLogging', 'PUT bucket ?logging', 'PutBucketLogging'),
  row(
    'CreateBucketMetadataConfiguration',
    'POST bucket ?metadataConfiguration',
    'CreateBucketMetadataTableConfiguration',
  ),
  row('GetBucketMetadataConfiguration', 'GET bucket ?metadataConfiguration', 'GetBucketMetadataTableConfiguration'),
  row(
    'DeleteBucketMetadataConfiguration',
    'DELETE bucket ?metadataConfiguration',
    'DeleteBucketMetadataTableConfiguration',
  ),
  row('CreateBucketMetadataTableConfiguration', 'POST bucket ?metadataTable', 'CreateBucketMetadataTableConfiguration'),
  row('GetBucketMetadataTableConfiguration', 'GET bucket ?metadataTable', 'GetBucketMetadataTableConfiguration'),
  row(
    'DeleteBucketMetadataTableConfiguration',
    'DELETE bucket ?metadataTable',
    'DeleteBucketMetadataTableConfiguration',
  ),
  row(
    'UpdateBucketMetadataAnnotationTableConfiguration',
    'PUT bucket ?metadataAnnotationTable',
    'UpdateBucketMetadataAnnotationTableConfiguration',
  ),
  row(
    'UpdateBucketMetadataInventoryTableConfiguration',
    'PUT bucket ?metadataInventoryTable',
    'UpdateBucketMetadataInventoryTableConfiguration',
  ),
  row(
    'UpdateBucketMetadataJournalTableConfiguration',
    'PUT bucket ?metadataJournalTable',
    'UpdateBucketMetadataJournalTableConfiguration',
  ),
  row('GetBucketMetricsConfiguration', 'GET bucket ?metrics', 'GetMetricsConfiguration', { mark: ID }),
  row('ListBucketMetricsConfigurations', 'GET bucket ?metrics', 'GetMetricsConfiguration'),
  row('PutBucketMetricsConfiguration', 'PUT bucket ?metrics', 'PutMetricsConfiguration'),
  row('DeleteBucketMetricsConfiguration', 'DELETE bucket ?metrics', 'PutMetricsConfiguration'),
  row('GetBucketNotificationConfiguration', 'GET bucket ?notification', 'GetBucketNotification'),
  row('PutBucketNotificationConfiguration', 'PUT bucket ?notification', 'PutBucketNotification'),
  row('GetBucketOwnershipControls', 'GET bucket ?ownershipControls', 'GetBucketOwnershipControls'),
  row('PutBucketOwnershipControls', 'PUT bucket ?ownershipControls', 'PutBucketOwnershipControls'),
  row('DeleteBucketOwnershipControls', 'DELETE bucket ?ownershipControls', 'PutBucketOwnershipControls'),
  row('GetBucketPolicy', 'GET bucket ?policy', 'GetBucketPolicy'),
  row('PutBucketPolicy', 'PUT bucket ?policy', 'PutBucketPolicy'),
  row('DeleteBucketPolicy', 'DELETE bucket ?policy', 'DeleteBucketPolicy'),
  row('GetBucketPolicyStatus', 'GET bucket ?policyStatus', 'GetBucketPolicyStatus'),
  row('GetPublicAccessBlock', 'GET bucket ?publicAccessBlock', 'GetBucketPublicAccessBlock'),
  row('PutPublicAccessBlock', 'PUT bucket ?publicAccessBlock', 'PutBucketPublicAccessBlock'),
  row('DeletePublicAccessBlock', 'DELETE bucket ?publicAccessBlock', 'PutBucketPublicAccessBlock'),
  row('GetBucketReplication', 'GET bucket ?replication', 'GetReplicationConfiguration'),
  row('PutBucketReplication', 'PUT bucket ?replication', 'PutReplicationConfiguration'),
  row('DeleteBucketReplication', 'DELETE bucket ?replication', 'PutReplicationConfiguration'),
  row('GetBucketRequestPayment', 'GET bucket ?requestPayment', 'GetBucketRequestPayment'),
  row('PutBucketRequestPayment', 'PUT bucket ?requestPayment', 'PutBucketRequestPayment'),
  row('GetBucketTagging', 'GET bucket ?tagging', 'GetBucketTagging'),
  row('PutBucketTagging', 'PUT bucket ?tagging', 'PutBucketTagging'),
  row('DeleteBucketTagging', 'DELETE bucket ?tagging', 'PutBucketTagging'),
  row('GetBucketWebsite', 'GET bucket ?website', 'GetBucketWebsite'),
  row('PutBucketWebsite', 'PUT bucket ?website', 'PutBucketWebsite'),
  row('DeleteBucketWebsite', 'DELETE bucket ?website', 'DeleteBucketWebsite'),
]

const OBJECT_OPERATIONS: readonly Operation[] = [
  row('GetObject', 'GET object', 'GetObject', { ...IMPLEMENTED, ...VERSION_OR_PART }),
  row('HeadObject', 'HEAD object', 'GetObject', { ...IMPLEMENTED, ...VERSION_OR_PART }),
  row('CopyObject', 'PUT object', 'PutObject', { ...IMPLEMENTED, ...NO_BODY, mark: COPY_SOURCE }),
  row('PutObject', 'PUT object', 'PutObject', { ...IMPLEMENTED, ...OBJECT_BODY }),
  row('DeleteObject', 'DELETE object', 'DeleteObject', {
    ...IMPLEMENTED,
    ...VERSION,
    versionAction: 's3:DeleteObjectVersion',
  }),
  row('PreflightObject', 'OPTIONS object', 'Preflight', IMPLEMENTED),
  row('CreateMultipartUpload', 'POST object ?uploads', 'PutObject', { ...IMPLEMENTED, ...NO_BODY }),
  row('UploadPartCopy', 'PUT object ?uploadId', 'PutObject', {
    ...NO_BODY,
    mark: COPY_SOURCE,
    accepts: ['partNumber'],
  }),
  row('UploadPart', 'PUT object ?uploadId', 'PutObject', { ...IMPLEMENTED, ...OBJECT_BODY, accepts: ['partNumber'] }),
  row('ListParts', 'GET object ?uploadId', 'ListMultipartUploadParts', IMPLEMENTED),
  row('CompleteMultipartUpload', 'POST object ?uploadId', 'PutObject', {
    ...IMPLEMENTED,
    bodyBytesMaximum: COMPLETE_BYTES_MAXIMUM,
  }),
  row('AbortMultipartUpload', 'DELETE object ?uploadId', 'AbortMultipartUpload', IMPLEMENTED),
  row('GetObjectRetention', 'GET object ?retention', 'GetObjectRetention', { ...IMPLEMENTED, ...VERSION }),
  row('PutObjectRetention', 'PUT object ?retention', 'PutObjectRetention', { ...IMPLEMENTED, ...VERSION }),
  row('GetObjectLegalHold', 'GET object ?legal-hold', 'GetObjectLegalHold', { ...IMPLEMENTED, ...VERSION }),
  row('PutObjectLegalHold', 'PUT object ?legal-hold', 'PutObjectLegalHold', { ...IMPLEMENTED, ...VERSION }),
  row('GetObjectAcl', 'GET object ?acl', 'GetObjectAcl', VERSION),
  row('PutObjectAcl', 'PUT object ?acl', 'PutObjectAcl', VERSION),
  row('GetObjectAnnotation', 'GET object ?annotation', 'GetObjectAnnotation', {
    ...VERSION,
    mark: { query: 'annotationName' },
  }),
  row('ListObjectAnnotations', 'GET object ?annotation', 'ListObjectAnnotations', VERSION),
  row('PutObjectAnnotation', 'PUT object ?annotation', 'PutObjectAnnotation', VERSION),
  row('DeleteObjectAnnotation', 'DELETE object ?annotation', 'DeleteObjectAnnotation', VERSION),
  row('GetObjectAttributes', 'GET object ?attributes', 'GetObjectAttributes', VERSION),
  row('GetObjectTagging', 'GET object ?tagging', 'GetObjectTagging', VERSION),
  row('PutObjectTagging', 'PUT object ?tagging', 'PutObjectTagging', VERSION),
  row('DeleteObjectTagging', 'DELETE object ?tagging', 'DeleteObjectTagging', VERSION),
  row('GetObjectTorrent', 'GET object ?torrent', 'GetObjectTorrent'),
  row('RenameObject', 'PUT object ?renameObject', 'RenameObject', NO_BODY),
  row('RestoreObject', 'POST object ?restore', 'RestoreObject', VERSION),
  row('SelectObjectContent', 'POST object ?select', 'GetObject', { changes: false }),
  row('UpdateObjectEncryption', 'PUT object ?encryption', 'UpdateObjectEncryption', VERSION),
]

/** All rows; among rows of one method, level and subresource those with a mark stand first. */
export const OPERATIONS: readonly Operation[] = [...SERVICE_OPERATIONS, ...BUCKET_OPERATIONS, ...OBJECT_OPERATIONS]
