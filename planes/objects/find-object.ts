import type { VersionSelector } from '../../engine/commands/version-name.ts'
import type { ShareState } from '../../engine/links/state.ts'
import type { BucketState, ObjectState } from '../../engine/state-ports.ts'
import type { CatalogSnapshot } from '../../projections/catalog/catalog-snapshot.ts'

/** A version with bytes, and where it was found. */
export interface FoundObject {
  readonly kind: 'found'
  /** The snapshot it was found in; valid in this turn, to read more of the version. */
  readonly snapshot: CatalogSnapshot
  readonly bucket: BucketState
  readonly key: string
  /** The selector of the request; undefined for the current object. */
  readonly version: VersionSelector | undefined
  readonly object: ObjectState
}

/** Why no version with bytes was found. */
export type NotFound =
  /** The key has no current object; `hiddenBy` is the delete marker that hides the versions it may have. */
  | { readonly kind: 'no-object'; readonly hiddenBy: ObjectState | undefined }
  | { readonly kind: 'no-version' }
  /** The version is a delete marker. */
  | { readonly kind: 'marker'; readonly marker: ObjectState }

/** Finds a version of a key, by default the current object. The bucket must be from the same snapshot. */
export function findObject(
  snapshot: CatalogSnapshot,
  bucket: BucketState,
  key: string,
  version: VersionSelector | undefined,
): FoundObject | NotFound {
  if (version === undefined) {
    const object = snapshot.object(bucket.id, key)
    if (object !== undefined) return { kind: 'found', snapshot, bucket, key, version, object }
    const newest = bucket.versioning === 'off' ? undefined : snapshot.newestVersion(bucket.id, key)
    return { kind: 'no-object', hiddenBy: newest?.isMarker === true ? newest : undefined }
  }
  const object = snapshot.version(bucket.id, key, version)
  if (object === undefined) return { kind: 'no-version' }
  if (object.isMarker) return { kind: 'marker', marker: object }
  return { kind: 'found', snapshot, bucket, key, version, object }
}

/**
 * The object that a share or an embed of this snapshot points to. Undefined when its bucket, its key or its version is
 * gone; a bucket created again under the same name is another bucket.
 */
export function findTarget(
  snapshot: CatalogSnapshot,
  { bucketId, key, version }: Pick<ShareState, 'bucketId' | 'key' | 'version'>,
): FoundObject | undefined {
  const bucket = snapshot.bucketOfId(bucketId)
  if (bucket === undefined) return undefined
  const selector = version?.isNull === true ? 'null' : version?.sequence
  const found = findObject(snapshot, bucket, key, selector)
  if (found.kind !== 'found') return undefined
  // The version with the id `null` may have been replaced by another write.
  return version === undefined || found.object.sequence === version.sequence ? found : undefined
}
