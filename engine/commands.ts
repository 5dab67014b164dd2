import type { AuditContext, Pairs } from './events/audit.ts'
import type { HeaderPairs, JournalRecovered, ServerStarted, ServerStopped } from './events/changes.ts'

/** What every command carries: who asks, and the attempt that is already in the journal, if it is. */
interface CommandBase {
  readonly audit: AuditContext
  /** Sequence of an attempt recorded earlier (a long upload); otherwise the engine writes one. */
  readonly intent?: number
}

/**
 * Condition under which a write takes place, judged at the moment of publication (RFC 9110 section 13, as S3 has it):
 * `absent` is `If-None-Match: *`, `exists` is `If-Match: *`, `matches` is `If-Match` with ETags (no quotes).
 */
export type WriteCondition =
  | { readonly kind: 'none' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'exists' }
  | { readonly kind: 'matches'; readonly etags: readonly string[] }

/** The bytes of an object to be written. */
export type WriteBody =
  | { readonly kind: 'empty' }
  /** Small: the bytes travel with the command and go into a volume. `checksum` is their CRC-32. */
  | { readonly kind: 'inline'; readonly bytes: Uint8Array; readonly checksum: number }
  /** Large: already durable in a payload file of this name. */
  | { readonly kind: 'file'; readonly name: string }

export interface CreateBucket extends CommandBase {
  readonly kind: 'create-bucket'
  readonly bucket: string
  readonly region: string
}

export interface DeleteBucket extends CommandBase {
  readonly kind: 'delete-bucket'
  readonly bucket: string
}

export interface WriteObject extends CommandBase {
  readonly kind: 'write-object'
  readonly bucket: string
  readonly key: string
  readonly size: number
  readonly etag: string
  /** SHA-256 of the bytes. */
  readonly digest: Uint8Array
  readonly headers: HeaderPairs
  readonly metadata: HeaderPairs
  readonly body: WriteBody
  readonly condition: WriteCondition
}

export interface CopyObject extends CommandBase {
  readonly kind: 'copy-object'
  readonly sourceBucket: string
  readonly sourceKey: string
  /** Sequence of the source as the caller saw it when it judged conditions; another one now is `source-changed`. */
  readonly sourceSequence: number
  readonly bucket: string
  readonly key: string
  /** What replaces the source's headers and metadata; undefined copies them. */
  readonly replacement: { readonly headers: HeaderPairs; readonly metadata: HeaderPairs } | undefined
  readonly condition: WriteCondition
}

export interface DeleteObject extends CommandBase {
  readonly kind: 'delete-object'
  readonly bucket: string
  readonly key: string
  /** A certain version; objects of a bucket without versioning are the version `null`. */
  readonly version?: string
  readonly condition: WriteCondition
}

/** Puts the attempt of a long operation into the journal before the operation begins. */
export interface RecordAttempt {
  readonly kind: 'record-attempt'
  readonly audit: AuditContext
}

/** A change that was authorized and failed before it reached the engine: its attempt and its outcome. */
export interface RecordFailedChange {
  readonly kind: 'record-failed-change'
  readonly audit: AuditContext
  readonly result: 'denied' | 'failure'
  /** Further metadata of the outcome; the attempt knows nothing of it. */
  readonly details?: Pairs
}

/** Facts of the server's own life; they have no attempt, since nobody asked for them. */
export interface RecordServerEvent {
  readonly kind: 'record-server-event'
  readonly audit: AuditContext
  readonly changes: readonly (JournalRecovered | ServerStarted | ServerStopped)[]
}

export type Command =
  | CreateBucket
  | DeleteBucket
  | WriteObject
  | CopyObject
  | DeleteObject
  | RecordAttempt
  | RecordFailedChange
  | RecordServerEvent

/** What a command that was carried out tells its caller. */
export interface Done {
  /** Sequence of the entry that records the outcome (or the attempt, for `record-attempt`). */
  readonly sequence: number
  readonly timeMicroseconds: number
  /** ETag of the object written. */
  readonly etag?: string
}
