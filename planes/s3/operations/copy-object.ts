import type { VersionSelector } from '../../../engine/commands.ts'
import type { HeaderLine, HttpResponse } from '../../http/exchange.ts'
import { checkCopySourceConditions, writeCondition } from '../conditions.ts'
import { type CopySource, parseCopySource } from '../copy-source.ts'
import { effectiveHeader } from '../effective-headers.ts'
import { invalidArgument, S3Error } from '../errors.ts'
import { execute } from '../execute.ts'
import { requestedLock } from '../lock-headers.ts'
import {
  type FoundObject,
  noSuchVersion,
  parseVersionId,
  requireBucket,
  requireBucketNamed,
  requireLockable,
  versionIdOf,
  writtenVersionHeader,
} from '../lookup.ts'
import { contentHeaders, userMetadata } from '../metadata.ts'
import { PUT_BYTES_MAXIMUM } from '../operation-table.ts'
import { objectKey, type S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'
import { copyObjectResult } from '../xml-documents.ts'
import { xmlResponse } from '../xml-response.ts'

/** How often a copy looks again when its source was replaced between the look and the copy. */
const LOOKS_MAXIMUM = 5

/** S3 API reference, CopyObject. Bytes are shared by reference, so a copy of 5 GiB takes as long as one of 5 bytes. */
export async function copyObject(request: S3Request, services: S3Services): Promise<HttpResponse> {
  const { http, target } = request
  const bucket = requireBucket(request, services)
  const source = parseCopySource(effectiveHeader(http, target, 'x-amz-copy-source') ?? '')
  const version = source.versionId === undefined ? undefined : parseVersionId(source.versionId, services)
  const replacement = metadataReplacement(request)
  const condition = writeCondition(http)
  const lock = requireLockable(bucket, requestedLock(http, target, services.clock()))
  for (let look = 1; ; look += 1) {
    const found = requireSource(source, version, services)
    const { object } = found
    const validators = { etag: object.etag, lastModifiedMicroseconds: object.modifiedMicroseconds }
    checkCopySourceConditions(http, target, validators, services.clock())
    try {
      const copy = {
        kind: 'copy-object' as const,
        sourceBucket: source.bucket,
        sourceKey: source.key,
        sourceSequence: object.sequence,
        sourceIsVersion: version !== undefined,
        bucket: bucket.name,
        key: objectKey(request),
        replacement,
        condition,
        ...(lock === undefined ? {} : { lock }),
      }
      const done = await execute(request, services, copy, ['source', `${source.bucket}/${source.key}`])
      const headers = [...writtenVersionHeader(done.version, services), ...sourceHeader(found, services)]
      return xmlResponse(200, copyObjectResult(done.timeMicroseconds, object.etag), headers)
    } catch (error) {
      if (!(error instanceof S3Error) || error.code !== 'OperationAborted' || look === LOOKS_MAXIMUM) throw error
      request.journaled = { kind: 'nothing' }
    }
  }
}

function sourceHeader({ bucket, object }: FoundObject, services: S3Services): HeaderLine[] {
  if (bucket.versioning === 'off') return []
  return [['x-amz-copy-source-version-id', versionIdOf(object, services)]]
}

/**
 * @throws S3Error NoSuchBucket, NoSuchKey, NoSuchVersion, InvalidRequest (a delete marker by its id, over 5 GiB)
 */
function requireSource(source: CopySource, version: VersionSelector | undefined, services: S3Services): FoundObject {
  const bucket = requireBucketNamed(source.bucket, services)
  const { catalog } = services
  const object =
    version === undefined ? catalog.object(bucket.id, source.key) : catalog.version(bucket.id, source.key, version)
  if (object === undefined) {
    throw version === undefined
      ? new S3Error('NoSuchKey', { details: [['Key', source.key]] })
      : noSuchVersion(source.key)
  }
  if (object.isMarker) {
    const message = 'The source of a copy request may not specifically refer to a delete marker by version id.'
    throw new S3Error('InvalidRequest', { message })
  }
  if (object.size > PUT_BYTES_MAXIMUM) {
    throw new S3Error('InvalidRequest', { message: 'The source of a copy may have at most 5 GiB.' })
  }
  return { bucket, object }
}

/** COPY keeps what the source says of itself, REPLACE takes what the request says (S3, x-amz-metadata-directive). */
function metadataReplacement(request: S3Request): { headers: string[]; metadata: string[] } | undefined {
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
