import type { LockState } from '../../../engine/events/changes.ts'
import type { ListedObject, ListedVersion } from '../../../projections/tables/objects.ts'
import { digestOf, type FoundVersion, versionIdOf } from '../object-lookup.ts'
import type { ManagementServices } from '../services.ts'
import { rfc3339 } from '../timestamps.ts'

/** Name, value, name, value as an object without a prototype: names come from strangers. */
function pairs(flat: readonly string[]): Record<string, string> {
  const record: Record<string, string> = Object.create(null)
  for (let index = 0; index < flat.length; index += 2) record[flat[index] as string] = flat[index + 1] as string
  return record
}

/** What is known of one version. `content_type` and `sha256` are null where there is none, or none yet. */
export function versionRecord(found: FoundVersion, services: ManagementServices): Record<string, unknown> {
  const { bucket, key, object } = found
  const headers = pairs(object.headers)
  const newest = services.catalog.newestVersion(bucket.id, key)
  return {
    bucket: bucket.name,
    key,
    version_id: versionIdOf(object, services),
    is_latest: newest?.sequence === object.sequence,
    size: object.size,
    etag: object.etag,
    sha256: digestOf(found, services) ?? null,
    content_type: headers['content-type'] ?? null,
    created_at: rfc3339(object.modifiedMicroseconds),
    headers,
    metadata: pairs(object.metadata),
    lock: lockRecord(object.lock),
  }
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
    version_id: versionIdOf(version, services),
    is_latest: isLatest,
    delete_marker: isMarker,
    size: isMarker ? null : size,
    etag: isMarker ? null : etag,
    created_at: rfc3339(lastModifiedMicroseconds),
  }
}
