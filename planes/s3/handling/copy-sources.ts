/** The sources of CopyObject and UploadPartCopy. */

import type { VersionSelector } from '../../../engine/commands/version-name.ts'
import type { HeaderLine } from '../../http/exchange.ts'
import { findObject, type FoundObject } from '../../objects/find-object.ts'
import { versionIdOf } from '../../objects/version-ids.ts'
import { S3Error } from '../errors/s3-errors.ts'
import { bucketIn, noSuchKey, noSuchVersion, parseVersionId } from './lookup.ts'
import { checkSourceConditions } from '../request/conditions.ts'
import { type CopySource, parseCopySource } from '../request/copy-source.ts'
import { effectiveHeader } from '../request/effective-headers.ts'
import type { ObjectRequest } from './s3-request.ts'
import type { S3Services } from './services.ts'

interface NamedSource extends CopySource {
  readonly version: VersionSelector | undefined
}

/**
 * The source that a request names. It is also noted for the request's records.
 * @throws S3Error InvalidArgument, KeyTooLongError
 */
export function namedSource({ http, target, journal }: ObjectRequest, services: S3Services): NamedSource {
  const named = parseCopySource(effectiveHeader(http, target, 'x-amz-copy-source') ?? '')
  journal.note('source', `${named.bucket}/${named.key}`)
  return { ...named, version: named.versionId === undefined ? undefined : parseVersionId(named.versionId, services) }
}

/**
 * The version to copy, if the conditions of the request on it hold.
 * @throws S3Error NoSuchBucket, NoSuchKey, NoSuchVersion, InvalidRequest (a delete marker by its id), PreconditionFailed
 */
export function requireSource(
  { http, target }: ObjectRequest,
  services: S3Services,
  { bucket, key, version }: NamedSource,
): FoundObject {
  const snapshot = services.catalog.snapshot()
  const found = findObject(snapshot, bucketIn(snapshot, bucket), key, version)
  if (found.kind === 'no-object') throw noSuchKey(key)
  if (found.kind === 'no-version') throw noSuchVersion(key)
  if (found.kind === 'marker') {
    const message = 'The source of a copy request may not specifically refer to a delete marker by version id.'
    throw new S3Error('InvalidRequest', { message })
  }
  const validators = { etag: found.object.etag, lastModifiedMicroseconds: found.object.modifiedMicroseconds }
  checkSourceConditions(http, target, 'x-amz-copy-source-', validators, services.clock())
  return found
}

/** The version that was copied, for the answer; none in a bucket that never had versioning. */
export function sourceHeader({ bucket, object }: FoundObject, services: S3Services): HeaderLine[] {
  if (bucket.versioning === 'off') return []
  return [['x-amz-copy-source-version-id', versionIdOf(object, services.versionIds)]]
}
