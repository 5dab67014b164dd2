/**
 * For each operation of the table a request that asks for it. Those that are not implemented are made from their row;
 * of those that are, each has a row here that says what the request of somebody who may must come to.
 */
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { QueryParameter } from '../../../planes/s3/request/query-parameters.ts'
import { isServed, type Operation } from '../../../planes/s3/handling/operation.ts'
import { OPERATIONS } from '../../../planes/s3/operation-list.ts'
import { deletionDocument, digestOf } from '../../support/wire-deletions.ts'
import { type Arena, ARENA_EXTENSIONS, BUCKET, PUBLIC_PREFIX } from './arena.ts'

/** A request without its credentials. */
export interface S3Request {
  readonly operation: Operation
  /** Decoded. */
  readonly path: string
  readonly query: readonly QueryParameter[]
  /** To be signed beside the usual ones. */
  readonly headers: readonly HeaderLine[]
  readonly body: string
  /** What it is answered with when it is let in. */
  readonly statuses: readonly number[]
}

/** What of a request does not follow from the row of its operation. */
interface Recipe {
  readonly statuses: readonly number[]
  /** The key, for an operation on objects; by default `key`. */
  readonly key?: string
  readonly query?: readonly QueryParameter[]
  readonly headers?: readonly HeaderLine[]
  readonly body?: string
}

const RETAIN_MILLISECONDS = 3_600_000
const COPY: readonly HeaderLine[] = [['x-amz-copy-source', `${BUCKET}/source`]]
const RANGE: HeaderLine = ['x-amz-copy-source-range', 'bytes=1-3']
const ORIGIN: readonly HeaderLine[] = [
  ['origin', 'https://example.com'],
  ['access-control-request-method', 'PUT'],
]
const ENABLED = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'
const LOCK = '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>'
const DELETION = deletionDocument([{ Key: 'doomed' }, { Key: 'doomed', VersionId: 'null' }])
const CORS =
  '<CORSConfiguration><CORSRule><AllowedOrigin>https://example.org</AllowedOrigin>' +
  '<AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>'

const TAGS: readonly HeaderLine[] = [['x-amz-tagging', 'attack=yes']]
const TAGGING = '<Tagging><TagSet><Tag><Key>attack</Key><Value>yes</Value></Tag></TagSet></Tagging>'

/** It opens a prefix that is empty, so that it changes nothing for others: every stranger is refused as before. */
const POLICY = JSON.stringify({
  Statement: { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${PUBLIC_PREFIX}*` },
})

const LIFECYCLE =
  '<LifecycleConfiguration><Rule><ID>attack</ID><Filter><Prefix>none/</Prefix></Filter><Status>Disabled</Status>' +
  '<Expiration><Days>36500</Days></Expiration></Rule></LifecycleConfiguration>'

function retention(): string {
  const until = new Date(Date.now() + RETAIN_MILLISECONDS).toISOString()
  return `<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>${until}</RetainUntilDate></Retention>`
}

function recipes({ uploads }: Arena): ReadonlyMap<string, Recipe> {
  const ok: Recipe = { statuses: [200] }
  const open: Recipe = { statuses: [200], key: 'open', query: [['uploadId', uploads.open]] }
  // Whichever of them comes first ends the upload.
  const spare: Recipe = { statuses: [200, 204, 404], key: 'spare', query: [['uploadId', uploads.spare]] }
  return new Map<string, Recipe>([
    ['ListBuckets', ok],
    // Whoever may listen is told that the name of the event says nothing; another name would have no end.
    ['ListenNotification', { statuses: [400] }],
    ['ListenBucketNotification', { statuses: [400] }],
    ['CreateBucket', { statuses: [200, 409] }],
    ['HeadBucket', ok],
    ['DeleteBucket', { statuses: [409] }],
    ['GetBucketLocation', ok],
    ['ListObjects', ok],
    ['ListObjectsV2', ok],
    ['ListObjectVersions', ok],
    ['ListMultipartUploads', ok],
    ['PreflightBucket', { statuses: [200, 403], headers: ORIGIN }],
    ['GetBucketVersioning', ok],
    ['PutBucketVersioning', { ...ok, body: ENABLED }],
    ['GetObjectLockConfiguration', ok],
    ['PutObjectLockConfiguration', { ...ok, body: LOCK }],
    ['GetBucketCors', { statuses: [200, 404] }],
    ['PutBucketCors', { ...ok, body: CORS }],
    ['DeleteBucketCors', { statuses: [204] }],
    ['GetObject', ok],
    ['HeadObject', ok],
    ['GetObjectAttributes', { ...ok, headers: [['x-amz-object-attributes', 'ETag,ObjectParts']] }],
    ['CopyObject', { ...ok, headers: COPY, key: 'copy' }],
    // The bucket of the attack has versioning and refuses it; whoever may not do it is not told so.
    ['RenameObject', { statuses: [409], headers: [['x-amz-rename-source', 'source']], key: 'renamed' }],
    ['PutObject', { ...ok, headers: TAGS, body: 'bytes that somebody wants to write', key: 'written' }],
    // It has its signature in a form, not in its head: forms have a part of their own.
    ['PostObject', { statuses: [412] }],
    ['DeleteObjects', { ...ok, body: DELETION, headers: [digestOf(DELETION)] }],
    ['DeleteObject', { statuses: [204], key: 'doomed' }],
    ['PreflightObject', { statuses: [200, 403], headers: ORIGIN }],
    ['CreateMultipartUpload', { ...ok, headers: TAGS, key: 'begun' }],
    ['UploadPart', { ...open, query: [['partNumber', '1'], ...(open.query ?? [])], body: 'bytes of a part' }],
    ['UploadPartCopy', { ...open, query: [['partNumber', '3'], ...(open.query ?? [])], headers: [...COPY, RANGE] }],
    ['GetObjectTagging', ok],
    ['PutObjectTagging', { ...ok, body: TAGGING }],
    ['DeleteObjectTagging', { statuses: [204] }],
    ['GetBucketTagging', { statuses: [200, 404] }],
    ['PutBucketTagging', { statuses: [204], body: TAGGING }],
    ['DeleteBucketTagging', { statuses: [204] }],
    ...[
      'Acl',
      'AccelerateConfiguration',
      'Encryption',
      'Logging',
      'NotificationConfiguration',
      'OwnershipControls',
    ].map((setting): readonly [string, Recipe] => [`GetBucket${setting}`, ok]),
    ['GetBucketRequestPayment', ok],
    ['PutBucketPolicy', { statuses: [204], body: POLICY }],
    ['DeleteBucketPolicy', { statuses: [204] }],
    ['GetBucketPolicy', { statuses: [200, 404] }],
    ['GetBucketPolicyStatus', { statuses: [200, 404] }],
    ...['Replication', 'Website'].map((setting): readonly [string, Recipe] => [
      `GetBucket${setting}`,
      { statuses: [404] },
    ]),
    ['GetPublicAccessBlock', { statuses: [404] }],
    ['PutBucketLifecycleConfiguration', { ...ok, body: LIFECYCLE }],
    ['GetBucketLifecycleConfiguration', { statuses: [200, 404] }],
    ['DeleteBucketLifecycle', { statuses: [204] }],
    ['PutBucketAcl', { ...ok, headers: [['x-amz-acl', 'private']] }],
    ['GetObjectAcl', ok],
    ['PutObjectAcl', { ...ok, headers: [['x-amz-acl', 'private']] }],
    ['ListParts', open],
    ['CompleteMultipartUpload', { ...spare, body: uploads.spareCompletion }],
    ['AbortMultipartUpload', spare],
    ['GetObjectRetention', { statuses: [200, 404], key: 'locked' }],
    ['PutObjectRetention', { ...ok, key: 'locked', body: retention() }],
    ['GetObjectLegalHold', { statuses: [200, 404], key: 'locked' }],
    ['PutObjectLegalHold', { ...ok, key: 'locked', body: '<LegalHold><Status>OFF</Status></LegalHold>' }],
  ])
}

const NOT_IMPLEMENTED: Recipe = { statuses: [501] }

/**
 * A request for every operation of the table.
 * @throws Error when an operation that is implemented has no row here
 */
export function s3Requests(arena: Arena): S3Request[] {
  const rows = recipes(arena)
  return OPERATIONS.map((operation) => {
    const recipe = isServed(operation, ARENA_EXTENSIONS) ? rows.get(operation.name) : NOT_IMPLEMENTED
    if (recipe === undefined) throw new Error(`${operation.name} is implemented and the attack has no row for it`)
    return requestOf(operation, recipe)
  })
}

function requestOf(operation: Operation, { key = 'key', query = [], headers = [], body, statuses }: Recipe): S3Request {
  const { level, subresource, mark, method } = operation
  const path = level === 'service' ? '/' : level === 'bucket' ? `/${BUCKET}` : `/${BUCKET}/${key}`
  const own: QueryParameter[] = []
  const named = new Set(query.map(([name]) => name))
  if (subresource !== undefined && !named.has(subresource)) own.push([subresource, ''])
  if (mark?.query !== undefined) own.push([mark.query, mark.value ?? 'x'])
  const marked = mark !== undefined && mark.query === undefined && headers.length === 0
  const lines = marked ? [[mark.header, `${BUCKET}/source`] as const] : headers
  const bytes = body ?? (method === 'POST' && !isServed(operation, ARENA_EXTENSIONS) ? '<Something/>' : '')
  return { operation, path, query: [...own, ...query], headers: lines, body: bytes, statuses }
}
