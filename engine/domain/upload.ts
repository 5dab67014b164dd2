import { type BucketId, payloadIdOf, type Sequence, type UploadId, uploadIdOf } from '../brands.ts'
import type { SpineCommand } from '../commands/spine-commands.ts'
import { DomainError } from '../errors.ts'
import type { BucketState, ObjectState, PartState, StateReader, UploadState } from '../state-ports.ts'
import { requireBucket } from './bucket.ts'
import { requireSource } from './copy-source.ts'
import { type Decision, NOTHING_CHANGES, type Rules } from './decision.ts'
import { defaultRetention, lockAtBirth, requireLockable } from './lock.ts'
import { payloadReference } from './object.ts'
import { PartSet } from './part-set.ts'
import { abortOf } from './upload-aborts.ts'
import { requirePartQuota, requireQuota, requireReceived, shared } from './quota.ts'
import { completedChecksum, isUploadChecksum, partChecksum } from './upload-checksums.ts'
import { tagsAtBirth } from './tags.ts'
import { placeVersion, selectorOf } from './versions.ts'
import { requireCondition } from './write-condition.ts'

/** S3 API reference, multipart upload limits. Bytes. */
export const PART_BYTES_MINIMUM = 5 * 1024 ** 2
export const OBJECT_BYTES_MAXIMUM = 5 * 1024 ** 4
const MD5_BYTES = 16
/** A worker computes the digest of a multipart payload after its completion. */
const DIGEST_PENDING = new Uint8Array(32)

type CompleteUpload = SpineCommand<'complete-upload'>

/** @throws DomainError bucket-not-found, upload-not-found */
function requireUpload(
  command: { readonly bucket: string; readonly key: string; readonly upload: UploadId },
  state: StateReader,
): { readonly bucket: BucketState; readonly upload: UploadState } {
  const bucket = requireBucket(state, command.bucket)
  const upload = state.upload(bucket.id, command.key, command.upload)
  if (upload === undefined) throw new DomainError('upload-not-found')
  return { bucket, upload }
}

/** @throws DomainError upload-not-found: never completed, or with another list, or the object it made is gone */
function completedBefore(command: CompleteUpload, bucket: BucketState, state: StateReader): Decision {
  const { key, upload, etag } = command
  const payload = state.payload(payloadIdOf(upload))
  const completion = payload?.kind === 'parts' ? payload.completion : undefined
  const made = completion === undefined ? undefined : versionMadeBy(completion, bucket.id, key, state)
  if (made?.etag !== etag) throw new DomainError('upload-not-found')
  const place = bucket.versioning === 'off' ? undefined : made
  return { changes: [], etag, ...selectorOf(place, made.sequence) }
}

/** The version that the entry of a sequence wrote, whatever its id. */
function versionMadeBy(
  sequence: Sequence,
  bucketId: BucketId,
  key: string,
  state: StateReader,
): ObjectState | undefined {
  const version = state.version(bucketId, key, sequence)
  if (version !== undefined) return version
  const other = state.version(bucketId, key, 'null')
  return other?.sequence === sequence ? other : undefined
}

/**
 * Compares the list with the parts that were uploaded.
 * @throws DomainError part-not-found, part-too-small; their subject is the part's number
 */
function takeParts(
  { upload, parts, md5s }: CompleteUpload,
  state: StateReader,
): { readonly size: number; readonly taken: PartState[]; readonly listed: Uint8Array; readonly dropped: Uint8Array } {
  const taken: PartState[] = []
  const listed = new PartSet()
  const dropped = new PartSet()
  let size = 0
  let index = 0
  let tooSmall: number | undefined
  for (const present of state.parts(upload)) {
    const wanted = parts[index]
    if (wanted !== present.part) {
      // Both ascend: a listed number below the next part was not uploaded.
      if (wanted !== undefined && wanted < present.part) break
      dropped.add(present.part)
      continue
    }
    requireSame(present, md5s.subarray(index * MD5_BYTES, (index + 1) * MD5_BYTES))
    index += 1
    if (present.size < PART_BYTES_MINIMUM && index < parts.length) tooSmall ??= present.part
    listed.add(present.part)
    taken.push(present)
    size += present.size
  }
  if (index < parts.length) throw new DomainError('part-not-found', String(parts[index]))
  if (tooSmall !== undefined) throw new DomainError('part-too-small', String(tooSmall))
  return { size, taken, listed: listed.bytes, dropped: dropped.bytes }
}

function requireSame(present: PartState, md5: Uint8Array): void {
  if (Buffer.compare(present.md5, md5) !== 0) throw new DomainError('part-not-found', String(present.part))
}

function aborted(bucketId: BucketId, key: string, upload: UploadId, state: StateReader): Decision {
  return { changes: [abortOf(bucketId, key, upload, state)] }
}

export const uploadRules = {
  /** The lock of the future object is checked here, and is not less than it is now (spec/decisions/0019). */
  'create-upload'(command, { state, now, sequence }) {
    const bucket = requireBucket(state, command.bucket)
    requireLockable(bucket, command.lock, now)
    const { key, headers, metadata, lock, checksum } = command
    if (checksum !== undefined && !isUploadChecksum(checksum)) throw new Error('a checksum that no upload can have')
    const given = lock?.retention === undefined ? defaultRetention(bucket.defaultRetention, now) : undefined
    const bucketId = bucket.id
    const created = { name: 'upload.created', bucketId, key, headers, metadata, lock, given, checksum } as const
    const { tags } = command
    if (tags === undefined || tags.length === 0) return { changes: [created] }
    return { changes: [created, { name: 'upload.tagged', bucketId, key, upload: uploadIdOf(sequence), tags }] }
  },

  /** A part that is sent again replaces the earlier one: the last to finish wins. */
  'write-part'(command, context) {
    const { state } = context
    const { bucket, upload: found } = requireUpload(command, state)
    const { key, upload, part, size, etag, digest } = command
    const checksum = partChecksum(found, command.checksum)
    const before = state.part(upload, part)
    requirePartQuota(state, bucket, key, before, size)
    const payload = payloadReference(command.body, payloadIdOf(context.sequence), size, context)
    const replaced = before !== undefined
    const bucketId = bucket.id
    const written = { name: 'upload.part-written', bucketId, key, upload, part, size, etag, digest } as const
    return { changes: [{ ...written, payload, replaced, checksum }], etag }
  },

  /** As a copy of a whole object: the part shares the payload, and no byte is moved or read. */
  'copy-part'(command, context) {
    const { state } = context
    const { source, sourceBucket } = requireSource(command, context)
    const { bucket, upload: found } = requireUpload(command, state)
    const { key, upload, part } = command
    const { size, etag, digest, payload } = source
    const checksum = partChecksum(found, source.checksum)
    if (payload !== undefined && state.payload(payload)?.kind === 'parts') {
      throw new Error('an object of parts cannot become one part by reference')
    }
    const before = state.part(upload, part)
    requirePartQuota(state, bucket, key, before, size)
    requireReceived(context, bucket, size - (before?.size ?? 0), sourceBucket.id)
    const replaced = before !== undefined
    const written = { name: 'upload.part-written', bucketId: bucket.id, key, upload, part, size, etag, digest } as const
    return { changes: [{ ...written, payload: shared(state, payload), replaced, checksum }], etag }
  },

  /**
   * By reference: the parts' payloads become the object's, and no byte is moved or read. A repeat with the same list
   * returns the same result and changes nothing, for as long as the version that it made exists: clients repeat the
   * request when its answer was lost.
   */
  'complete-upload'(command, context) {
    const { state, now } = context
    const bucket = requireBucket(state, command.bucket)
    const { key, etag } = command
    const upload = state.upload(bucket.id, key, command.upload)
    if (upload === undefined) return completedBefore(command, bucket, state)
    const current = state.object(bucket.id, key)
    // Cheap checks come first: a refusal can be provoked again and again.
    requireCondition(command.condition, current)
    const { size, taken, listed, dropped } = takeParts(command, state)
    if (size > OBJECT_BYTES_MAXIMUM) throw new DomainError('object-too-large', String(size))
    requireQuota(state, bucket, current, size)
    const checksum = completedChecksum(command, upload, taken, context)
    const version = placeVersion(bucket, key, current, context)
    return {
      changes: [
        { name: 'upload.completed', bucketId: bucket.id, key, upload: upload.upload, listed, dropped },
        {
          name: 'object.written',
          bucketId: bucket.id,
          key,
          size,
          etag,
          digest: DIGEST_PENDING,
          headers: upload.headers,
          metadata: upload.metadata,
          payload: { kind: 'shared', payload: payloadIdOf(upload.upload) },
          replaced: current !== undefined,
          version,
          lock: lockAtBirth(bucket, upload.lock, now, upload.given),
          checksum,
          source: undefined,
        },
        ...tagsAtBirth({ bucketId: bucket.id, key, size, version }, upload.tags, context.sequence),
      ],
      etag,
      ...selectorOf(version, context.sequence),
    }
  },

  'abort-upload'(command, { state }) {
    const { bucket } = requireUpload(command, state)
    return aborted(bucket.id, command.key, command.upload, state)
  },

  /** Drops an upload of a deleted bucket, or an abandoned upload; an upload that is gone already is not an error. */
  'reclaim-upload'(command, { state }) {
    const { bucketId, key, upload } = command
    if (state.upload(bucketId, key, upload) === undefined) return NOTHING_CHANGES
    return aborted(bucketId, key, upload, state)
  },
} satisfies Partial<Rules>
