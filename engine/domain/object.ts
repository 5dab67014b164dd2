import { type PayloadId, payloadIdOf } from '../brands.ts'
import type { SpineCommand, WriteBody } from '../commands/spine-commands.ts'
import type { VersionSelector } from '../commands/version-name.ts'
import { DomainError } from '../errors.ts'
import type { PayloadReference } from '../events/values.ts'
import type { BucketState } from '../state-ports.ts'
import { requireBucket } from './bucket.ts'
import { requireSource } from './copy-source.ts'
import { type Decision, type DecisionContext, NOTHING_CHANGES, type Rules } from './decision.ts'
import { objectDeleted, versionDeleted } from './removal.ts'
import { lockAtBirth, requireDestroyable, requireLockable } from './lock.ts'
import { requireQuota, requireReceived, shared } from './quota.ts'
import { tagsAtBirth } from './tags.ts'
import { bytesReplaced, placeVersion, selectorOf } from './versions.ts'
import { requireCondition, requireDeleteCondition } from './write-condition.ts'

/** Where the bytes of a write go. The payload's id is the sequence of the entry that will record the write, mostly. */
export function payloadReference(
  body: WriteBody,
  payload: PayloadId,
  size: number,
  { placement }: DecisionContext,
): PayloadReference | undefined {
  switch (body.kind) {
    case 'empty':
      return undefined
    case 'inline':
      return placement.place(payload, body.bytes, body.checksum, body.sealed)
    case 'file':
      return { kind: 'file', payload, name: body.name, length: size, sealed: body.sealed }
  }
}

/** Removes one version for ever; if it was the current one, the newest of the others becomes current. */
function deleteVersion(
  command: SpineCommand<'delete-object'>,
  selector: VersionSelector,
  bucket: BucketState,
  context: DecisionContext,
): Decision {
  const { state } = context
  const { key } = command
  const bucketId = bucket.id
  const version = state.version(bucketId, key, selector)
  requireDeleteCondition(command.condition, version)
  if (version === undefined) return { changes: [], ...(selector !== 'unknown' && { version: selector }) }
  requireDestroyable(version, context, command.bypassGovernance)
  if (bucket.versioning === 'off') return { changes: [objectDeleted(bucketId, key, version)], version: 'null' }
  const { sequence, isMarker } = version
  const other = state.newestVersion(bucketId, key, sequence)
  const next = other !== undefined && other.sequence < sequence ? other : undefined
  return {
    changes: [versionDeleted(bucketId, key, version, next)],
    version: version.isNull ? 'null' : sequence,
    marker: isMarker,
  }
}

export const objectRules = {
  'write-object'(command, context) {
    const { state, now } = context
    const { key, size, etag, digest, headers, metadata, checksum } = command
    const bucket = requireBucket(state, command.bucket)
    const bucketId = bucket.id
    const current = state.object(bucketId, key)
    requireCondition(command.condition, current)
    requireLockable(bucket, command.lock, now)
    requireQuota(state, bucket, current, size)
    const version = placeVersion(bucket, key, current, context)
    const lock = lockAtBirth(bucket, command.lock, now)
    const payload = payloadReference(command.body, payloadIdOf(context.sequence), size, context)
    const replaced = current !== undefined
    return {
      changes: [
        {
          name: 'object.written',
          bucketId,
          key,
          size,
          etag,
          digest,
          headers,
          metadata,
          payload,
          replaced,
          version,
          lock,
          checksum,
          source: undefined,
        },
        ...tagsAtBirth({ bucketId, key, size, version }, command.tags, context.sequence),
      ],
      etag,
      ...selectorOf(version, context.sequence),
    }
  },

  /**
   * A copy shares the payload by reference and moves no bytes, so their checksum stays true. It does not inherit the lock of its
   * source.
   */
  'copy-object'(command, context) {
    const { state, now } = context
    const { source, sourceBucket } = requireSource(command, context)
    const bucket = requireBucket(state, command.bucket)
    const { key, replacement } = command
    const ontoItself = bucket.id === sourceBucket.id && key === command.sourceKey && !command.sourceIsVersion
    if (ontoItself && replacement === undefined) throw new DomainError('copy-onto-itself')
    const current = state.object(bucket.id, key)
    requireCondition(command.condition, current)
    requireLockable(bucket, command.lock, now)
    requireQuota(state, bucket, current, source.size)
    requireReceived(context, bucket, source.size - bytesReplaced(bucket, key, current, state), sourceBucket.id)
    const version = placeVersion(bucket, key, current, context)
    return {
      changes: [
        {
          name: 'object.written',
          bucketId: bucket.id,
          key,
          size: source.size,
          etag: source.etag,
          digest: source.digest,
          headers: replacement?.headers ?? source.headers,
          metadata: replacement?.metadata ?? source.metadata,
          payload: shared(state, source.payload),
          replaced: current !== undefined,
          version,
          lock: lockAtBirth(bucket, command.lock, now),
          checksum: source.checksum,
          source: {
            bucketId: sourceBucket.id,
            key: command.sourceKey,
            version: source.sequence,
            isNull: source.isNull,
            restores:
              bucket.id === sourceBucket.id && key === command.sourceKey && current?.sequence !== source.sequence,
            token: undefined,
          },
        },
        ...tagsAtBirth(
          { bucketId: bucket.id, key, size: source.size, version },
          command.tags ?? source.tags,
          context.sequence,
        ),
      ],
      etag: source.etag,
      ...selectorOf(version, context.sequence),
    }
  },

  /**
   * Without a version: removes the object of a bucket without versioning, and hides the key under a delete marker in any
   * other. Deleting a key that does not exist is a success; without versioning it changes nothing.
   */
  'delete-object'(command, context) {
    const { state } = context
    const { key } = command
    const bucket = requireBucket(state, command.bucket)
    if (command.version !== undefined) return deleteVersion(command, command.version, bucket, context)
    const current = state.object(bucket.id, key)
    if (command.condition.kind !== 'none') {
      requireDeleteCondition(command.condition, current ?? state.newestVersion(bucket.id, key))
    }
    const version = placeVersion(bucket, key, current, context)
    if (version !== undefined) {
      const changes = [{ name: 'marker.written', bucketId: bucket.id, key, version } as const]
      return { changes, marker: true, ...selectorOf(version, context.sequence) }
    }
    if (current === undefined) return NOTHING_CHANGES
    return { changes: [objectDeleted(bucket.id, key, current)] }
  },
} satisfies Partial<Rules>
