import { payloadIdOf } from '../brands.ts'
import type { SpineCommand } from '../commands/spine-commands.ts'
import { DomainError } from '../errors.ts'
import type { SpineChange, SpineChangeNamed } from '../events/spine-changes.ts'
import type { ObjectState, StateReader } from '../state-ports.ts'
import { requireBucket } from './bucket.ts'
import type { DecisionContext, Rules } from './decision.ts'
import { lockAtBirth, requireLockable } from './lock.ts'
import { payloadReference } from './object.ts'
import { PART_NUMBER_MAXIMUM } from './part-set.ts'
import { OBJECT_BYTES_MAXIMUM } from './upload.ts'
import { requireQuota, requireReceived, shared } from './quota.ts'
import { tagsAtBirth } from './tags.ts'
import { bytesReplaced, placeVersion, selectorOf } from './versions.ts'
import { requireCondition } from './write-condition.ts'

type Append = SpineCommand<'append-object'>
/** The written version's fields about its bytes, and the change that joins them. */
type Content = Pick<SpineChangeNamed<'object.written'>, 'etag' | 'digest' | 'payload' | 'checksum'> & {
  readonly first?: SpineChange
}

/** A worker computes the digest of all bytes afterwards. */
const DIGEST_PENDING = new Uint8Array(32)

/** The content of an append to nothing: a new object, or an object without bytes. */
function alone({ body, size, etag, digest, checksum }: Append, context: DecisionContext): Content {
  return { etag, digest, checksum, payload: payloadReference(body, payloadIdOf(context.sequence), size, context) }
}

/**
 * The content of an append to bytes: both become parts of one payload. The new part has the id of the attempt, since an
 * entry has only one number and the payload of parts needs it (spec/decisions/0142).
 * @throws DomainError too-many-parts
 */
function after(command: Append, { payload: base, etag: before, size: offset }: ObjectState, context: DecisionContext) {
  const { attempt, md5, sequence, state } = context
  if (base === undefined || attempt === undefined || md5 === undefined) throw new Error('an append without an attempt')
  const parts = partsOf(base, state) + 1
  if (parts > PART_NUMBER_MAXIMUM) throw new DomainError('too-many-parts', String(parts - 1))
  const { body, size, digest } = command
  const part = payloadReference(body, payloadIdOf(attempt), size, context)
  if (part === undefined) throw new Error('an append of no bytes')
  const payload = payloadIdOf(sequence)
  const content: Content = {
    etag: `${md5(before + command.etag)}-${parts}`,
    digest: DIGEST_PENDING,
    payload: { kind: 'shared', payload },
    checksum: undefined,
    first: { name: 'payload.appended', payload, base, offset, part, size, digest },
  }
  return content
}

function partsOf(base: NonNullable<ObjectState['payload']>, state: StateReader): number {
  const location = state.payload(base)
  return location?.kind === 'parts' ? location.parts.count : 1
}

/** Nothing comes after it: the same bytes, shared. */
function unchanged({ etag, digest, checksum, payload }: ObjectState, state: StateReader): Content {
  return { etag, digest, checksum, payload: shared(state, payload) }
}

function contentOf(command: Append, current: ObjectState | undefined, context: DecisionContext): Content {
  if (current === undefined || current.size === 0) return alone(command, context)
  return command.size === 0 ? unchanged(current, context.state) : after(command, current, context)
}

export const appendRules = {
  /**
   * Appends to the current object, as a new version that shares the bytes before. It keeps headers, metadata and tags; the
   * command's own are used only when it creates the object.
   */
  'append-object'(command, context) {
    const { state, now } = context
    const { key, offset } = command
    const bucket = requireBucket(state, command.bucket)
    const current = state.object(bucket.id, key)
    requireCondition(command.condition, current)
    if (offset !== (current?.size ?? 0)) throw new DomainError('offset-is-not-size', String(current?.size ?? 0))
    requireLockable(bucket, command.lock, now)
    const size = offset + command.size
    if (size > OBJECT_BYTES_MAXIMUM) throw new DomainError('object-too-large', String(size))
    requireQuota(state, bucket, current, size)
    requireReceived(context, bucket, offset - bytesReplaced(bucket, key, current, state), bucket.id)
    const version = placeVersion(bucket, key, current, context)
    const { first, ...content } = contentOf(command, current, context)
    const { headers, metadata } = current ?? command
    const written: SpineChange = {
      name: 'object.written',
      bucketId: bucket.id,
      key,
      size,
      headers,
      metadata,
      ...content,
      replaced: current !== undefined,
      version,
      lock: lockAtBirth(bucket, command.lock, now),
      source: undefined,
    }
    const tagged = tagsAtBirth(written, current?.tags, context.sequence)
    const changes = first === undefined ? [written, ...tagged] : [first, written, ...tagged]
    return { changes, etag: content.etag, ...selectorOf(version, context.sequence) }
  },
} satisfies Partial<Rules>
