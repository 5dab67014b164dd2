import type { BucketId, Microseconds, PayloadId, Sequence, UploadId, VolumeNumber } from '../brands.ts'
import type { DomainErrorCode } from '../domain/error-table.ts'
import type { AuditContext, Pairs } from '../events/audit.ts'
import type { ChangeNamed } from '../events/changes.ts'
import type {
  AgePosition,
  CorsRule,
  DefaultRetention,
  HeaderPairs,
  LifecycleAction,
  LifecycleRule,
  LockState,
  ObjectChecksum,
  Quota,
  Retention,
  ScrubDamage,
  ScrubProgress,
  UploadChecksum,
} from '../events/values.ts'
import type { VersionName, VersionSelector } from './version-name.ts'
import type { AccessCommands } from '../access/commands.ts'
import type { CheckpointCommands } from '../checkpoints/commands.ts'
import type { SharingCommands } from '../links/commands.ts'
import type { WebhookCommands } from '../webhooks/commands.ts'

/**
 * Condition of a write, judged when the engine decides it (RFC 9110 section 13, as S3 has it): `absent` is
 * `If-None-Match: *`, `exists` is `If-Match: *`, `matches` is `If-Match` with ETags (no quotes), `differs` is
 * `If-None-Match` with ETags.
 */
export type WriteCondition =
  | { readonly kind: 'none' | 'absent' | 'exists' }
  | { readonly kind: 'matches' | 'differs'; readonly etags: readonly string[] }

/** The bytes of an object to be written. */
export type WriteBody =
  | { readonly kind: 'empty' }
  /** Small: the bytes travel with the command and go into a volume. `checksum` is their CRC-32. */
  | { readonly kind: 'inline'; readonly bytes: Uint8Array; readonly checksum: number; readonly sealed: boolean }
  /** Large: already durable in a payload file of this name. */
  | { readonly kind: 'file'; readonly name: string; readonly sealed: boolean }

/** A small payload to be copied into the current volume. */
export interface PayloadMove {
  readonly payload: PayloadId
  /** Where the bytes were read; a payload that is no longer there is left alone. */
  readonly volume: VolumeNumber
  readonly offset: number
  readonly bytes: Uint8Array
  readonly checksum: number
}

interface ObjectName {
  bucket: string
  key: string
}

interface UploadName extends ObjectName {
  upload: UploadId
}

interface Described {
  headers: HeaderPairs
  metadata: HeaderPairs
}

/** The version that a copy is made of. */
export interface CopySourceName {
  readonly sourceBucket: string
  readonly sourceKey: string
  /** Sequence of the source when the caller judged its conditions; another one now is `source-changed`. */
  readonly sourceSequence: Sequence
  /** Whether the request named a version of the source; otherwise the source is the current object. */
  readonly sourceIsVersion: boolean
}

/** The fields of each command that changes state. */
interface DecidableCommands extends AccessCommands, WebhookCommands, SharingCommands, CheckpointCommands {
  'create-bucket': { bucket: string; region: string; lockEnabled: boolean }
  'delete-bucket': { bucket: string }
  /** Enables or suspends versioning; it can never be off again. */
  'set-versioning': { bucket: string; versioning: 'enabled' | 'suspended' }
  /** Sets or removes the default retention of a bucket with Object Lock. */
  'set-default-retention': { bucket: string; retention: DefaultRetention | undefined }
  /** Replaces the CORS rules of a bucket; an empty list removes them. */
  'set-cors': { bucket: string; rules: readonly CorsRule[] }
  'set-quota': { bucket: string; quota: Quota }
  /** The caller makes the id; an id already in use is refused. */
  'create-lifecycle-rule': { bucket: string; rule: LifecycleRule }
  /** Replaces all of a rule but its id. */
  'replace-lifecycle-rule': { bucket: string; rule: LifecycleRule }
  'delete-lifecycle-rule': { rule: string }
  'write-object': ObjectName &
    Described & {
      size: number
      etag: string
      /** SHA-256 of the bytes. */
      digest: Uint8Array
      body: WriteBody
      condition: WriteCondition
      /** The lock that the request asks for; without a retention in it the bucket's default applies. */
      lock?: LockState
      /** The client's checksum of the whole body, already checked. */
      checksum?: ObjectChecksum
    }
  /** Appends bytes to the current object, or creates the object. */
  'append-object': Omit<DecidableCommands['write-object'], 'size'> & {
    /** Bytes of the object before, which must be as the caller expects. */
    offset: number
    /** Bytes that come after them. */
    size: number
  }
  'copy-object': ObjectName & {
    /** Replaces the source's headers and metadata; undefined copies them. */
    replacement: Readonly<Described> | undefined
    condition: WriteCondition
    lock?: LockState
  } & CopySourceName
  /** Gives the object of a bucket without versioning another key. */
  'rename-object': ObjectName & {
    sourceKey: string
    /** Sequence of the source when the caller judged its conditions, undefined where there was none; see `copy-object`. */
    sourceSequence: Sequence | undefined
    /** On the current object of the new key. */
    condition: WriteCondition
    /** Names the request while its object exists: a repeat with the same token changes nothing. */
    token?: string
  }
  'delete-object': ObjectName & {
    /** The version to remove for ever; undefined deletes the key according to the bucket's versioning. */
    version?: VersionSelector
    condition: WriteCondition
    /** The caller may bypass governance retention, and asked for it. */
    bypassGovernance: boolean
  }
  /** Sets or removes the retention of a version; an undefined version is the current object. */
  'set-retention': ObjectName & {
    version: VersionSelector | undefined
    retention: Retention | undefined
    bypassGovernance: boolean
  }
  'set-legal-hold': ObjectName & { version: VersionSelector | undefined; hold: boolean }
  /** Starts a multipart upload; the sequence of `Done` is its id. */
  'create-upload': ObjectName & Described & { lock?: LockState; checksum?: UploadChecksum }
  'write-part': UploadName & {
    /** 1 to 10,000. */
    part: number
    size: number
    /** MD5 in hexadecimal. */
    etag: string
    digest: Uint8Array
    body: WriteBody
    /** The client's checksum of the bytes, already checked. */
    checksum?: ObjectChecksum
  }
  /** Makes a part of all bytes of a version, by reference; its payload must not be one of parts, which has no MD5. */
  'copy-part': UploadName & CopySourceName & { part: number }
  /** Makes an object of the listed parts. */
  'complete-upload': UploadName & {
    /** Part numbers, strictly ascending, at least one. */
    parts: Uint16Array
    /** The MD5 that the client has for each of them, 16 bytes each. */
    md5s: Uint8Array
    /** Of the object: the MD5 of the parts' MD5s, and their number. */
    etag: string
    condition: WriteCondition
    /** The checksums that the client has for them, by the algorithm of the upload: `given` is 1 for each that it lists. */
    checksums?: { readonly values: Uint8Array; readonly given: Uint8Array }
    /** Checksum of the whole object, if the client gave one. */
    checksum?: ObjectChecksum
  }
  'abort-upload': UploadName
  /**
   * Drops an upload whose bucket was deleted, or that was never completed. Sent by the store's own workers, like the
   * commands below.
   */
  'reclaim-upload': { bucketId: BucketId; key: string; upload: UploadId }
  /** Compaction; at most 256 payloads. */
  'move-payloads': { moves: readonly PayloadMove[] }
  /** The end of compaction of a volume; does nothing while something in it is still referred to. */
  'remove-volume': { volume: VolumeNumber }
  /** Records the digest of a multipart payload, which is computed after its completion. */
  'record-digest': { payload: PayloadId; digest: Uint8Array }
  /** Starts a pass of the scrub, unless one is running. */
  'begin-scrub': object
  /** Progress of the running pass, and its findings since the record before; at most 256 damages. */
  'record-scrub': { progress: ScrubProgress; damage: readonly ScrubDamage[] }
}

type DecidableKind = keyof DecidableCommands

/** A command of one kind. */
export type CommandOf<K extends DecidableKind> = Readonly<DecidableCommands[K]> & {
  readonly kind: K
  /** The requester. */
  readonly audit: AuditContext
  /** Sequence of an attempt that is in the journal already (a long upload); without it the engine writes one. */
  readonly intent?: Sequence
}

/** Commands that change state; the others only put records into the journal. */
export type DecidableCommand = { [K in DecidableKind]: CommandOf<K> }[DecidableKind]

/**
 * `record-attempt`: the attempt of a long operation, before it starts. `record-read`: a read whose record must be
 * durable before any of its answer is sent, such as an export of the audit log.
 */
interface RecordOnly<K extends 'record-attempt' | 'record-read'> {
  readonly kind: K
  readonly audit: AuditContext
}

/** A change that was authorized and failed before it reached the engine: its attempt and its outcome. */
interface RecordFailedChange {
  readonly kind: 'record-failed-change'
  readonly audit: AuditContext
  readonly result: 'denied' | 'failure'
  /** Further metadata of the outcome; the attempt does not have it. */
  readonly details?: Pairs
}

/** One page of a lifecycle rule: the entries that were due when it was read, in the order of age. */
interface ExpirePage {
  readonly kind: 'expire-page'
  /** Principal of the removals; operation, resource and metadata come from each entry. */
  readonly audit: AuditContext
  readonly bucket: string
  /** A bucket of the same name that was created since is another one. */
  readonly bucketId: BucketId
  readonly rule: string
  /** The rule's prefix when the page was read: a rule whose prefix has changed since starts over. */
  readonly prefix: string
  readonly action: LifecycleAction
  /** False for entries out of the order of age, and after an entry that failed. */
  readonly movesCursor: boolean
  readonly entries: readonly ({ readonly key: string } & AgePosition)[]
  /** Where the page ended: it may have passed keys of other prefixes after its last entry. */
  readonly through: AgePosition | undefined
  /** That the clock cannot be trusted is recorded already. */
  readonly clockIsNoted: boolean
}

/** One key of a batch of deletions. */
export interface Deletion {
  readonly key: string
  /** As in `delete-object`. */
  readonly version?: VersionSelector
  readonly condition: WriteCondition
  /** Metadata appended to the command's own in the records of this key. */
  readonly metadata: Pairs
  /** The sender has refused it, and nothing is deleted: only the records are made that it would have alone. */
  readonly refusal?: DeletionRefusal
}

/** How the sender of a batch refused one key of it. */
export interface DeletionRefusal {
  readonly result: 'denied' | 'failure'
  /** Further metadata of the outcome. */
  readonly details: Pairs
  /** Whether it was authorized, and so has an attempt. */
  readonly isAuthorized: boolean
}

/**
 * Deletions of several keys of one bucket, in their order. Each is a `delete-object` of its own, judged and recorded as
 * if it had come alone. They are in one batch of the journal as far as it holds them; the rest is not carried out.
 */
interface DeleteObjects {
  readonly kind: 'delete-objects'
  /** Principal of the deletions; the resource is each key. */
  readonly audit: AuditContext
  readonly bucket: string
  /** As in `delete-object`, for every key. */
  readonly bypassGovernance: boolean
  /** At least one. */
  readonly deletions: readonly Deletion[]
}

/** Outcome for one key of a batch: deleted, with fields of `Done`; refused by the rules; refused by the sender. */
export type DeletionOutcome =
  | { readonly kind: 'deleted'; readonly version?: VersionName; readonly marker?: boolean }
  | { readonly kind: 'failed'; readonly code: DomainErrorCode; readonly subject: string | undefined }
  | { readonly kind: 'refused' }

/**
 * Outcome of a page. `end`: all entries were judged; the batch was full before; the next entry is too young or the rule
 * is gone; the clock is behind.
 */
export interface PageOutcome {
  /** Entries that were judged. */
  readonly scanned: number
  readonly expired: number
  readonly held: number
  readonly failed: number
  readonly end: 'done' | 'full' | 'waits' | 'clock'
}

/** Events of the server itself. They have no attempt, since no client asked for them. */
interface RecordServerEvent {
  readonly kind: 'record-server-event'
  readonly audit: AuditContext
  readonly changes: readonly ChangeNamed<
    | 'journal.recovered'
    | 'journal.restored'
    | 'server.started'
    | 'server.stopped'
    | 'clock.observed'
    | 'access.adopted'
    | 'master-key.changed'
    | 'checkpoint.key-rotated'
  >[]
}

export type Command =
  | DecidableCommand
  | RecordOnly<'record-attempt'>
  | RecordOnly<'record-read'>
  | RecordFailedChange
  | RecordServerEvent
  | ExpirePage
  | DeleteObjects

/** The result of a successful command. */
export interface Done {
  /** Sequence of the entry that records the outcome (or the attempt, for `record-attempt`). */
  readonly sequence: Sequence
  readonly timeMicroseconds: Microseconds
  /** ETag of the object or part written. */
  readonly etag?: string
  /** Sequence of the version or marker that was written or deleted; `null` for the `null` version. */
  readonly version?: VersionName
  /** Whether that is a delete marker. */
  readonly marker?: boolean
  /** Outcome of a page of a lifecycle rule. */
  readonly page?: PageOutcome
  /** Outcomes of the first deletions of a batch, at least of one; the rest was not carried out. */
  readonly deletions?: readonly DeletionOutcome[]
}
