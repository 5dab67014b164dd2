/** Events of the store in the form of S3's event notifications (S3 user guide, Event message structure). */
import { rfc3339 } from '../../../engine/clock.ts'
import type { StorageEvent, StorageEventType } from '../../../projections/events/storage-event.ts'

type Kind = 'created' | 'expired' | 'removed' | 'tagged' | 'bucket-created' | 'bucket-removed'

/** The names of events that this store sends. */
const NAMES = {
  Put: 's3:ObjectCreated:Put',
  Copy: 's3:ObjectCreated:Copy',
  CompleteMultipartUpload: 's3:ObjectCreated:CompleteMultipartUpload',
  Delete: 's3:ObjectRemoved:Delete',
  DeleteMarkerCreated: 's3:ObjectRemoved:DeleteMarkerCreated',
  ExpirationDelete: 's3:LifecycleExpiration:Delete',
  ExpirationMarker: 's3:LifecycleExpiration:DeleteMarkerCreated',
  TaggingPut: 's3:ObjectTagging:Put',
  TaggingDelete: 's3:ObjectTagging:Delete',
  BucketCreated: 's3:BucketCreated:*',
  BucketRemoved: 's3:BucketRemoved:*',
} as const

type NotificationName = (typeof NAMES)[keyof typeof NAMES]

/** Groups of names, as a subscription writes them. The store sends nothing of the groups without a kind. */
const GROUPS: Readonly<Record<string, Kind | undefined>> = {
  's3:ObjectCreated': 'created',
  's3:ObjectRemoved': 'removed',
  's3:LifecycleExpiration': 'expired',
  's3:ObjectTagging': 'tagged',
  's3:BucketCreated': 'bucket-created',
  's3:BucketRemoved': 'bucket-removed',
  's3:ObjectAccessed': undefined,
  's3:ObjectAcl': undefined,
  's3:ObjectRestore': undefined,
  's3:ObjectTransition': undefined,
  's3:LifecycleTransition': undefined,
  's3:IntelligentTiering': undefined,
  's3:ReducedRedundancyLostObject': undefined,
  's3:Replication': undefined,
  's3:Scanner': undefined,
}
const MEMBER = /^(s3:[A-Za-z]+)(?::(\*|[A-Za-z]+))?$/

const TYPES: Readonly<Record<Kind, readonly StorageEventType[]>> = {
  created: ['object.created', 'object.updated', 'object.restored'],
  removed: ['object.deleted'],
  expired: ['object.deleted'],
  tagged: ['object.tagged', 'object.untagged'],
  'bucket-created': ['bucket.created'],
  'bucket-removed': ['bucket.deleted'],
}

/** The events that a client listens to. */
export class Subscription {
  readonly #names: readonly string[]

  private constructor(names: readonly string[]) {
    this.#names = names
  }

  /**
   * @param names such as `s3:ObjectCreated:*` and `s3:ObjectRemoved:Delete`
   * @returns the name that is not known, if there is one
   */
  static of(names: readonly string[]): Subscription | { readonly unknown: string } {
    const unknown = names.find((name) => !((MEMBER.exec(name)?.[1] ?? '') in GROUPS))
    return unknown === undefined ? new Subscription(names) : { unknown }
  }

  /** The types of storage events that can have these names. */
  get types(): ReadonlySet<StorageEventType> {
    const kinds = this.#names.flatMap((name) => GROUPS[MEMBER.exec(name)?.[1] ?? ''] ?? [])
    return new Set(kinds.flatMap((kind) => TYPES[kind]))
  }

  has(name: string): boolean {
    const group = name.slice(0, name.lastIndexOf(':'))
    return this.#names.some((asked) => asked === name || asked === group || asked === `${group}:*`)
  }
}

/**
 * The name of an event at S3. Undefined for an event that S3 has no name for: a version that is current again since a
 * later one was deleted.
 */
function notificationName({ type, metadata }: StorageEvent): NotificationName | undefined {
  switch (type) {
    case 'object.created':
    case 'object.updated':
      if (metadata['upload_id'] !== undefined) return NAMES.CompleteMultipartUpload
      return metadata['source_key'] === undefined ? NAMES.Put : NAMES.Copy
    case 'object.restored':
      return metadata['source_key'] === undefined ? undefined : NAMES.Copy
    case 'object.deleted': {
      const isMarker = metadata['delete_marker'] === true && metadata['permanent'] === false
      // As at S3, what a lifecycle rule removes has names of its own.
      if (metadata['principal_kind'] === 'system') return isMarker ? NAMES.ExpirationMarker : NAMES.ExpirationDelete
      return isMarker ? NAMES.DeleteMarkerCreated : NAMES.Delete
    }
    case 'object.tagged':
      return NAMES.TaggingPut
    case 'object.untagged':
      return NAMES.TaggingDelete
    case 'bucket.created':
      return NAMES.BucketCreated
    case 'bucket.deleted':
      return NAMES.BucketRemoved
    default:
      return undefined
  }
}

/** A key as notifications have it: as a form field, with `+` for a space. */
function encodedKey(key: string): string {
  const encoded = encodeURIComponent(key).replaceAll(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return encoded.replaceAll('%20', '+')
}

/** What makes a notification of an event. */
export interface NotificationContext {
  readonly subscription: Subscription
  /** End of the keys that are wanted; empty for all. */
  readonly suffix: string
  /** Of a bucket by name; empty for a bucket that is gone. */
  readonly regionOf: (bucket: string) => string
  /** Id of the owner of all buckets. */
  readonly owner: string
}

/** The record of an event; undefined when it is not wanted. */
export function notificationOf(event: StorageEvent, context: NotificationContext): object | undefined {
  const name = notificationName(event)
  if (name === undefined || !context.subscription.has(name)) return undefined
  if (!(event.object ?? '').endsWith(context.suffix)) return undefined
  const { timeMicroseconds, bucket, metadata } = event
  return {
    eventVersion: '2.1',
    eventSource: 'aws:s3',
    awsRegion: context.regionOf(bucket),
    eventTime: rfc3339(timeMicroseconds),
    eventName: name,
    userIdentity: { principalId: metadata['principal_kind'] },
    requestParameters: {},
    responseElements: { 'x-amz-request-id': metadata['request_id'] },
    s3: {
      s3SchemaVersion: '1.0',
      configurationId: 'listen',
      bucket: { name: bucket, ownerIdentity: { principalId: context.owner }, arn: `arn:aws:s3:::${bucket}` },
      object: objectOf(event),
    },
  }
}

/** JSON leaves out undefined members. */
function objectOf({ sequence, index, object, size, versionId, metadata }: StorageEvent): object | undefined {
  if (object === undefined) return undefined
  return {
    key: encodedKey(object),
    size,
    eTag: metadata['etag'],
    contentType: metadata['content_type'],
    versionId,
    // Grows with the events of a key: sequence of the entry, and number within the entry.
    sequencer: `${hexadecimal(sequence, 14)}${hexadecimal(index, 4)}`,
  }
}

function hexadecimal(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0').toUpperCase()
}

/** A line of a stream of notifications. Without records it says that the stream is alive. */
export function notificationLine(records: readonly object[]): string {
  return `${JSON.stringify({ Records: records })}\n`
}
