/** How versions of a key come and go (S3 user guide, Versioning) over the model. */
import { type Bucket, type Version, versionsOf, withBucket, withVersions, type World } from './model-state.ts'

/** What a write says of a version that is to be. */
export type NewVersion = Omit<Version, 'serial' | 'id'>

/**
 * A version or marker becomes the newest of its key: it replaces the only one of a bucket without versioning, and the
 * `null` one of a suspended bucket.
 * @param id what the answer called it, where versioning is enabled
 */
export function writeVersion(
  world: World,
  bucketName: string,
  key: string,
  version: NewVersion,
  id: string | undefined,
): World {
  const bucket = world.buckets.get(bucketName)
  if (bucket === undefined) return world
  const placed = { ...version, serial: world.serial, id: bucket.versioning === 'enabled' ? id : 'null' }
  const kept = versionsOf(bucket, key).filter((other) => bucket.versioning === 'enabled' || other.id !== 'null')
  return withBucket({ ...world, serial: world.serial + 1 }, bucketName, withVersions(bucket, key, [placed, ...kept]))
}

export function removeVersion(world: World, bucketName: string, key: string, serial: number): World {
  return changeVersions(world, bucketName, key, (versions) => versions.filter((other) => other.serial !== serial))
}

export function changeVersion(
  world: World,
  bucketName: string,
  key: string,
  serial: number,
  change: Partial<Version>,
): World {
  return changeVersions(world, bucketName, key, (versions) =>
    versions.map((other) => (other.serial === serial ? { ...other, ...change } : other)),
  )
}

function changeVersions(
  world: World,
  bucketName: string,
  key: string,
  change: (versions: readonly Version[]) => readonly Version[],
): World {
  const bucket: Bucket | undefined = world.buckets.get(bucketName)
  if (bucket === undefined) return world
  return withBucket(world, bucketName, withVersions(bucket, key, change(versionsOf(bucket, key))))
}

/** A delete marker, which holds nothing. */
export function newMarker(modified: number): NewVersion {
  const nothing = { bytes: Buffer.alloc(0), etag: '', headers: new Map<string, string>() }
  return { ...nothing, isMarker: true, modified, retention: undefined, hold: undefined }
}
