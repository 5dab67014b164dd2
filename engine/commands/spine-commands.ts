/** The commands on buckets, objects, uploads and payloads. */
import type { BucketId, PayloadId, Sequence, UploadId, VolumeNumber } from '../brands.ts'
import type { AuditContext } from '../events/audit.ts'
import type {
  CorsRule,
  DefaultRetention,
  HeaderPairs,
  LockState,
  ObjectChecksum,
  Quota,
  Retention,
  UploadChecksum,
} from '../events/values.ts'
import type { VersionSelector } from './version-name.ts'

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

/** Key, value, key, value, each key once: within the bounds of `domain/tags.ts`. */
type Tags = readonly string[]

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

/** The fields of each command that changes state and belongs to no feature. */
export interface SpineCommands {
  'create-bucket': { bucket: string; region: string; lockEnabled: boolean }
  'delete-bucket': { bucket: string }
  /** Enables or suspends versioning; it can never be off again. */
  'set-versioning': { bucket: string; versioning: 'enabled' | 'suspended' }
  /** Sets or removes the default retention of a bucket with Object Lock. */
  'set-default-retention': { bucket: string; retention: DefaultRetention | undefined }
  /** Replaces the CORS rules of a bucket; an empty list removes them. */
  'set-cors': { bucket: string; rules: readonly CorsRule[] }
  'set-quota': { bucket: string; quota: Quota }
  /** Replaces the tags of a bucket; an empty list removes them. */
  'set-bucket-tags': { bucket: string; tags: Tags }
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
      tags?: Tags
    }
  /** Appends bytes to the current object, or creates the object. */
  'append-object': Omit<SpineCommands['write-object'], 'size' | 'tags'> & {
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
    /** Replaces the source's tags; without it they are copied. */
    tags?: Tags
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
  /** Replaces the tags of a version; an undefined version is the current object, an empty list removes them. */
  'set-tags': ObjectName & { version: VersionSelector | undefined; tags: Tags }
  /** Starts a multipart upload; the sequence of `Done` is its id. */
  'create-upload': ObjectName & Described & { lock?: LockState; checksum?: UploadChecksum; tags?: Tags }
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
}

/** A command of one kind, as it is sent. */
export type Sent<Commands, K extends keyof Commands> = Readonly<Commands[K]> & {
  readonly kind: K
  /** The requester. */
  readonly audit: AuditContext
  /** Sequence of an attempt that is in the journal already (a long upload); without it the engine writes one. */
  readonly intent?: Sequence
}

/** A command of the spine, of one kind. */
export type SpineCommand<K extends keyof SpineCommands> = { [One in K]: Sent<SpineCommands, One> }[K]
