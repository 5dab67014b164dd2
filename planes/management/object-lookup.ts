import type { VersionSelector } from '../../engine/commands.ts'
import type { BucketState, ObjectState } from '../../engine/state-ports.ts'
import { overlongKeyBytes } from '../objects/names.ts'
import { invalid, ManagementError } from './errors.ts'
import { type ManagementRequest, pathParameter } from './management-request.ts'
import { requireBucket } from './routes/buckets.ts'
import type { ManagementServices } from './services.ts'

/** An object or version, and where it was found. */
export interface FoundVersion {
  readonly bucket: BucketState
  readonly key: string
  readonly object: ObjectState
}

/** @throws ManagementError INVALID_REQUEST when it is too long */
export function requireKey(request: ManagementRequest): string {
  const key = pathParameter(request, 'key')
  if (overlongKeyBytes(key) !== undefined) throw invalid('key', 'has more than 1024 bytes')
  return key
}

/**
 * What a version id selects.
 * @throws ManagementError VERSION_NOT_FOUND for an id that was never given out
 */
export function versionOf(id: string, { versionIds }: ManagementServices): VersionSelector {
  if (id === 'null') return id
  const sequence = versionIds.decode(id)
  if (sequence === undefined) throw new ManagementError('VERSION_NOT_FOUND')
  return sequence
}

/** The version id of a version as clients see it. */
export function versionIdOf(version: Pick<ObjectState, 'isNull' | 'sequence'>, services: ManagementServices): string {
  return version.isNull ? 'null' : services.versionIds.encode(version.sequence)
}

/**
 * The version named by `version_id`, the current object without it.
 * @throws ManagementError BUCKET_NOT_FOUND, OBJECT_NOT_FOUND, VERSION_NOT_FOUND, VERSION_IS_MARKER
 */
export function requireVersion(request: ManagementRequest, services: ManagementServices): FoundVersion {
  const bucket = requireBucket(request, services)
  const key = requireKey(request)
  const id = request.query.get('version_id')
  const object =
    id === undefined
      ? services.catalog.object(bucket.id, key)
      : services.catalog.version(bucket.id, key, versionOf(id, services))
  if (object === undefined) throw new ManagementError(id === undefined ? 'OBJECT_NOT_FOUND' : 'VERSION_NOT_FOUND')
  if (object.isMarker) throw new ManagementError('VERSION_IS_MARKER')
  return { bucket, key, object }
}

/**
 * Lower-case hex SHA-256 of the bytes; undefined for a multipart object whose digest is still being computed.
 * @throws ManagementError CONFLICT when the version was removed since it was looked up
 */
export function digestOf({ object }: FoundVersion, { catalog }: ManagementServices): string | undefined {
  if (object.payload === 0) return Buffer.from(object.digest).toString('hex')
  const location = catalog.payload(object.payload)
  if (location === undefined) throw new ManagementError('CONFLICT')
  if (location.kind !== 'parts') return Buffer.from(object.digest).toString('hex')
  return location.digest === undefined ? undefined : Buffer.from(location.digest).toString('hex')
}
