/** What is tried, by kind. A run in which one of the required kinds was never answered has proved nothing of it. */
import { OPERATIONS } from '../../../planes/s3/operation-list.ts'
import type { RawRequest } from '../../support/wire-client.ts'

/** Bodies above this get a file of their own (storage.inline_limit_bytes). */
export const INLINE_BYTES_MAXIMUM = 65_536

const SUBRESOURCES: ReadonlySet<string> = new Set(OPERATIONS.flatMap(({ subresource }) => subresource ?? []))

/** The name of an S3 operation, with a mark where one operation is several in truth: `GetObject range`. */
export function s3KindOf(method: string, target: string, { headers = [], body = '' }: RawRequest): string {
  const [path = '', query = ''] = target.split('?')
  const names = new Set(query.split('&').map((parameter) => parameter.split('=')[0] ?? ''))
  const level = path === '/' ? 'service' : path.indexOf('/', 1) === -1 ? 'bucket' : 'object'
  const subresource = [...names].find((name) => SUBRESOURCES.has(name))
  const headerNames = new Set(headers.map(([name]) => name))
  const rows = OPERATIONS.filter((operation) => {
    if (operation.method !== method || operation.level !== level || operation.subresource !== subresource) return false
    const { mark } = operation
    if (mark === undefined) return true
    return mark.query === undefined ? headerNames.has(mark.header) : query.includes(`${mark.query}=${mark.value ?? ''}`)
  })
  // The plain operation is meant where the request has no mark of another.
  const row = rows.find(({ mark }) => mark !== undefined) ?? rows[0]
  const marks = [
    names.has('versionId') && subresource === undefined && 'version',
    headerNames.has('range') && 'range',
    row?.name === 'PutObject' && body.length > INLINE_BYTES_MAXIMUM && 'large',
  ].filter((mark) => mark !== false)
  return [row?.name ?? `${method} ${level}`, ...marks].join(' ')
}

const REQUIRED_S3 =
  'PutObject, PutObject large, GetObject, GetObject range, GetObject version, HeadObject, DeleteObject, ' +
  'DeleteObject version, DeleteObjects, CopyObject, ListBuckets, HeadBucket, CreateBucket, DeleteBucket, ' +
  'ListObjectsV2, ListObjectVersions, ListMultipartUploads, ListParts, CreateMultipartUpload, UploadPart, ' +
  'CompleteMultipartUpload, AbortMultipartUpload, PutObjectLegalHold'

/** Not `GET /storage/inspect`: only the check after the last life asks for it, and no life can be waited for it. */
const REQUIRED_MANAGEMENT =
  'GET /metrics, GET /ready, PUT /buckets/{bucket}/object/{key}, GET /buckets/{bucket}/object/{key}, ' +
  'GET /buckets/{bucket}/object-content/{key}, DELETE /buckets/{bucket}/object/{key}, ' +
  'POST /buckets/{bucket}/object-copy/{key}, GET /buckets/{bucket}/objects, ' +
  'GET /buckets/{bucket}/object-versions, GET /audit/events, GET /audit/chain, GET /storage/status, ' +
  'GET /storage/usage, POST /verify/objects/{bucket}/{key}, ' +
  'PUT /policies/{policy_id}/bindings/{account_id}, DELETE /policies/{policy_id}/bindings/{account_id}, ' +
  'PUT /service-accounts/{id}/status, POST /service-accounts, DELETE /service-accounts/{id}, ' +
  'POST /management-tokens, DELETE /management-tokens/{id}'

/** What is done beside plain requests. */
export const EVENTS = {
  abandonedBody: 'a body broken off in the middle',
  abandonedUpload: 'an upload left to itself',
  vanishedBucket: 'an upload in a deleted bucket',
  slowDown: 'a burst answered SlowDown',
  released: 'a request of a burst that was let in',
  quiet: 'a quiet point at which everything was let go',
  graceful: 'an orderly end under load',
  finished: 'a request that was finished after the server was asked to end',
  kill: 'kill -9 under load',
  encrypted: 'a life that encrypts',
} as const

export const REQUIRED_KINDS: readonly string[] = [
  ...REQUIRED_S3.split(', '),
  ...REQUIRED_MANAGEMENT.split(', '),
  ...Object.values(EVENTS),
]
