import type { VersionSelector } from '../../../engine/commands/commands.ts'
import type { HeaderLine } from '../../http/exchange.ts'
import { copyVersion } from '../../objects/copy-object.ts'
import { findObject, type FoundObject } from '../../objects/find-object.ts'
import { versionIdOf } from '../../objects/version-ids.ts'
import { checkCopySourceConditions, writeCondition } from '../request/conditions.ts'
import { type CopySource, parseCopySource } from '../request/copy-source.ts'
import { effectiveHeader } from '../request/effective-headers.ts'
import { invalidArgument, S3Error } from '../errors.ts'
import { LOCK_HEADERS, requestedLock } from '../request/lock-headers.ts'
import { bucketIn, noSuchKey, noSuchVersion, parseVersionId, requireBucket, requireLockable } from '../lookup.ts'
import { writtenVersionHeader } from '../version-headers.ts'
import { contentHeaders, userMetadata } from '../request/metadata.ts'
import type { S3Services } from '../services.ts'
import { copyObjectResult } from '../documents/xml-documents.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import type { ObjectRequest } from '../s3-request.ts'
import { defineOperation, PUT_BYTES_MAXIMUM } from '../operation.ts'

/** S3 API reference, CopyObject. Bytes are shared by reference, so a copy of 5 GiB takes as long as one of 5 bytes. */
export const copyObject = defineOperation({
  name: 'CopyObject',
  method: 'PUT',
  level: 'object',
  action: 's3:PutObject',
  mark: { header: 'x-amz-copy-source' },
  bodyBytesMaximum: 0,
  headers: LOCK_HEADERS,
  async handle(request, services) {
    const { http, target } = request
    const bucket = requireBucket(request, services)
    const named = parseCopySource(effectiveHeader(http, target, 'x-amz-copy-source') ?? '')
    request.journal.note('source', `${named.bucket}/${named.key}`)
    const version = named.versionId === undefined ? undefined : parseVersionId(named.versionId, services)
    const replacement = metadataReplacement(request)
    const condition = writeCondition(http)
    const lock = requireLockable(bucket, requestedLock(http, target, services.clock()))
    const place = { bucket: bucket.name, key: request.key, replacement, condition }
    const { done, source } = await copyVersion(
      request.journal,
      lock === undefined ? place : { ...place, lock },
      () => requireSource(request, services, named, version),
      ({ object }) => ['source_version_id', versionIdOf(object, services.versionIds)],
    )
    const headers = [...writtenVersionHeader(done.version, services), ...sourceHeader(source, services)]
    return xmlResponse(copyObjectResult(done.timeMicroseconds, source.object.etag), headers)
  },
})

function sourceHeader({ bucket, object }: FoundObject, services: S3Services): HeaderLine[] {
  if (bucket.versioning === 'off') return []
  return [['x-amz-copy-source-version-id', versionIdOf(object, services.versionIds)]]
}

/**
 * The version to copy, if the conditions of the request on it hold.
 * @throws S3Error NoSuchBucket, NoSuchKey, NoSuchVersion, InvalidRequest (a delete marker by its id, over 5 GiB),
 *   PreconditionFailed
 */
function requireSource(
  { http, target }: ObjectRequest,
  services: S3Services,
  source: CopySource,
  version: VersionSelector | undefined,
): FoundObject {
  const snapshot = services.catalog.snapshot()
  const found = findObject(snapshot, bucketIn(snapshot, source.bucket), source.key, version)
  if (found.kind === 'no-object') throw noSuchKey(source.key)
  if (found.kind === 'no-version') throw noSuchVersion(source.key)
  if (found.kind === 'marker') {
    const message = 'The source of a copy request may not specifically refer to a delete marker by version id.'
    throw new S3Error('InvalidRequest', { message })
  }
  if (found.object.size > PUT_BYTES_MAXIMUM) {
    throw new S3Error('InvalidRequest', { message: 'The source of a copy may have at most 5 GiB.' })
  }
  const validators = { etag: found.object.etag, lastModifiedMicroseconds: found.object.modifiedMicroseconds }
  checkCopySourceConditions(http, target, validators, services.clock())
  return found
}

/** COPY keeps what the source says of itself, REPLACE takes what the request says (S3, x-amz-metadata-directive). */
function metadataReplacement(request: ObjectRequest): { headers: string[]; metadata: string[] } | undefined {
  const name = 'x-amz-metadata-directive'
  const directive = effectiveHeader(request.http, request.target, name) ?? 'COPY'
  switch (directive) {
    case 'COPY':
      return undefined
    case 'REPLACE':
      return {
        headers: contentHeaders(request.http).flat(),
        metadata: userMetadata(request.http, request.target).flat(),
      }
    default:
      throw invalidArgument(name, directive, 'The metadata directive is COPY or REPLACE.')
  }
}
