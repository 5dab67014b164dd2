import { type Level, type Method, type Operation, operationOf } from '../handling/operation.ts'

/** Method, level and subresource, such as `PUT object ?tagging`. */
type Pattern = `${Method} ${Level}` | `${Method} ${Level} ?${string}`
type Extras = Partial<Pick<Operation, 'mark' | 'accepts' | 'changes'>>

/** @param action without `s3:`; by default the name of the operation */
function row(name: string, pattern: Pattern, action = name, extras: Extras = {}): Operation {
  const [method, level, subresource] = pattern.split(' ') as [Method, Level, string | undefined]
  const selected = { method, level, subresource: subresource?.slice(1) }
  return operationOf({ name, ...selected, action: `s3:${action}`, handle: undefined, ...extras })
}

const VERSION: Extras = { accepts: ['versionId'] }
/** STS, whose requests go to the root of an endpoint; temporary credentials are issued on the management plane. */
const STS: Extras = { mark: { query: 'Action' } }
const BY_ID: Extras = { mark: { query: 'id' } }

/**
 * The operations of the S3 API that this server does not implement. They are refused by name, so that they do not fall
 * through to another operation.
 */
export const NOT_IMPLEMENTED: readonly Operation[] = [
  // Same path as ListBuckets; distinguished by a query parameter of the SDK for JavaScript.
  row('ListDirectoryBuckets', 'GET service', 'ListAllMyDirectoryBuckets', {
    mark: { query: 'x-id', value: 'ListDirectoryBuckets' },
  }),
  row('SecurityTokenService', 'POST service'),
  row('SecurityTokenServiceQuery', 'GET service', 'SecurityTokenService', STS),
  row('WriteGetObjectResponse', 'POST bucket', 'WriteGetObjectResponse', { mark: { header: 'x-amz-request-route' } }),
  row('PostObject', 'POST bucket', 'PutObject'),
  row('CreateSession', 'GET bucket ?session'),
  row('GetBucketAbac', 'GET bucket ?abac'),
  row('PutBucketAbac', 'PUT bucket ?abac'),
  row('GetBucketAccelerateConfiguration', 'GET bucket ?accelerate', 'GetAccelerateConfiguration'),
  row('PutBucketAccelerateConfiguration', 'PUT bucket ?accelerate', 'PutAccelerateConfiguration'),
  row('GetBucketAcl', 'GET bucket ?acl'),
  row('PutBucketAcl', 'PUT bucket ?acl'),
  row('GetBucketAnalyticsConfiguration', 'GET bucket ?analytics', 'GetAnalyticsConfiguration', BY_ID),
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
    BY_ID,
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
  row('GetBucketInventoryConfiguration', 'GET bucket ?inventory', 'GetInventoryConfiguration', BY_ID),
  row('ListBucketInventoryConfigurations', 'GET bucket ?inventory', 'GetInventoryConfiguration'),
  row('PutBucketInventoryConfiguration', 'PUT bucket ?inventory', 'PutInventoryConfiguration'),
  row('DeleteBucketInventoryConfiguration', 'DELETE bucket ?inventory', 'PutInventoryConfiguration'),
  row('GetBucketLifecycleConfiguration', 'GET bucket ?lifecycle', 'GetLifecycleConfiguration'),
  row('PutBucketLifecycleConfiguration', 'PUT bucket ?lifecycle', 'PutLifecycleConfiguration'),
  row('DeleteBucketLifecycle', 'DELETE bucket ?lifecycle', 'PutLifecycleConfiguration'),
  row('GetBucketLogging', 'GET bucket ?logging'),
  row('PutBucketLogging', 'PUT bucket ?logging'),
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
  row('CreateBucketMetadataTableConfiguration', 'POST bucket ?metadataTable'),
  row('GetBucketMetadataTableConfiguration', 'GET bucket ?metadataTable'),
  row('DeleteBucketMetadataTableConfiguration', 'DELETE bucket ?metadataTable'),
  row('UpdateBucketMetadataAnnotationTableConfiguration', 'PUT bucket ?metadataAnnotationTable'),
  row('UpdateBucketMetadataInventoryTableConfiguration', 'PUT bucket ?metadataInventoryTable'),
  row('UpdateBucketMetadataJournalTableConfiguration', 'PUT bucket ?metadataJournalTable'),
  row('GetBucketMetricsConfiguration', 'GET bucket ?metrics', 'GetMetricsConfiguration', BY_ID),
  row('ListBucketMetricsConfigurations', 'GET bucket ?metrics', 'GetMetricsConfiguration'),
  row('PutBucketMetricsConfiguration', 'PUT bucket ?metrics', 'PutMetricsConfiguration'),
  row('DeleteBucketMetricsConfiguration', 'DELETE bucket ?metrics', 'PutMetricsConfiguration'),
  row('GetBucketNotificationConfiguration', 'GET bucket ?notification', 'GetBucketNotification'),
  row('PutBucketNotificationConfiguration', 'PUT bucket ?notification', 'PutBucketNotification'),
  row('GetBucketOwnershipControls', 'GET bucket ?ownershipControls'),
  row('PutBucketOwnershipControls', 'PUT bucket ?ownershipControls'),
  row('DeleteBucketOwnershipControls', 'DELETE bucket ?ownershipControls', 'PutBucketOwnershipControls'),
  row('GetBucketPolicy', 'GET bucket ?policy'),
  row('PutBucketPolicy', 'PUT bucket ?policy'),
  row('DeleteBucketPolicy', 'DELETE bucket ?policy'),
  row('GetBucketPolicyStatus', 'GET bucket ?policyStatus'),
  row('GetPublicAccessBlock', 'GET bucket ?publicAccessBlock', 'GetBucketPublicAccessBlock'),
  row('PutPublicAccessBlock', 'PUT bucket ?publicAccessBlock', 'PutBucketPublicAccessBlock'),
  row('DeletePublicAccessBlock', 'DELETE bucket ?publicAccessBlock', 'PutBucketPublicAccessBlock'),
  row('GetBucketReplication', 'GET bucket ?replication', 'GetReplicationConfiguration'),
  row('PutBucketReplication', 'PUT bucket ?replication', 'PutReplicationConfiguration'),
  row('DeleteBucketReplication', 'DELETE bucket ?replication', 'PutReplicationConfiguration'),
  row('GetBucketRequestPayment', 'GET bucket ?requestPayment'),
  row('PutBucketRequestPayment', 'PUT bucket ?requestPayment'),
  row('GetBucketTagging', 'GET bucket ?tagging'),
  row('PutBucketTagging', 'PUT bucket ?tagging'),
  row('DeleteBucketTagging', 'DELETE bucket ?tagging', 'PutBucketTagging'),
  row('GetBucketWebsite', 'GET bucket ?website'),
  row('PutBucketWebsite', 'PUT bucket ?website'),
  row('DeleteBucketWebsite', 'DELETE bucket ?website'),
  row('GetObjectAcl', 'GET object ?acl', 'GetObjectAcl', VERSION),
  row('PutObjectAcl', 'PUT object ?acl', 'PutObjectAcl', VERSION),
  row('GetObjectAnnotation', 'GET object ?annotation', 'GetObjectAnnotation', {
    mark: { query: 'annotationName' },
    ...VERSION,
  }),
  row('ListObjectAnnotations', 'GET object ?annotation', 'ListObjectAnnotations', VERSION),
  row('PutObjectAnnotation', 'PUT object ?annotation', 'PutObjectAnnotation', VERSION),
  row('DeleteObjectAnnotation', 'DELETE object ?annotation', 'DeleteObjectAnnotation', VERSION),
  row('PutObjectTagging', 'PUT object ?tagging', 'PutObjectTagging', VERSION),
  row('DeleteObjectTagging', 'DELETE object ?tagging', 'DeleteObjectTagging', VERSION),
  row('GetObjectTorrent', 'GET object ?torrent'),
  row('RestoreObject', 'POST object ?restore', 'RestoreObject', VERSION),
  row('SelectObjectContent', 'POST object ?select', 'GetObject', { changes: false }),
  row('UpdateObjectEncryption', 'PUT object ?encryption', 'UpdateObjectEncryption', VERSION),
]
