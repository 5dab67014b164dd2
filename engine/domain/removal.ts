import type { BucketId } from '../brands.ts'
import type { SpineChangeNamed } from '../events/spine-changes.ts'
import { contentTypeOf } from '../events/values.ts'
import type { ObjectState } from '../state-ports.ts'

/** Deletes the object of a bucket without versioning. */
export function objectDeleted(
  bucketId: BucketId,
  key: string,
  { size }: ObjectState,
): SpineChangeNamed<'object.deleted'> {
  return { name: 'object.deleted', bucketId, key, size }
}

/**
 * Deletes a version or marker for ever.
 * @param next the version or marker that becomes the newest
 */
export function versionDeleted(
  bucketId: BucketId,
  key: string,
  { sequence, isNull, isMarker, size }: ObjectState,
  next: ObjectState | undefined,
): SpineChangeNamed<'version.deleted'> {
  const promoted = next?.isMarker === false ? next : undefined
  return {
    name: 'version.deleted',
    bucketId,
    key,
    version: sequence,
    promotes: promoted?.sequence,
    removed: { isNull, isMarker, size },
    current: promoted && {
      isNull: promoted.isNull,
      size: promoted.size,
      etag: promoted.etag,
      contentType: contentTypeOf(promoted.headers),
    },
    uncovers: next?.isMarker === true ? next.sequence : undefined,
  }
}
