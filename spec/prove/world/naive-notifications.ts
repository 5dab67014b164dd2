/** Notifications by the pages of S3 and of storage events: which a listener gets of events that clients see. */
import type { StorageEvent } from '../../support/storage-events.ts'

/** What is listened to. */
export interface Listened {
  /** Undefined: all buckets. */
  readonly bucket: string | undefined
  /** Names such as `s3:ObjectCreated:*`. */
  readonly names: readonly string[]
  readonly prefix: string
  readonly suffix: string
}

/** What is held against each other of a notification. */
export type Told = readonly [name: string, bucket: string, key: string | undefined, size: unknown, version: unknown]

function nameOf({ type, metadata }: StorageEvent): string | undefined {
  const isCopy = metadata['source_key'] !== undefined
  const isMarker = metadata['delete_marker'] === true && metadata['permanent'] === false
  switch (type) {
    case 'object.created':
    case 'object.updated':
      if (metadata['upload_id'] !== undefined) return 's3:ObjectCreated:CompleteMultipartUpload'
      return isCopy ? 's3:ObjectCreated:Copy' : 's3:ObjectCreated:Put'
    case 'object.restored':
      return isCopy ? 's3:ObjectCreated:Copy' : undefined
    case 'object.deleted': {
      const what = isMarker ? 'DeleteMarkerCreated' : 'Delete'
      return `s3:${metadata['principal_kind'] === 'system' ? 'LifecycleExpiration' : 'ObjectRemoved'}:${what}`
    }
    case 'object.tagged':
      return 's3:ObjectTagging:Put'
    case 'object.untagged':
      return 's3:ObjectTagging:Delete'
    case 'bucket.created':
      return 's3:BucketCreated:*'
    case 'bucket.deleted':
      return 's3:BucketRemoved:*'
    default:
      return undefined
  }
}

/** The notifications of events, in their order. */
export function expectedNotifications(events: readonly StorageEvent[], listened: Listened): Told[] {
  const { names, prefix, suffix } = listened
  return events.flatMap((event): Told[] => {
    const { bucket, object, size, version_id: version } = event
    const name = nameOf(event)
    const isNamed = names.some((one) => one === name || (one.endsWith('*') && name?.startsWith(one.slice(0, -1))))
    // A bucket has no key that could begin with a prefix.
    const isUnder = prefix === '' || object?.startsWith(prefix) === true
    const isWanted = isUnder && (object ?? '').endsWith(suffix) && (listened.bucket ?? bucket) === bucket
    return name === undefined || !isNamed || !isWanted ? [] : [[name, bucket, object, size, version]]
  })
}

interface Notification {
  readonly eventName: string
  readonly s3: {
    readonly bucket: { readonly name: string }
    readonly object?: { readonly key: string; readonly size: number; readonly versionId?: string }
  }
}

/** The notifications of a stream; a line that has not come to its end is left out. */
export function notificationsIn(text: string): Told[] {
  return linesIn(text).flatMap((line) =>
    (JSON.parse(line) as { Records: Notification[] }).Records.map(({ eventName, s3: { bucket, object } }): Told => {
      const key = object && decodeURIComponent(object.key.replaceAll('+', ' '))
      return [eventName, bucket.name, key, object?.size, object?.versionId]
    }),
  )
}

/** Whole lines with something in them. */
export function linesIn(text: string): string[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line.trim() !== '')
}
