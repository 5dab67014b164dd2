import { documentOf } from '../bodies/read-document.ts'
import type { Deletion } from '../../../engine/commands/commands.ts'
import type { DeletionOutcome } from '../../../engine/commands/done.ts'
import { KEY_BYTES_MAXIMUM } from '../../../engine/domain/names.ts'
import { DomainError } from '../../../engine/errors.ts'
import { auditResultOf } from '../../../engine/events/audit.ts'
import { boundedText } from '../../../engine/events/bounded-text.ts'
import { recordedCode } from '../../exchange/recorded-code.ts'
import type { HttpRequest } from '../../http/exchange.ts'
import { idOfSelector } from '../../objects/version-ids.ts'
import { type DeletionResult, deleteResult, type NamedDeletion } from '../documents/delete-documents.ts'
import { toS3Error } from '../documents/error-response.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { S3Error } from '../errors/s3-errors.ts'
import { areAllowed, BYPASS, GET_OBJECT, type Permission } from '../policies/permissions.ts'
import { isVersionId, noSuchVersion, parseVersionId, requireBucket } from '../handling/lookup.ts'
import { defineOperation } from '../handling/operation.ts'
import { contentMd5, declaredChecksum } from '../request/checksums.ts'
import { deletionCondition, writeCondition } from '../request/conditions.ts'
import { BYPASS_HEADER, bypassRequested } from '../request/lock-headers.ts'
import { checkKeyLength } from '../request/target.ts'
import type { BucketRequest } from '../handling/s3-request.ts'
import type { S3Services } from '../handling/services.ts'
import { hintSentence } from '../errors/client-hints.ts'
import { deleteObject } from './delete-object.ts'

/** Of a version id in a record, which is recorded as sent. */
const VERSION_ID_BYTES_MAXIMUM = 64
const REASON_BYTES_MAXIMUM = 512

/**
 * S3 API reference, DeleteObjects. Every key has the permission, guard, records and event of a separate DeleteObject
 * (decision 0137).
 */
export const deleteObjects = defineOperation({
  name: 'DeleteObjects',
  method: 'POST',
  level: 'bucket',
  subresource: 'delete',
  action: deleteObject.action,
  versionAction: deleteObject.versionAction,
  judgesKeys: true,
  bodyBytesMaximum: 2 * 1024 ** 2,
  headers: [BYPASS_HEADER],
  extension: 'delete-objects',
  instead: hintSentence('batch deletion'),
  async handle(request, services) {
    requireDigest(request.http)
    if (writeCondition(request.http).kind !== 'none') throw conditionOnAll()
    const { objects, quiet } = await documentOf(request, 'deletions', [])
    const judged = objects.map((object) => judge(object, request, services))
    // A sender that may delete none of its keys does not learn whether the bucket exists.
    if (judged.some(({ error }) => error === undefined)) requireBucket(request, services)
    const results = await carryOut(request, judged, services)
    return xmlResponse(deleteResult(results, quiet))
  },
})

/** A key with its requested deletion, and the error if it is refused. */
interface Judged {
  readonly named: NamedDeletion
  readonly deletion: Deletion
  readonly error: S3Error | undefined
}

/** S3 requires a digest of the list, regardless of the signature. */
function requireDigest(http: HttpRequest): void {
  if (contentMd5(http) !== undefined || declaredChecksum(http) !== undefined) return
  const message = 'Missing required header for this request: Content-MD5 OR x-amz-checksum-*'
  throw new S3Error('InvalidRequest', { message })
}

/** The refusal of a condition in a header: S3 has none for all keys, and ignoring it would delete too much. */
function conditionOnAll(): S3Error {
  const message = 'Conditions of DeleteObjects are those of its keys: their ETag elements.'
  return new S3Error('NotImplemented', { message, details: [['Header', 'If-Match']] })
}

/** Checks one key as DeleteObject would before the engine is asked. */
function judge(named: NamedDeletion, request: BucketRequest, services: S3Services): Judged {
  const { key, versionId, etag } = named
  const metadata = versionId === undefined ? [] : ['version_id', boundedText(versionId, VERSION_ID_BYTES_MAXIMUM)]
  const deletion: Deletion = { key, condition: { kind: 'none' }, metadata }
  let isAuthorized = false
  try {
    checkKeyLength(key)
    refuseForeignCondition(named)
    if (!mayDelete(named, request, services)) throw new S3Error('AccessDenied')
    isAuthorized = true
    if (versionId !== undefined && !isVersionId(versionId)) throw noSuchVersion(key)
    const version = versionId === undefined ? {} : { version: parseVersionId(versionId, services) }
    return { named, deletion: { ...deletion, ...version, condition: deletionCondition(etag) }, error: undefined }
  } catch (error) {
    if (!(error instanceof S3Error)) throw error
    return { named, deletion: refused(deletion, error, isAuthorized), error }
  }
}

function refused(deletion: Deletion, error: S3Error, isAuthorized: boolean): Deletion {
  const { status, code, message, refused: condition } = error
  const result = auditResultOf(status) === 'denied' ? 'denied' : 'failure'
  const why =
    condition === undefined ? [] : ['refused', condition, 'reason', boundedText(message, REASON_BYTES_MAXIMUM)]
  return {
    ...deletion,
    key: boundedText(deletion.key, KEY_BYTES_MAXIMUM),
    metadata: [...deletion.metadata, ...why],
    refusal: { result, details: ['status', status, 'error', recordedCode(code)], isAuthorized },
  }
}

function refuseForeignCondition({ foreign }: NamedDeletion): void {
  if (foreign === undefined) return
  const message = `The condition ${foreign} of a deletion is one of directory buckets, and not supported; ETag is.`
  throw new S3Error('NotImplemented', { message, refused: foreign })
}

/** Whether the sender has the permissions that `authorize` requires to delete the key alone. */
function mayDelete(
  { key, versionId, etag }: NamedDeletion,
  { identity, http, target, bucket }: BucketRequest,
  { bucketPolicies }: S3Services,
): boolean {
  const resource = `bucket:${bucket}/${key}`
  const action = versionId === undefined ? deleteObject.action : (deleteObject.versionAction as string)
  const permissions: Permission[] = [{ action, resource }]
  if (bypassRequested(http, target)) permissions.push({ action: BYPASS, resource })
  if ((etag ?? '*') !== '*') permissions.push({ action: GET_OBJECT, resource })
  return areAllowed(identity, permissions, bucketPolicies)
}

/**
 * Deletes the keys and returns the result of each. When the engine fails halfway, only the remaining keys get the
 * error: keys that were acknowledged stay reported as deleted. Keys that are refused anyway get it as well: their refusals have no
 * record, and no refusal is answered without one.
 */
async function carryOut(
  request: BucketRequest,
  judged: readonly Judged[],
  services: S3Services,
): Promise<DeletionResult[]> {
  const { http, target, bucket, journal, faults } = request
  const { method, name } = deleteObject
  const named = { operation: `s3:${method}`, metadata: ['api', name] }
  const command = { kind: 'delete-objects', bucket, bypassGovernance: bypassRequested(http, target) } as const
  const results: DeletionResult[] = []
  while (results.length < judged.length) {
    const rest = judged.slice(results.length)
    try {
      const done = await journal.executeAs(named, { ...command, deletions: rest.map(({ deletion }) => deletion) })
      for (const [index, outcome] of (done.deletions ?? []).entries()) {
        results.push(resultOf(rest[index] as Judged, outcome, request, services))
      }
    } catch (failure) {
      if (results.length === 0) throw failure
      const { error, isFault } = toS3Error(failure)
      if (isFault) faults.fault(failure)
      results.push(...rest.map((one) => ({ ...nameOf(one), error })))
    }
  }
  return results
}

function resultOf(
  judged: Judged,
  outcome: DeletionOutcome,
  { faults }: BucketRequest,
  { versionIds }: S3Services,
): DeletionResult {
  const name = nameOf(judged)
  if (judged.error !== undefined) return { ...name, error: judged.error }
  if (outcome.kind === 'deleted') {
    const { marker, version } = outcome
    const id = marker && version !== undefined ? idOfSelector(version, versionIds) : undefined
    return { ...name, markerId: id }
  }
  if (outcome.kind === 'refused') throw new Error('a key was refused that may be deleted')
  const failure =
    outcome.code === 'command-failed'
      ? new Error(`the engine failed at a deletion: ${outcome.subject}`)
      : new DomainError(outcome.code, outcome.subject)
  const { error, isFault } = toS3Error(failure)
  if (isFault) faults.fault(failure)
  return { ...name, error }
}

function nameOf({ named: { key, versionId } }: Judged): Pick<NamedDeletion, 'key' | 'versionId'> {
  return { key, versionId }
}
