import { type Level, type Method, type Operation, operationOf } from '../handling/operation.ts'

/** Method, level and subresource, such as `PUT object ?tagging`. */
type Pattern = `${Method} ${Level}` | `${Method} ${Level} ?${string}`
type Extras = Partial<Pick<Operation, 'mark' | 'accepts' | 'changes' | 'instead'>>

/** @param action without `s3:`; by default the name of the operation */
function row(name: string, pattern: Pattern, action = name, extras: Extras = {}): Operation {
  const [method, level, subresource] = pattern.split(' ') as [Method, Level, string | undefined]
  const selected = { method, level, subresource: subresource?.slice(1) }
  return operationOf({ name, ...selected, action: `s3:${action}`, handle: undefined, ...extras })
}

const VERSION: Extras = { accepts: ['versionId'] }
const TEMPORARY: Extras = { instead: 'On this server, object-store credential temporary issues keys that expire.' }
/** STS, whose requests go to the root of an endpoint; temporary credentials are issued on the management plane. */
const STS: Extras = { mark: { query: 'Action' }, ...TEMPORARY }
const POLICIES: Extras = {
  instead: 'On this server, policies are of accounts: object-store policy create, policy attach.',
}
const WEBHOOKS: Extras = { instead: 'On this server, object-store webhook create has events sent to a URL.' }
const ENCRYPTION: Extras = { instead: 'On this server, storage.encryption_enabled encrypts all that is written.' }
const AUDIT: Extras = { instead: 'On this server, every request is in the audit log: object-store audit query.' }
const LINKS: Extras = {
  instead: 'On this server, object-store share create makes links for people without credentials.',
}
const BACKUP: Extras = { instead: 'On this server, object-store backup copies the store while it runs.' }
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
  row('SecurityTokenService', 'POST service', 'SecurityTokenService', TEMPORARY),
  row('SecurityTokenServiceQuery', 'GET service', 'SecurityTokenService', STS),
  row('WriteGetObjectResponse', 'POST bucket', 'WriteGetObjectResponse', { mark: { header: 'x-amz-request-route' } }),
  row('CreateSession', 'GET bucket ?session'),
  row('GetBucketAbac', 'GET bucket ?abac'),
  row('PutBucketAbac', 'PUT bucket ?abac'),
  row('PutBucketAccelerateConfiguration', 'PUT bucket ?accelerate', 'PutAccelerateConfiguration'),
  row('GetBucketAnalyticsConfiguration', 'GET bucket ?analytics', 'GetAnalyticsConfiguration', BY_ID),
  row('ListBucketAnalyticsConfigurations', 'GET bucket ?analytics', 'GetAnalyticsConfiguration'),
  row('PutBucketAnalyticsConfiguration', 'PUT bucket ?analytics', 'PutAnalyticsConfiguration'),
  row('DeleteBucketAnalyticsConfiguration', 'DELETE bucket ?analytics', 'PutAnalyticsConfiguration'),
  row('PutBucketEncryption', 'PUT bucket ?encryption', 'PutEncryptionConfiguration', ENCRYPTION),
  row('DeleteBucketEncryption', 'DELETE bucket ?encryption', 'PutEncryptionConfiguration', ENCRYPTION),
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
  row('PutBucketLogging', 'PUT bucket ?logging', 'PutBucketLogging', AUDIT),
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
  row('PutBucketNotificationConfiguration', 'PUT bucket ?notification', 'PutBucketNotification', WEBHOOKS),
  row('PutBucketOwnershipControls', 'PUT bucket ?ownershipControls', 'PutBucketOwnershipControls', POLICIES),
  row('DeleteBucketOwnershipControls', 'DELETE bucket ?ownershipControls', 'PutBucketOwnershipControls', POLICIES),
  row('PutPublicAccessBlock', 'PUT bucket ?publicAccessBlock', 'PutBucketPublicAccessBlock', POLICIES),
  row('DeletePublicAccessBlock', 'DELETE bucket ?publicAccessBlock', 'PutBucketPublicAccessBlock', POLICIES),
  row('PutBucketReplication', 'PUT bucket ?replication', 'PutReplicationConfiguration', BACKUP),
  row('DeleteBucketReplication', 'DELETE bucket ?replication', 'PutReplicationConfiguration', BACKUP),
  row('PutBucketRequestPayment', 'PUT bucket ?requestPayment'),
  row('PutBucketWebsite', 'PUT bucket ?website', 'PutBucketWebsite', LINKS),
  row('DeleteBucketWebsite', 'DELETE bucket ?website', 'DeleteBucketWebsite', LINKS),
  row('GetObjectAnnotation', 'GET object ?annotation', 'GetObjectAnnotation', {
    mark: { query: 'annotationName' },
    ...VERSION,
  }),
  row('ListObjectAnnotations', 'GET object ?annotation', 'ListObjectAnnotations', VERSION),
  row('PutObjectAnnotation', 'PUT object ?annotation', 'PutObjectAnnotation', VERSION),
  row('DeleteObjectAnnotation', 'DELETE object ?annotation', 'DeleteObjectAnnotation', VERSION),
  row('GetObjectTorrent', 'GET object ?torrent'),
  row('RestoreObject', 'POST object ?restore', 'RestoreObject', VERSION),
  row('SelectObjectContent', 'POST object ?select', 'GetObject', { changes: false }),
  row('UpdateObjectEncryption', 'PUT object ?encryption', 'UpdateObjectEncryption', VERSION),
]
