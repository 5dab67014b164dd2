import type { VersionSelector } from '../../../engine/commands/version-name.ts'
import type { LockState } from '../../../engine/events/values.ts'
import type { BucketState, ObjectState } from '../../../engine/state-ports.ts'
import type { CatalogSnapshot } from '../../../projections/catalog/catalog-snapshot.ts'
import type { HeaderLine } from '../../http/exchange.ts'
import { findObject, type FoundObject } from '../../objects/find-object.ts'
import { selectorOf, versionIdOf } from '../../objects/version-ids.ts'
import { DomainError } from '../../../engine/errors.ts'
import { invalidArgument, S3Error } from '../errors/s3-errors.ts'
import type { BucketRequest, ObjectRequest, S3Request } from './s3-request.ts'
import type { S3Services } from './services.ts'
import { httpTimestamp } from '../../http/headers/http-date.ts'

/** @throws S3Error NoSuchBucket */
export function requireBucket(request: BucketRequest, services: S3Services): BucketState {
  return bucketIn(services.catalog.snapshot(), request.bucket)
}

/** @throws S3Error NoSuchBucket */
export function bucketIn(snapshot: CatalogSnapshot, name: string): BucketState {
  const bucket = snapshot.bucket(name)
  if (bucket === undefined) throw new S3Error('NoSuchBucket', { details: [['BucketName', name]] })
  return bucket
}

/**
 * Returns the lock that a write asks for. The engine checks it too; the check here refuses before the body is read.
 * @throws S3Error InvalidRequest when the bucket has no Object Lock
 */
export function requireLockable(bucket: BucketState, lock: LockState | undefined): LockState | undefined {
  if (lock !== undefined && !bucket.lockEnabled) throw new DomainError('lock-not-enabled', bucket.name)
  return lock
}

/**
 * The version that a read asks for, the current one where it names none.
 * @throws S3Error NoSuchBucket, NoSuchKey, NoSuchVersion, MethodNotAllowed (a delete marker by its id), InvalidArgument
 */
export function requireObject(request: ObjectRequest, services: S3Services): FoundObject {
  const snapshot = services.catalog.snapshot()
  return objectIn(snapshot, bucketIn(snapshot, request.bucket), request, services)
}

function objectIn(
  snapshot: CatalogSnapshot,
  bucket: BucketState,
  request: ObjectRequest,
  services: S3Services,
): FoundObject {
  const version = requestedVersion(request, services)
  const key = request.key
  const found = findObject(snapshot, bucket, key, version)
  switch (found.kind) {
    case 'found':
      return found
    case 'no-object':
      // A key hidden by a delete marker is answered as missing, with the marker in the headers.
      throw noSuchKey(key, found.hiddenBy === undefined ? [] : markerHeaders(found.hiddenBy, services))
    case 'no-version':
      throw noSuchVersion(key)
    case 'marker': {
      const headers = [...markerHeaders(found.marker, services), ['allow', 'DELETE'] as const]
      throw new S3Error('MethodNotAllowed', { headers, details: [['ResourceType', 'DeleteMarker']] })
    }
  }
}

/**
 * The version whose lock is read or set.
 * @throws S3Error as requireObject, InvalidRequest when the bucket has no Object Lock
 */
export function requireLockedObject(request: ObjectRequest, services: S3Services): FoundObject {
  const snapshot = services.catalog.snapshot()
  const bucket = bucketIn(snapshot, request.bucket)
  if (!bucket.lockEnabled) throw new DomainError('lock-not-enabled', bucket.name)
  return objectIn(snapshot, bucket, request, services)
}

function markerHeaders(marker: ObjectState, services: S3Services): HeaderLine[] {
  return [
    ['x-amz-delete-marker', 'true'],
    ['x-amz-version-id', versionIdOf(marker, services.versionIds)],
    ['last-modified', httpTimestamp(marker.modifiedMicroseconds)],
  ]
}

export function noSuchKey(key: string, headers: readonly HeaderLine[] = []): S3Error {
  return new S3Error('NoSuchKey', { details: [['Key', key]], headers })
}

export function noSuchVersion(key: string): S3Error {
  return new S3Error('NoSuchVersion', { details: [['Key', key]] })
}

/** 16 bytes in base64url, or the version written without versioning. S3 has a form too, and refuses any other text. */
const VERSION_ID = /^(?:null|[\w-]{22})$/

/**
 * The version named in the query; undefined without one.
 * @throws S3Error InvalidArgument for an invalid version id
 */
export function requestedVersion(request: S3Request, services: S3Services): VersionSelector | undefined {
  const { query } = request.target
  if (query.entries.length === 0) return undefined
  const id = query.first('versionId')
  return id === undefined ? undefined : parseVersionId(id, services)
}

/** Whether a text has the form of a version id of this program. */
export function isVersionId(id: string): boolean {
  return VERSION_ID.test(id)
}

/**
 * The version that an id selects; an id that was never issued selects nothing.
 * @throws S3Error InvalidArgument for an invalid version id
 */
export function parseVersionId(id: string, services: S3Services): VersionSelector {
  if (!isVersionId(id)) throw invalidArgument('versionId', id, 'Invalid version id specified')
  return selectorOf(id, services.versionIds) ?? 'unknown'
}
