/**
 * What the store must hold, in the simplest form there is. A world is never changed in place: a request makes another
 * one of it, so that several can be kept beside each other while it is not known which of them is the real one.
 */

export type RetentionMode = 'GOVERNANCE' | 'COMPLIANCE'

/** Times are milliseconds since 1970. */
export interface Retention {
  readonly mode: RetentionMode
  readonly until: number
}

export interface DefaultRetention {
  readonly mode: RetentionMode
  readonly unit: 'Days' | 'Years'
  readonly value: number
}

/** Names in lower case: `content-type` and `x-amz-meta-*`. */
export type StoredHeaders = ReadonlyMap<string, string>

/** One version of a key, or a delete marker. */
export interface Version {
  /** Its place among all versions and uploads of the world, in the order of writing. */
  readonly serial: number
  /** `null`, or what the store calls it; undefined while no answer has told. */
  readonly id: string | undefined
  readonly isMarker: boolean
  readonly bytes: Buffer
  /** Without quotes. */
  readonly etag: string
  readonly headers: StoredHeaders
  readonly modified: number
  readonly retention: Retention | undefined
  /** Undefined when it was never put. */
  readonly hold: boolean | undefined
}

export interface Part {
  readonly bytes: Buffer
  readonly md5: string
  readonly modified: number
}

/** A multipart upload in progress. */
export interface Upload {
  readonly serial: number
  /** Undefined while no answer has told. */
  readonly id: string | undefined
  readonly key: string
  readonly headers: StoredHeaders
  readonly retention: Retention | undefined
  readonly hold: boolean | undefined
  readonly created: number
  readonly parts: ReadonlyMap<number, Part>
}

/** What a completed upload became. */
export interface Completion {
  readonly key: string
  /** The list of parts, as text. */
  readonly list: string
  readonly etag: string
  /** Serial of the version. */
  readonly serial: number
}

export interface Bucket {
  readonly created: number
  readonly region: string
  readonly hasLock: boolean
  readonly versioning: 'off' | 'enabled' | 'suspended'
  readonly standard: DefaultRetention | undefined
  /** The one origin of its CORS configuration. */
  readonly corsOrigin: string | undefined
  /** Newest first, never an empty list. */
  readonly keys: ReadonlyMap<string, readonly Version[]>
  /** In the order of their creation. */
  readonly uploads: readonly Upload[]
  /** By upload id. */
  readonly completions: ReadonlyMap<string, Completion>
}

export interface World {
  readonly buckets: ReadonlyMap<string, Bucket>
  /** The serial of the next version or upload. */
  readonly serial: number
}

/** When a request is carried out. */
export interface Moment {
  /** The clock of the server. */
  readonly clock: number
  /** The time of an entry of the journal made now: it never goes back. */
  readonly now: number
  /** The clock is so far behind the journal that no retention is released. */
  readonly isBehind: boolean
}

export const EMPTY_WORLD: World = { buckets: new Map(), serial: 1 }

export function newBucket(created: number, region: string, hasLock: boolean): Bucket {
  const versioning = hasLock ? 'enabled' : 'off'
  const nothing = { keys: new Map(), uploads: [], completions: new Map() }
  return { created, region, hasLock, versioning, standard: undefined, corsOrigin: undefined, ...nothing }
}

/** A map with one entry set, or removed where `value` is undefined. */
function withEntry<V>(map: ReadonlyMap<string, V>, name: string, value: V | undefined): ReadonlyMap<string, V> {
  const copy = new Map(map)
  if (value === undefined) copy.delete(name)
  else copy.set(name, value)
  return copy
}

export function withBucket(world: World, name: string, bucket: Bucket | undefined): World {
  return { ...world, buckets: withEntry(world.buckets, name, bucket) }
}

export function withVersions(bucket: Bucket, key: string, versions: readonly Version[]): Bucket {
  return { ...bucket, keys: withEntry(bucket.keys, key, versions.length === 0 ? undefined : versions) }
}

export function withCompletion(bucket: Bucket, id: string, completion: Completion): Bucket {
  return { ...bucket, completions: withEntry(bucket.completions, id, completion) }
}

export function versionsOf(bucket: Bucket, key: string): readonly Version[] {
  return bucket.keys.get(key) ?? []
}

/** The current object; undefined also when the newest version is a delete marker. */
export function currentOf(bucket: Bucket, key: string): Version | undefined {
  const newest = bucket.keys.get(key)?.[0]
  return newest?.isMarker === true ? undefined : newest
}

/** Ids of all versions of the world that are known. */
export function knownIds(world: World): Set<string> {
  const versions = [...world.buckets.values()].flatMap((bucket) => [...bucket.keys.values()].flat())
  return new Set(versions.flatMap(({ id }) => id ?? []))
}

/** A text that is the same for two worlds exactly when no request could tell them apart. */
export function fingerprint(world: World): string {
  return JSON.stringify([...world.buckets].sort(([left], [right]) => (left < right ? -1 : 1)).map(fingerprintOfBucket))
}

function fingerprintOfBucket([name, bucket]: readonly [string, Bucket]): unknown {
  const { created, region, hasLock, versioning, standard, corsOrigin } = bucket
  const keys = [...bucket.keys].sort(([left], [right]) => (left < right ? -1 : 1))
  const placeOf = (key: string, serial: number) => versionsOf(bucket, key).findIndex((each) => each.serial === serial)
  const completions = [...bucket.completions].map(([id, { key, list, etag, serial }]) => {
    return [id, key, list, etag, placeOf(key, serial)]
  })
  return [
    [name, created, region, hasLock, versioning, standard, corsOrigin],
    keys.map(([key, versions]) => [key, versions.map(fingerprintOfVersion)]),
    bucket.uploads.map(fingerprintOfUpload),
    completions.filter(([, , , , place]) => place !== -1).sort(),
  ]
}

function fingerprintOfVersion(version: Version): unknown {
  const { id, isMarker, etag, headers, modified, retention, hold } = version
  return [id, isMarker, etag, [...headers], modified, retention, hold]
}

function fingerprintOfUpload({ id, key, headers, retention, hold, created, parts }: Upload): unknown {
  const numbers = [...parts].map(([number, { md5, modified }]) => [number, md5, modified] as const)
  return [id, key, [...headers], retention, hold, created, numbers.sort(([left], [right]) => left - right)]
}
