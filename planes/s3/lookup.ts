import type { VersionSelector } from '../../engine/commands.ts'
import type { LockState } from '../../engine/events/changes.ts'
import type { BucketState, ObjectState } from '../../engine/state-ports.ts'
import type { HeaderLine } from '../http/exchange.ts'
import { DomainError } from '../../engine/errors.ts'
import { s3ErrorOf } from './domain-errors.ts'
import { invalidArgument, S3Error } from './errors.ts'
import { bucketName, objectKey, type S3Request } from './s3-request.ts'
import type { S3Services } from './services.ts'
import { httpTimestamp } from './timestamps.ts'

/** @throws S3Error NoSuchBucket */
export function requireBucket(request: S3Request, services: S3Services): BucketState {
  return requireBucketNamed(bucketName(request), services)
}

/** @throws S3Error NoSuchBucket */
export function requireBucketNamed(name: string, services: S3Services): BucketState {
  const bucket = services.catalog.bucket(name)
  if (bucket === undefined) throw new S3Error('NoSuchBucket', { details: [['BucketName', name]] })
  return bucket
}

/**
 * Passes the lock that a write asks for. The engine judges again; here it is refused before a body is read.
 * @throws S3Error InvalidRequest when the bucket has no Object Lock
 */
export function requireLockable(bucket: BucketState, lock: LockState | undefined): LockState | undefined {
  if (lock !== undefined && !bucket.lockEnabled) throw s3ErrorOf(new DomainError('lock-not-enabled', bucket.name))
  return lock
}

/** An object or version, and the bucket it was found in. */
export interface FoundObject {
  readonly bucket: BucketState
  readonly object: ObjectState
}

/**
 * The version that a read asks for, the current one where it names none.
 * @throws S3Error NoSuchBucket, NoSuchKey, NoSuchVersion, MethodNotAllowed (a delete marker by its id), InvalidArgument
 */
export function requireObject(request: S3Request, services: S3Services): FoundObject {
  const bucket = requireBucket(request, services)
  const version = requestedVersion(request, services)
  const key = objectKey(request)
  if (version !== undefined) return { bucket, object: requireVersion(bucket, key, version, services) }
  const object = services.catalog.object(bucket.id, key)
  if (object === undefined) throw noSuchKey(bucket, key, services)
  return { bucket, object }
}

/**
 * @throws S3Error NoSuchVersion, MethodNotAllowed for a delete marker
 */
function requireVersion(bucket: BucketState, key: string, version: VersionSelector, services: S3Services): ObjectState {
  const object = services.catalog.version(bucket.id, key, version)
  if (object === undefined) throw noSuchVersion(key)
  if (object.isMarker) {
    const headers = [...markerHeaders(object, services), ['allow', 'DELETE'] as const]
    throw new S3Error('MethodNotAllowed', { headers, details: [['ResourceType', 'DeleteMarker']] })
  }
  return object
}

/**
 * The version whose lock is asked about or set.
 * @throws S3Error as requireObject, InvalidRequest when the bucket has no Object Lock
 */
export function requireLockedObject(request: S3Request, services: S3Services): FoundObject {
  const bucket = requireBucket(request, services)
  if (!bucket.lockEnabled) throw s3ErrorOf(new DomainError('lock-not-enabled', bucket.name))
  return requireObject(request, services)
}

/** A key behind a delete marker answers as if it were not there, and says why in its headers. */
function noSuchKey(bucket: BucketState, key: string, services: S3Services): S3Error {
  const newest = bucket.versioning === 'off' ? undefined : services.catalog.newestVersion(bucket.id, key)
  const headers = newest?.isMarker === true ? markerHeaders(newest, services) : []
  return new S3Error('NoSuchKey', { details: [['Key', key]], headers })
}

function markerHeaders(marker: ObjectState, services: S3Services): HeaderLine[] {
  return [
    ['x-amz-delete-marker', 'true'],
    ['x-amz-version-id', versionIdOf(marker, services)],
    ['last-modified', httpTimestamp(marker.modifiedMicroseconds)],
  ]
}

export function noSuchVersion(key: string): S3Error {
  return new S3Error('NoSuchVersion', { details: [['Key', key]] })
}

const VERSION_ID = /^[\w.~-]{1,1024}$/
/** No entry has it, so that no version is found by it. */
const NO_SEQUENCE = -1

/**
 * The version named in the query, if one is.
 * @throws S3Error InvalidArgument for what is no version id at all
 */
export function requestedVersion(request: S3Request, services: S3Services): VersionSelector | undefined {
  const { query } = request.target
  if (query.entries.length === 0) return undefined
  const id = query.first('versionId')
  return id === undefined ? undefined : parseVersionId(id, services)
}

/**
 * What a version id selects; an id that was never given out selects nothing.
 * @throws S3Error InvalidArgument for what is no version id at all
 */
export function parseVersionId(id: string, services: S3Services): VersionSelector {
  if (id === 'null') return id
  if (!VERSION_ID.test(id)) throw invalidArgument('versionId', id, 'Invalid version id specified')
  return services.versionIds.decode(id) ?? NO_SEQUENCE
}

/** The version id of a version as clients see it. */
export function versionIdOf(version: Pick<ObjectState, 'isNull' | 'sequence'>, services: S3Services): string {
  return version.isNull ? 'null' : services.versionIds.encode(version.sequence)
}

/** The version ids of many versions, at less cost than one by one. */
export function versionIdsOf(
  versions: readonly Pick<ObjectState, 'isNull' | 'sequence'>[],
  { versionIds }: S3Services,
): string[] {
  const ids = versionIds.encodeAll(versions.map(({ sequence }) => sequence))
  return versions.map(({ isNull }, index) => (isNull ? 'null' : (ids[index] as string)))
}

/** The version header of an answer about an object: none in a bucket that never had versioning. */
export function versionHeader(
  bucket: BucketState,
  version: Pick<ObjectState, 'isNull' | 'sequence'>,
  services: S3Services,
): HeaderLine[] {
  return bucket.versioning === 'off' ? [] : [['x-amz-version-id', versionIdOf(version, services)]]
}

/**
 * The version header of an answer to a write, from what the engine tells. A write that makes a `null` version has none,
 * as in a bucket that never had versioning.
 */
export function writtenVersionHeader(version: VersionSelector | undefined, services: S3Services): HeaderLine[] {
  if (version === undefined || version === 'null') return []
  return [['x-amz-version-id', services.versionIds.encode(version)]]
}
