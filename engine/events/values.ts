/** Values of changes other than numbers and texts, in the program and as stored. */
import {
  checksum,
  checksumValue,
  clientToken,
  headerText,
  identifier,
  objectKey,
  payloadName,
  volumeLength,
} from './names.ts'
import { field, record, trailing, union } from './schema/record.ts'
import {
  bucketId,
  bytes,
  eitherOf,
  flag,
  integer,
  listOf,
  microseconds,
  milliseconds,
  optional,
  orZero,
  payloadId,
  sequence,
  text,
  type ValueOf,
  volumeNumber,
  whole,
  wordOf,
} from './schema/kinds.ts'

/** Name and value pairs, flat, in the order they were sent. */
export type HeaderPairs = readonly string[]

/** The media type among stored headers. */
export function contentTypeOf(headers: HeaderPairs): string | undefined {
  for (let at = 0; at < headers.length; at += 2) if (headers[at] === 'content-type') return headers[at + 1]
  return undefined
}

const encrypted = trailing(flag, false, 'encrypted', 'what that is: `payloads.md`')

/** Where the bytes of an object are. */
export const payloadReference = union('payload', {
  shared: {
    code: 0,
    meaning: 'bytes stored earlier, shared (a copy, or the parts of an upload)',
    fields: { payload: field(payloadId, 'payload id') },
  },
  volume: {
    code: 1,
    meaning: 'bytes in a volume',
    fields: {
      payload: field(payloadId, 'payload id'),
      volume: field(volumeNumber, 'volume number'),
      offset: field(integer, 'offset', 'of the bytes in the volume'),
      length: field(volumeLength, 'length', 'of what is stored there; longer than the object when encrypted'),
      checksum: field(checksum, 'CRC-32', 'of what is stored there'),
      sealed: encrypted,
    },
  },
  file: {
    code: 2,
    meaning: 'bytes in a file of their own',
    fields: {
      payload: field(payloadId, 'payload id'),
      name: field(payloadName, 'file name'),
      length: field(integer, 'length', 'of the object or part, encrypted or not'),
      sealed: encrypted,
    },
  },
})
export type PayloadReference = ValueOf<typeof payloadReference>

/** Checksums that a client may give with the bytes of an object (S3 API reference, PutObject), and their length in bytes. */
export const CHECKSUM_BYTES = { crc32: 4, crc32c: 4, crc64nvme: 8, sha1: 20, sha256: 32 } as const
export type ChecksumAlgorithm = keyof typeof CHECKSUM_BYTES
/** In the order of their codes in the journal. */
export const CHECKSUM_ALGORITHMS = [
  'crc32',
  'crc32c',
  'crc64nvme',
  'sha1',
  'sha256',
] as const satisfies ChecksumAlgorithm[]

/**
 * The checksum of the whole object: the client's, checked against the body; for an object of parts computed from the
 * parts' checksums as its upload asked.
 */
export const objectChecksum = record('checksum', {
  algorithm: field(wordOf(CHECKSUM_ALGORITHMS), 'algorithm'),
  value: field(checksumValue, 'value', 'numbers are big-endian'),
  composite: trailing(flag, false, 'composite', 'of the checksums of the parts, not of the bytes'),
})
export type ObjectChecksum = ValueOf<typeof objectChecksum>

/** The checksum that a multipart upload asks for. */
export const uploadChecksum = record('asked checksum', {
  algorithm: field(wordOf(CHECKSUM_ALGORITHMS), 'algorithm'),
  composite: trailing(flag, false, 'composite', 'of the checksums of the parts, not of the bytes'),
})
export type UploadChecksum = ValueOf<typeof uploadChecksum>

/** Versioning of a bucket; `off` until it is set for the first time, and never again. */
export type Versioning = 'off' | 'enabled' | 'suspended'

export const RETENTION_MODES = ['GOVERNANCE', 'COMPLIANCE'] as const
export type RetentionMode = (typeof RETENTION_MODES)[number]
const mode = field(wordOf(RETENTION_MODES), 'mode')

/** Retention of a version. */
export const retention = record('retention', {
  mode,
  untilMilliseconds: field(milliseconds, 'end', 'the first moment that is not retained'),
})
export type Retention = ValueOf<typeof retention>

/** Object Lock of a version. */
export const lockState = record('lock', {
  retention: field(optional(retention), 'retention'),
  hold: field(optional(flag), 'hold', 'nil when no legal hold was ever put or lifted'),
})
export type LockState = ValueOf<typeof lockState>

/** Days, or years; a hundred years of days are the most that can be asked for. */
const days = whole<number>('count', 36_500, 1)

/** Retention that a bucket gives to every version written without one. */
export const defaultRetention = record('default retention', {
  mode,
  unit: field(eitherOf('days', 'years'), 'unit', 'a year has 365 days'),
  value: field(days, 'value', '1 to 36,500'),
})
export type DefaultRetention = ValueOf<typeof defaultRetention>

const texts = listOf(text)
const headerTexts = listOf(headerText)

/** One rule of a bucket's CORS configuration, as it was put (S3 API reference, CORSRule). */
export const corsRule = record('CORS rule', {
  id: field(optional(text), 'id'),
  origins: field(headerTexts, 'origins'),
  methods: field(headerTexts, 'methods'),
  headers: field(headerTexts, 'headers'),
  exposed: field(headerTexts, 'exposed headers'),
  maxAgeSeconds: field(optional(integer), 'maximum age', 'in seconds'),
})
export type CorsRule = ValueOf<typeof corsRule>
export const corsRules = listOf(corsRule)

/** Days until something expires; a hundred years at most (specification, Limits). */
export const EXPIRY_DAYS = { minimum: 1, maximum: 36_500 } as const

/** One lifecycle rule of a bucket (specification, Lifecycle rule). At least one of its periods is given. */
export const lifecycleRule = record('lifecycle rule', {
  rule: field(identifier, 'rule id'),
  prefix: field(text, 'prefix', 'of the keys that it is about; all begin with the empty one'),
  enabled: field(flag, 'enabled'),
  expirationDays: field(optional(days), 'expiration', 'days from the writing of a current object'),
  noncurrentDays: field(optional(days), 'noncurrent expiration', 'days from when a version became noncurrent'),
})
export type LifecycleRule = ValueOf<typeof lifecycleRule>

/** Actions of a lifecycle rule. */
export const LIFECYCLE_ACTIONS = ['expiration', 'noncurrent-expiration'] as const
export type LifecycleAction = (typeof LIFECYCLE_ACTIONS)[number]

/** A place in the order of age, which is by time and then by version. */
export const agePosition = record('age', {
  timeMicroseconds: field(microseconds, 'time'),
  version: field(sequence, 'version'),
})
export type AgePosition = ValueOf<typeof agePosition>

/** Limits of a bucket on the current versions of its objects; undefined is unlimited. */
export interface Quota {
  readonly bytes: number | undefined
  readonly objects: number | undefined
}

/** How a new version or marker of a versioned bucket joins the others of its key. */
export const versionPlace = record('place', {
  isNull: field(flag, 'is null', 'whether the version id is `null`'),
  replacesNull: field(orZero(sequence), 'replaced', 'the version or marker with the id `null` that goes'),
})
export type VersionPlace = ValueOf<typeof versionPlace>

/** Source of a copy, or the object that a rename found under the old key, for its storage event. */
export const copySource = record('source', {
  bucketId: field(bucketId, 'bucket id'),
  key: field(objectKey, 'key'),
  version: field(sequence, 'version'),
  isNull: field(flag, 'is null', 'whether the version id is `null`'),
  restores: field(
    flag,
    'restores',
    'whether it was an earlier version of the same key, which is current again by the copy',
  ),
  token: trailing(optional(clientToken), undefined, 'client token', 'of a rename'),
})
export type CopySource = ValueOf<typeof copySource>

/** The version that was removed for ever, for its storage event. */
export const removedVersion = record('removed', {
  isNull: field(flag, 'is null', 'whether the version id was `null`'),
  isMarker: field(flag, 'is marker'),
  size: field(integer, 'size'),
})

/** The version that became current when a newer one was removed, for its storage event. */
export const promotedVersion = record('current', {
  isNull: field(flag, 'is null', 'whether the version id is `null`'),
  size: field(integer, 'size'),
  etag: field(headerText, 'ETag', 'without quotes'),
  contentType: field(optional(headerText), 'content type'),
})

/** One rule of a policy (specification, Policy). */
export const policyStatement = record('statement', {
  effect: field(eitherOf('allow', 'deny'), 'effect'),
  actions: field(texts, 'actions', 'names such as `s3:GetObject`, or with a `*` at the end'),
  resources: field(texts, 'resources', 'such as `bucket:photos/2026/*`: decoded keys, a wildcard only at the end'),
})
export type PolicyStatement = ValueOf<typeof policyStatement>
export const policyStatements = listOf(policyStatement)

/** Roles of the management plane, in the order of their codes in the journal. */
export const MANAGEMENT_ROLES = ['system-administrator', 'storage-administrator', 'auditor'] as const
export type ManagementRole = (typeof MANAGEMENT_ROLES)[number]

/**
 * What happens to buckets and objects (specification, Storage event types), in the order of their codes in the journal.
 */
export const EVENT_TYPES = [
  'bucket.created',
  'bucket.deleted',
  'object.created',
  'object.updated',
  'object.deleted',
  'object.restored',
  'multipart.completed',
  'multipart.aborted',
  'object.tagged',
  'object.untagged',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** Which storage event: the sequence of its entry, and its place among the events of this entry. */
export const eventPlace = record('event', {
  sequence: field(sequence, 'sequence', 'of its entry'),
  index: field(integer, 'index', 'among the events of its entry, from 0'),
})
export type EventPlace = ValueOf<typeof eventPlace>

/** One POST to the target of a webhook, and its outcome. */
export const deliveryAttempt = record('attempt', {
  event: field(eventPlace, 'event'),
  attempt: field(integer, 'attempt', 'from 1'),
  timeMicroseconds: field(microseconds, 'time', 'when it began'),
  status: field(optional(integer), 'status', 'of the HTTP response; nil without one'),
  error: field(optional(text), 'error', 'what went wrong, at most 256 bytes; nil after a 2xx'),
  nextMicroseconds: field(optional(microseconds), 'next', 'when it is tried again; nil when it is over'),
})
export type DeliveryAttempt = ValueOf<typeof deliveryAttempt>

/** A version that a link was made for; nothing else is ever sent for it. */
export const pinnedVersion = record('pinned version', {
  sequence: field(sequence, 'version'),
  isNull: field(flag, 'null', 'whether its id is `null`'),
})
export type PinnedVersion = ValueOf<typeof pinnedVersion>

/** Verifier of a password, never the password (scrypt, RFC 7914). Without the master key no guess can be checked. */
export const passwordRecord = record('password', {
  salt: field(bytes, 'salt'),
  hash: field(
    bytes,
    'hash',
    'HMAC-SHA256, under a key of the store, of 32 bytes of scrypt of the SHA-256 of the password',
  ),
  cost: field(integer, 'cost', 'N, a power of two'),
  blockSize: field(integer, 'block size', 'r'),
  parallelization: field(integer, 'parallelization', 'p'),
})
export type PasswordRecord = ValueOf<typeof passwordRecord>

/** Stages of a pass, in this order; `over` is its end. */
const SCRUB_STAGES = ['payloads', 'segments', 'over'] as const

/** Kinds of damage: a payload, or a sealed segment of the journal. */
const SCRUBBED_KINDS = ['payload', 'segment'] as const

/** A version of an object that a damaged payload belongs to, or a part of an upload in progress. */
export const damagedObject = record('damaged object', {
  bucketId: field(bucketId, 'bucket id'),
  key: field(objectKey, 'key'),
  version: field(optional(pinnedVersion), 'version', 'nil: a part of an upload in progress'),
})

export const scrubProgress = record('scrub progress', {
  startedMicroseconds: field(microseconds, 'begin of the pass'),
  stage: field(wordOf(SCRUB_STAGES), 'stage'),
  place: field(integer, 'place', 'the payload id, or the first sequence of a segment, from which it goes on'),
  payloads: field(integer, 'payloads read'),
  segments: field(integer, 'segments read'),
  bytes: field(integer, 'bytes read'),
  damaged: field(integer, 'damaged', 'payloads and segments that this pass found damaged'),
})
export type ScrubProgress = ValueOf<typeof scrubProgress>

export const scrubDamage = record('scrub damage', {
  kind: field(wordOf(SCRUBBED_KINDS), 'kind'),
  number: field(integer, 'number', 'payload id, or first sequence of the segment'),
  reason: field(text, 'reason', 'at most 256 bytes'),
  objects: field(listOf(damagedObject), 'objects', 'at most 10 that the payload belongs to'),
})
export type ScrubDamage = ValueOf<typeof scrubDamage>

/**
 * Kinds of outside parties that vouch for a checkpoint: a timestamp authority (RFC 3161), a witness (C2SP
 * tlog-cosignature), a lock.
 */
export const RECEIPT_KINDS = ['rfc3161', 'cosignature', 'lock'] as const
export type ReceiptKind = (typeof RECEIPT_KINDS)[number]
