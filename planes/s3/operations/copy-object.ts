import type { ObjectState } from '../../../engine/state-ports.ts'
import type { HttpResponse } from '../../http/exchange.ts'
import { checkCopySourceConditions, writeCondition } from '../conditions.ts'
import { type CopySource, parseCopySource } from '../copy-source.ts'
import { effectiveHeader } from '../effective-headers.ts'
import { invalidArgument, S3Error } from '../errors.ts'
import { execute } from '../execute.ts'
import { requireBucket, requireBucketNamed, requireNullVersion } from '../lookup.ts'
import { contentHeaders, userMetadata } from '../metadata.ts'
import { PUT_BYTES_MAXIMUM } from '../operation-table.ts'
import { bucketName, objectKey, type S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'
import { copyObjectResult } from '../xml-documents.ts'
import { xmlResponse } from '../xml-response.ts'

/** How often a copy looks again when its source was replaced between the look and the copy. */
const LOOKS_MAXIMUM = 5

/** S3 API reference, CopyObject. Bytes are shared by reference, so a copy of 5 GiB takes as long as one of 5 bytes. */
export async function copyObject(request: S3Request, services: S3Services): Promise<HttpResponse> {
  const { http, target } = request
  requireBucket(request, services)
  const source = parseCopySource(effectiveHeader(http, target, 'x-amz-copy-source') ?? '')
  const replacement = metadataReplacement(request)
  const condition = writeCondition(http)
  for (let look = 1; ; look += 1) {
    const object = requireSource(source, services)
    checkCopySourceConditions(
      http,
      target,
      { etag: object.etag, lastModifiedMicroseconds: object.modifiedMicroseconds },
      services.clock(),
    )
    try {
      const copy = {
        kind: 'copy-object' as const,
        sourceBucket: source.bucket,
        sourceKey: source.key,
        sourceSequence: object.sequence,
        bucket: bucketName(request),
        key: objectKey(request),
        replacement,
        condition,
      }
      const done = await execute(request, services, copy, ['source', `${source.bucket}/${source.key}`])
      return xmlResponse(200, copyObjectResult(done.timeMicroseconds, done.etag ?? object.etag))
    } catch (error) {
      if (!(error instanceof S3Error) || error.code !== 'OperationAborted' || look === LOOKS_MAXIMUM) throw error
      request.journaled = { kind: 'nothing' }
    }
  }
}

/** @throws S3Error NoSuchBucket, NoSuchKey, NoSuchVersion, InvalidRequest (over 5 GiB) */
function requireSource(source: CopySource, services: S3Services): ObjectState {
  const bucket = requireBucketNamed(source.bucket, services)
  requireNullVersion(source.versionId, source.key)
  const object = services.catalog.object(bucket.id, source.key)
  if (object === undefined) throw new S3Error('NoSuchKey', { details: [['Key', source.key]] })
  if (object.size > PUT_BYTES_MAXIMUM) {
    throw new S3Error('InvalidRequest', { message: 'The source of a copy may have at most 5 GiB.' })
  }
  return object
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
