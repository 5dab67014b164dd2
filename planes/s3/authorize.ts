import type { HttpRequest } from '../http/exchange.ts'
import { parseCopySource } from './request/copy-source.ts'
import { renameSource } from './request/rename-source.ts'
import { effectiveHeader } from './request/effective-headers.ts'
import { S3Error } from './errors/s3-errors.ts'
import { bypassRequested } from './request/lock-headers.ts'
import type { Operation } from './handling/operation.ts'
import { OPERATIONS } from './operation-list.ts'
import { resourceOf } from './handling/s3-request.ts'
import { PUT_TAGS, TAGGING } from './request/tags.ts'
import { WRITE_OFFSET } from './request/write-offset.ts'
import type { Target } from './request/target.ts'
import {
  areAllowed,
  BYPASS,
  type Caller,
  GET_OBJECT,
  type Permission,
  type PoliciesOfBuckets,
} from './policies/permissions.ts'

const DELETE_OBJECT = 's3:DeleteObject'
/** Subresource of RenameObject. */
const RENAME = 'renameObject'
const PUT_RETENTION = 's3:PutObjectRetention'
const PUT_LEGAL_HOLD = 's3:PutObjectLegalHold'

/**
 * Conditions of a write. A condition with an ETag reveals what is stored, so it needs a read permission; `*` does not.
 */
const ETAG_CONDITIONS = ['if-match', 'if-none-match'] as const

/** Headers that need a further permission besides the operation's (specification, Object Lock, rule 5). */
const HEADER_ACTIONS: readonly (readonly [header: string, action: string])[] = [
  ['x-amz-object-lock-mode', PUT_RETENTION],
  ['x-amz-object-lock-retain-until-date', PUT_RETENTION],
  ['x-amz-object-lock-legal-hold', PUT_LEGAL_HOLD],
  // An offset reveals the size of the object, as a condition reveals its ETag.
  [WRITE_OFFSET, GET_OBJECT],
  [TAGGING, PUT_TAGS],
]

/** Listings of keys, which a policy for keys with a common beginning allows of this beginning. */
const LISTINGS: ReadonlySet<string> = new Set([
  's3:ListBucket',
  's3:ListBucketVersions',
  's3:ListBucketMultipartUploads',
])

const PREFLIGHT = 's3:Preflight'

/** Every action that a policy can name. */
export const S3_ACTIONS: ReadonlySet<string> = new Set([
  ...OPERATIONS.filter(({ handle, action }) => handle !== undefined && action !== PREFLIGHT).flatMap(
    ({ action, versionAction }) => (versionAction === undefined ? [action] : [action, versionAction]),
  ),
  ...HEADER_ACTIONS.map(([, action]) => action),
  BYPASS,
])

/**
 * Checks a request against the policies of its sender and of the buckets that it names, before any handler runs and before the answer
 * reveals which names exist (S9, S13).
 * @throws S3Error AccessDenied; InvalidArgument and more for the source of a copy or a rename that cannot be read
 */
export function authorize(
  caller: Caller,
  operation: Operation,
  http: HttpRequest,
  target: Target,
  buckets: PoliciesOfBuckets,
): void {
  if (caller.policies === undefined || operation.judgesKeys || operation.judgesBuckets) return
  if (!areAllowed(caller, permissionsOf(operation, http, target), buckets)) throw new S3Error('AccessDenied')
}

function permissionsOf(operation: Operation, http: HttpRequest, target: Target): Permission[] {
  const resource = resourceOf(target)
  const namesVersion = operation.versionAction !== undefined && target.query.has('versionId')
  const action = namesVersion ? (operation.versionAction as string) : operation.action
  const prefix = LISTINGS.has(action) ? target.query.first('prefix') : undefined
  const keysFrom = prefix ? `${resource}/${prefix}` : undefined
  const permissions: Permission[] = [{ action, resource, coveredBy: operation.coveredBy, keysFrom }]
  for (const further of operation.besides) permissions.push({ action: further, resource })
  if (!operation.changes) return permissions
  for (const [header, needed] of HEADER_ACTIONS) {
    if (effectiveHeader(http, target, header) !== undefined) permissions.push({ action: needed, resource })
  }
  if (bypassRequested(http, target)) permissions.push({ action: BYPASS, resource })
  const namesEtag = ETAG_CONDITIONS.some((name) => (http.header(name) ?? '*') !== '*')
  if (namesEtag) permissions.push({ action: GET_OBJECT, resource })
  return [...permissions, ...sourcePermissions(operation, http, target)]
}

/** Permissions that a copy or a rename needs on its source. */
function sourcePermissions({ subresource }: Operation, http: HttpRequest, target: Target): Permission[] {
  if (subresource === RENAME) {
    const { bucket = '' } = target
    const resource = `bucket:${bucket}/${renameSource(http, target, bucket)}`
    return [GET_OBJECT, DELETE_OBJECT].map((action) => ({ action, resource }))
  }
  const copySource = effectiveHeader(http, target, 'x-amz-copy-source')
  if (copySource === undefined) return []
  const { bucket, key } = parseCopySource(copySource)
  return [{ action: GET_OBJECT, resource: `bucket:${bucket}/${key}` }]
}
