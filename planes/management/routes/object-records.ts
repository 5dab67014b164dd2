import type { LockState } from '../../../engine/events/values.ts'
import type { ListedObject, ListedVersion } from '../../../projections/tables/objects.ts'
import { findObject, type FoundObject } from '../../objects/find-object.ts'
import { versionIdOf } from '../../objects/version-ids.ts'
import { json } from '../routing/define-route.ts'
import { digestOf, type ObjectRequest, requireKey } from '../object-lookup.ts'
import { component } from '../schemas/components.ts'
import type { ManagementServices } from '../services.ts'
import { rfc3339 } from '../requests/timestamps.ts'

/** The errors that routes writing an object add to the common errors of bucket routes. */
export const WRITE_ERRORS = ['QUOTA_EXCEEDED', 'STORAGE_FULL', 'CONFLICT'] as const
export const WRITTEN = json(component('WrittenObject'))

/** An object from name, value, name, value; without a prototype, because clients choose the names. */
function pairs(flat: readonly string[]): Record<string, string> {
  const record: Record<string, string> = Object.create(null)
  for (let index = 0; index < flat.length; index += 2) record[flat[index] as string] = flat[index + 1] as string
  return record
}

/** One version. `content_type` and `sha256` are null where absent; `sha256` may still be being computed. */
export function versionRecord(found: FoundObject, services: ManagementServices): Record<string, unknown> {
  const { snapshot, bucket, key, object: version } = found
  const headers = pairs(version.headers)
  const newest = snapshot.newestVersion(bucket.id, key)
  return {
    bucket: bucket.name,
    key,
    version_id: versionIdOf(version, services.versionIds),
    is_latest: newest?.sequence === version.sequence,
    size: version.size,
    etag: version.etag,
    sha256: digestOf(found) ?? null,
    content_type: headers['content-type'] ?? null,
    created_at: rfc3339(version.modifiedMicroseconds),
    headers,
    metadata: pairs(version.metadata),
    ...(version.tags !== undefined && { tags: pairs(version.tags) }),
    lock: lockRecord(version.lock),
  }
}

/** The current object after a change. */
export function currentRecord(request: ObjectRequest, services: ManagementServices): Record<string, unknown> {
  const snapshot = services.catalog.snapshot()
  const name = request.parameters.bucket
  const key = requireKey(request)
  // Other requests may have removed the object already, and its bucket too.
  const bucket = snapshot.bucket(name)
  const found = bucket && findObject(snapshot, bucket, key, undefined)
  return found?.kind === 'found' ? versionRecord(found, services) : { bucket: name, key }
}

function lockRecord(lock: LockState | undefined): Record<string, unknown> {
  const retention = lock?.retention
  return {
    mode: retention?.mode ?? null,
    retain_until: retention === undefined ? null : new Date(retention.untilMilliseconds).toISOString(),
    legal_hold: lock?.hold === true,
  }
}

export function listedObjectRecord({ key, size, etag, lastModifiedMicroseconds }: ListedObject): unknown {
  return { key, size, etag, created_at: rfc3339(lastModifiedMicroseconds) }
}

export function listedVersionRecord(version: ListedVersion, services: ManagementServices): unknown {
  const { key, isLatest, isMarker, size, etag, lastModifiedMicroseconds } = version
  return {
    key,
    version_id: versionIdOf(version, services.versionIds),
    is_latest: isLatest,
    delete_marker: isMarker,
    size: isMarker ? null : size,
    etag: isMarker ? null : etag,
    created_at: rfc3339(lastModifiedMicroseconds),
  }
}
