import type { Microseconds, Sequence } from '../../engine/brands.ts'
import { eventId } from '../../engine/events/audit.ts'
import { EVENT_TYPES, type EventType } from '../../engine/events/values.ts'
import { rfc3339 } from '../../engine/clock.ts'

/** Types of storage events (specification, Storage event types). */
export const STORAGE_EVENT_TYPES = EVENT_TYPES
export type StorageEventType = EventType

/**
 * A place among the storage events: the entry that made one, and its number within the entry. Events are in this order, it
 * is the order of their changes, and it never changes.
 */
export interface EventPosition {
  readonly sequence: Sequence
  readonly index: number
}

/** More than any entry has: an entry is 32 KiB at most. */
export const EVENT_INDEX_MAXIMUM = 9999

/** Members of a storage event beyond its fields (spec/manual/management/events.md); never a key, token or password. */
export type EventMetadata = Readonly<Record<string, string | number | boolean>>

/** One storage event (specification, Storage event). */
export interface StorageEvent extends EventPosition {
  readonly timeMicroseconds: Microseconds
  readonly type: StorageEventType
  readonly bucket: string
  /** The key; undefined for events of buckets. */
  readonly object: string | undefined
  /** As clients see it; undefined for events of buckets, and where no version was made. */
  readonly versionId: string | undefined
  /** Bytes; undefined for events of buckets. */
  readonly size: number | undefined
  readonly metadata: EventMetadata
}

/** The id of an event: the same for ever, and in the order of the events. */
export function storageEventId({ sequence, index }: EventPosition): string {
  return `${eventId(sequence)}-${String(index).padStart(4, '0')}`
}

/** The form of an event as JSON: the body of a webhook, a member of a page, a line of the stream. */
export function eventResource(event: StorageEvent) {
  const { type, timeMicroseconds, bucket, object, versionId, size, metadata } = event
  return {
    id: storageEventId(event),
    type,
    time: rfc3339(timeMicroseconds),
    bucket,
    // JSON leaves out undefined members.
    object,
    version_id: versionId,
    size,
    metadata,
  }
}
