import { copyVersion } from '../../objects/copy-object.ts'
import type { FoundObject } from '../../objects/find-object.ts'
import { versionIdOf } from '../../objects/version-ids.ts'
import { CHECKSUM_ALGORITHM, namedAlgorithm } from '../request/checksums.ts'
import { writeCondition } from '../request/conditions.ts'
import { namedSource, requireSource, sourceHeader } from '../handling/copy-sources.ts'
import { effectiveHeader } from '../request/effective-headers.ts'
import { invalidArgument, S3Error } from '../errors/s3-errors.ts'
import { LOCK_HEADERS, requestedLock } from '../request/lock-headers.ts'
import { requireBucket, requireLockable } from '../handling/lookup.ts'
import { requireCopiedTags } from '../handling/carried-tags.ts'
import { writtenVersionHeader } from '../handling/version-headers.ts'
import { contentHeaders, userMetadata } from '../request/metadata.ts'
import { copyResult } from '../documents/xml-documents.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import type { S3Services } from '../handling/services.ts'
import type { ObjectRequest } from '../handling/s3-request.ts'
import { TAGGING, TAGGING_DIRECTIVE, tagReplacement } from '../request/tags.ts'
import { defineOperation, PUT_BYTES_MAXIMUM } from '../handling/operation.ts'

/** S3 API reference, CopyObject. Bytes are shared by reference, so a copy of 5 GiB takes as long as one of 5 bytes. */
export const copyObject = defineOperation({
  name: 'CopyObject',
  method: 'PUT',
  level: 'object',
  action: 's3:PutObject',
  mark: { header: 'x-amz-copy-source' },
  bodyBytesMaximum: 0,
  headers: [...LOCK_HEADERS, TAGGING, TAGGING_DIRECTIVE],
  async handle(request, services) {
    const { http, target } = request
    const bucket = requireBucket(request, services)
    const named = namedSource(request, services)
    const replacement = metadataReplacement(request)
    const condition = writeCondition(http)
    const lock = requireLockable(bucket, requestedLock(http, target, services.clock()))
    const tags = tagReplacement(http, target)
    const place = { bucket: bucket.name, key: request.key, replacement, condition }
    const { done, source } = await copyVersion(
      request.journal,
      { ...place, ...(lock !== undefined && { lock }), ...(tags !== undefined && { tags }) },
      () => {
        const found = requireChecksum(request, services, requireWhole(requireSource(request, services, named)))
        if (tags === undefined && found.object.tags !== undefined) requireCopiedTags(request, services, found)
        return found
      },
      ({ object }) => ['source_version_id', versionIdOf(object, services.versionIds)],
    )
    const headers = [...writtenVersionHeader(done.version, services), ...sourceHeader(source, services)]
    const { etag, checksum } = source.object
    const shown = services.extensions.has('checksums') ? checksum : undefined
    return xmlResponse(copyResult('CopyObjectResult', done.timeMicroseconds, etag, shown), headers)
  },
})

/** @throws S3Error InvalidRequest (over 5 GiB) */
function requireWhole(found: FoundObject): FoundObject {
  if (found.object.size <= PUT_BYTES_MAXIMUM) return found
  throw new S3Error('InvalidRequest', { message: 'The source of a copy may have at most 5 GiB.' })
}

/**
 * A copy shares the bytes of its source and has the same checksum; no other is computed.
 * @throws S3Error NotImplemented when the request asks for a checksum that the source does not have, InvalidRequest for
 *   an algorithm that S3 does not have
 */
function requireChecksum({ http, target }: ObjectRequest, services: S3Services, found: FoundObject): FoundObject {
  const name = CHECKSUM_ALGORITHM
  const text = effectiveHeader(http, target, name)
  const asked = text === undefined ? undefined : namedAlgorithm(text)
  if (asked === undefined || !services.extensions.has('checksums')) return found
  if (asked === found.object.checksum?.algorithm) return found
  const message = `${name}: a copy has the checksum of its source, and no other is made.`
  throw new S3Error('NotImplemented', { message, details: [['Header', name]] })
}

/** COPY keeps the metadata of the source, REPLACE uses the request's (S3, x-amz-metadata-directive). */
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
