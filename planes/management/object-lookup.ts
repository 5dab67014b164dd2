import type { VersionName } from '../../engine/commands/version-name.ts'
import { KEY_BYTES_MAXIMUM, overlongKeyBytes } from '../../engine/domain/names.ts'
import type { BucketState } from '../../engine/state-ports.ts'
import type { CatalogSnapshot } from '../../projections/catalog/catalog-snapshot.ts'
import { BodyRemovedError, type BodySource } from '../http/exchange.ts'
import { findObject, type FoundObject, type NotFound } from '../objects/find-object.ts'
import { readObject } from '../objects/read-object.ts'
import { selectorOf } from '../objects/version-ids.ts'
import { invalid, ManagementError } from './errors.ts'
import { queryText } from './schemas/query.ts'
import type { ManagementServices } from './services.ts'

/** A request for a route with bucket and key in its path. */
export interface ObjectRequest {
  readonly parameters: { readonly bucket: string; readonly key: string }
}

/** @throws ManagementError BUCKET_NOT_FOUND */
export function bucketIn(snapshot: CatalogSnapshot, name: string): BucketState {
  const bucket = snapshot.bucket(name)
  if (bucket === undefined) throw new ManagementError('BUCKET_NOT_FOUND')
  return bucket
}

/** @throws ManagementError INVALID_REQUEST when it is too long */
export function requireKey({ parameters: { key } }: ObjectRequest): string {
  if (overlongKeyBytes(key) !== undefined) throw invalid('key', `has more than ${KEY_BYTES_MAXIMUM} bytes`)
  return key
}

/**
 * The version that an id selects.
 * @throws ManagementError VERSION_NOT_FOUND for an id that the server never issued
 */
export function versionOf(id: string, { versionIds }: ManagementServices): VersionName {
  const version = selectorOf(id, versionIds)
  if (version === undefined) throw new ManagementError('VERSION_NOT_FOUND')
  return version
}

const REFUSALS = {
  'no-object': 'OBJECT_NOT_FOUND',
  'no-version': 'VERSION_NOT_FOUND',
  marker: 'VERSION_IS_MARKER',
} as const satisfies Record<NotFound['kind'], string>

/** @throws ManagementError OBJECT_NOT_FOUND, VERSION_NOT_FOUND, VERSION_IS_MARKER */
export function requireFound(found: FoundObject | NotFound): FoundObject {
  if (found.kind !== 'found') throw new ManagementError(REFUSALS[found.kind])
  return found
}

/** The query of a route that takes `requireVersion`. */
export const VERSION_QUERY = { version_id: queryText }
/** The errors that `requireVersion` adds to the common errors of bucket routes. */
export const VERSION_ERRORS = Object.values(REFUSALS)

/**
 * The version named by `version_id`, the current object without it.
 * @throws ManagementError as bucketIn, requireKey, versionOf, requireFound
 */
export function requireVersion(
  request: ObjectRequest & { query(name: 'version_id'): string | undefined },
  services: ManagementServices,
): FoundObject {
  const snapshot = services.catalog.snapshot()
  const bucket = bucketIn(snapshot, request.parameters.bucket)
  const key = requireKey(request)
  const id = request.query('version_id')
  return requireFound(findObject(snapshot, bucket, key, id === undefined ? undefined : versionOf(id, services)))
}

/** Lower-case hex SHA-256 of the bytes; undefined for a multipart object whose digest is still being computed. */
export function digestOf({ snapshot, object }: FoundObject): string | undefined {
  const location = object.payload === undefined ? undefined : snapshot.payload(object.payload)
  const digest = location?.kind === 'parts' ? location.digest : object.digest
  return digest && Buffer.from(digest).toString('hex')
}

/** @throws PayloadDamagedError; ManagementError CONFLICT when the version was removed meanwhile */
export async function openBytes(found: FoundObject, services: ManagementServices): Promise<Buffer | BodySource> {
  try {
    return await readObject(services, found, 0, found.object.size)
  } catch (error) {
    if (error instanceof BodyRemovedError) throw new ManagementError('CONFLICT')
    throw error
  }
}
