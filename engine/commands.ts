import type { AccessCommand } from './access-commands.ts'
import type { AuditContext, Pairs } from './events/audit.ts'
import type {
  ClockObserved,
  CorsRule,
  DefaultRetention,
  HeaderPairs,
  JournalRecovered,
  LockState,
  Quota,
  Retention,
  ServerStarted,
  ServerStopped,
} from './events/changes.ts'

/** What every command carries: who asks, and the attempt that is already in the journal, if it is. */
export interface CommandBase {
  readonly audit: AuditContext
  /** Sequence of an attempt recorded earlier (a long upload); otherwise the engine writes one. */
  readonly intent?: number
}

/**
 * Condition under which a write takes place, judged at the moment of publication (RFC 9110 section 13, as S3 has it):
 * `absent` is `If-None-Match: *`, `exists` is `If-Match: *`, `matches` is `If-Match` with ETags (no quotes), `differs`
 * is `If-None-Match` with ETags.
 */
export type WriteCondition =
  | { readonly kind: 'none' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'exists' }
  | { readonly kind: 'matches'; readonly etags: readonly string[] }
  | { readonly kind: 'differs'; readonly etags: readonly string[] }

/** The bytes of an object to be written. */
export type WriteBody =
  | { readonly kind: 'empty' }
  /** Small: the bytes travel with the command and go into a volume. `checksum` is their CRC-32. */
  | { readonly kind: 'inline'; readonly bytes: Uint8Array; readonly checksum: number; readonly sealed: boolean }
  /** Large: already durable in a payload file of this name. */
  | { readonly kind: 'file'; readonly name: string; readonly sealed: boolean }

/**
 * A certain version of a key: the one with the id `null`, or the one written by the entry of this sequence. A negative
 * number selects none: the caller named an id that was never given out.
 */
export type VersionSelector = 'null' | number

export interface CreateBucket extends CommandBase {
  readonly kind: 'create-bucket'
  readonly bucket: string
  readonly region: string
  readonly lockEnabled: boolean
}

/** Enables or suspends versioning; it can never be off again. */
export interface SetVersioning extends CommandBase {
  readonly kind: 'set-versioning'
  readonly bucket: string
  readonly versioning: 'enabled' | 'suspended'
}

/** Sets or removes the default retention of a bucket with Object Lock. */
export interface SetDefaultRetention extends CommandBase {
  readonly kind: 'set-default-retention'
  readonly bucket: string
  readonly retention: DefaultRetention | undefined
}

/** Replaces the CORS rules of a bucket; an empty list removes them. */
export interface SetCors extends CommandBase {
  readonly kind: 'set-cors'
  readonly bucket: string
  readonly rules: readonly CorsRule[]
}

export interface SetQuota extends CommandBase {
  readonly kind: 'set-quota'
  readonly bucket: string
  readonly quota: Quota
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
  /** What the request asks for; the bucket's default fills in a missing retention. */
  readonly lock?: LockState
}

export interface CopyObject extends CommandBase {
  readonly kind: 'copy-object'
  readonly sourceBucket: string
  readonly sourceKey: string
  /** Sequence of the source as the caller saw it when it judged conditions; another one now is `source-changed`. */
  readonly sourceSequence: number
  /** Whether the source was named by its version; otherwise it is the current object. */
  readonly sourceIsVersion: boolean
  readonly bucket: string
  readonly key: string
  /** What replaces the source's headers and metadata; undefined copies them. */
  readonly replacement: { readonly headers: HeaderPairs; readonly metadata: HeaderPairs } | undefined
  readonly condition: WriteCondition
  readonly lock?: LockState
}

export interface DeleteObject extends CommandBase {
  readonly kind: 'delete-object'
  readonly bucket: string
  readonly key: string
  /** A certain version, to be removed for ever; undefined deletes the key as the bucket's versioning has it. */
  readonly version?: VersionSelector
  readonly condition: WriteCondition
  /** The caller may bypass governance retention, and asked for it. */
  readonly bypassGovernance: boolean
}

/** Sets or removes the retention of a version. */
export interface SetRetention extends CommandBase {
  readonly kind: 'set-retention'
  readonly bucket: string
  readonly key: string
  /** Undefined is the current object. */
  readonly version: VersionSelector | undefined
  readonly retention: Retention | undefined
  readonly bypassGovernance: boolean
}

export interface SetLegalHold extends CommandBase {
  readonly kind: 'set-legal-hold'
  readonly bucket: string
  readonly key: string
  readonly version: VersionSelector | undefined
  readonly hold: boolean
}

/** Begins a multipart upload; the sequence of `Done` is its number. */
export interface CreateUpload extends CommandBase {
  readonly kind: 'create-upload'
  readonly bucket: string
  readonly key: string
  readonly headers: HeaderPairs
  readonly metadata: HeaderPairs
  readonly lock?: LockState
}

export interface WritePart extends CommandBase {
  readonly kind: 'write-part'
  readonly bucket: string
  readonly key: string
  readonly upload: number
  /** 1 to 10,000. */
  readonly part: number
  readonly size: number
  /** MD5 in hexadecimal. */
  readonly etag: string
  readonly digest: Uint8Array
  readonly body: WriteBody
}

/** Makes an object of the listed parts. */
export interface CompleteUpload extends CommandBase {
  readonly kind: 'complete-upload'
  readonly bucket: string
  readonly key: string
  readonly upload: number
  /** Part numbers, strictly ascending, at least one. */
  readonly parts: Uint16Array
  /** The MD5 of each of them as the client knows it, 16 bytes each. */
  readonly md5s: Uint8Array
  /** Of the object to be: the MD5 of those MD5s, and their number. */
  readonly etag: string
  readonly condition: WriteCondition
}

export interface AbortUpload extends CommandBase {
  readonly kind: 'abort-upload'
  readonly bucket: string
  readonly key: string
  readonly upload: number
}

/** Drops an upload whose bucket is no more. Asked for by the store itself. */
export interface ReclaimUpload extends CommandBase {
  readonly kind: 'reclaim-upload'
  readonly bucketId: number
  readonly key: string
  readonly upload: number
}

/** A small payload to be copied into the current volume. */
export interface PayloadMove {
  readonly payload: number
  /** Where the bytes were read; the payload is left alone when it is not there any more. */
  readonly volume: number
  readonly offset: number
  readonly bytes: Uint8Array
  readonly checksum: number
}

/** Compaction: asked for by the store itself. At most 256 payloads. */
export interface MovePayloads extends CommandBase {
  readonly kind: 'move-payloads'
  readonly moves: readonly PayloadMove[]
}

/** The end of compaction of a volume: refused quietly when something in it is still referred to. */
export interface RemoveVolume extends CommandBase {
  readonly kind: 'remove-volume'
  readonly volume: number
}

/** The digest of a multipart payload was computed. Asked for by the store itself. */
export interface RecordDigest extends CommandBase {
  readonly kind: 'record-digest'
  readonly payload: number
  readonly digest: Uint8Array
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

/** A read whose record must be durable before anything of what is read goes out: an export of the audit log. */
export interface RecordRead {
  readonly kind: 'record-read'
  readonly audit: AuditContext
}

/** Facts of the server's own life; they have no attempt, since nobody asked for them. */
export interface RecordServerEvent {
  readonly kind: 'record-server-event'
  readonly audit: AuditContext
  readonly changes: readonly (JournalRecovered | ServerStarted | ServerStopped | ClockObserved)[]
}

export type Command =
  | AccessCommand
  | CreateBucket
  | DeleteBucket
  | WriteObject
  | CopyObject
  | DeleteObject
  | SetVersioning
  | SetDefaultRetention
  | SetCors
  | SetQuota
  | SetRetention
  | SetLegalHold
  | CreateUpload
  | WritePart
  | CompleteUpload
  | AbortUpload
  | ReclaimUpload
  | MovePayloads
  | RemoveVolume
  | RecordDigest
  | RecordAttempt
  | RecordFailedChange
  | RecordRead
  | RecordServerEvent

/** What a command that was carried out tells its caller. */
export interface Done {
  /** Sequence of the entry that records the outcome (or the attempt, for `record-attempt`). */
  readonly sequence: number
  readonly timeMicroseconds: number
  /** ETag of the object or part written. */
  readonly etag?: string
  /** Sequence of the version or marker that was written or deleted, `null` for the one of that id; see `VersionIds`. */
  readonly version?: VersionSelector
  /** Whether that is a delete marker. */
  readonly marker?: boolean
}
