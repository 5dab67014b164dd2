import type { CopyObject, DeleteObject, WriteBody, WriteObject } from '../commands.ts'
import { DomainError } from '../errors.ts'
import type { PayloadReference } from '../events/changes.ts'
import type { BucketState, ObjectState } from '../state-ports.ts'
import { requireBucket } from './bucket.ts'
import { type Decision, type DecisionContext, NOTHING_CHANGES } from './decision.ts'
import { lockAtBirth, requireDestroyable, requireLockable } from './lock.ts'
import { requireQuota } from './quota.ts'
import { placeVersion, selectorOf } from './versions.ts'
import { requireCondition, requireDeleteCondition } from './write-condition.ts'

/** No entry has it. */
const NO_SEQUENCE = -1

/** Where the bytes of a write go; the sequence of the entry to be becomes the id of the payload. */
export function payloadReference(
  body: WriteBody,
  size: number,
  { sequence, placement }: DecisionContext,
): PayloadReference | undefined {
  switch (body.kind) {
    case 'empty':
      return undefined
    case 'inline':
      return placement.place(sequence, body.bytes, body.checksum, body.sealed)
    case 'file':
      return { kind: 'file', payload: sequence, name: body.name, length: size, sealed: body.sealed }
  }
}

export function decideWriteObject(command: WriteObject, context: DecisionContext): Decision {
  const { state, now } = context
  const { key, size, etag, digest, headers, metadata } = command
  const bucket = requireBucket(state, command.bucket)
  const bucketId = bucket.id
  const current = state.object(bucketId, key)
  requireCondition(command.condition, current)
  requireLockable(bucket, command.lock, now)
  requireQuota(state, bucket, current, size)
  const version = placeVersion(bucket, key, current, context)
  const lock = lockAtBirth(bucket, command.lock, now)
  const payload = payloadReference(command.body, size, context)
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
      },
    ],
    etag,
    ...selectorOf(version, context.sequence),
  }
}

/** The payload is shared by reference: a copy moves no bytes. It takes no lock from its source. */
export function decideCopyObject(command: CopyObject, context: DecisionContext): Decision {
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
        payload: source.payload === 0 ? undefined : { kind: 'shared', payload: source.payload },
        replaced: current !== undefined,
        version,
        lock: lockAtBirth(bucket, command.lock, now),
      },
    ],
    etag: source.etag,
    ...selectorOf(version, context.sequence),
  }
}

/** @throws DomainError bucket-not-found, object-not-found, version-not-found, source-changed */
function requireSource(
  command: CopyObject,
  { state }: DecisionContext,
): { readonly source: ObjectState; readonly sourceBucket: BucketState } {
  const sourceBucket = requireBucket(state, command.sourceBucket)
  const { sourceKey, sourceSequence } = command
  if (command.sourceIsVersion) {
    // The `null` version is not found by its sequence, since that is not its id; another may have taken its place.
    const nullVersion = state.version(sourceBucket.id, sourceKey, 'null')
    const isNull = nullVersion?.sequence === sourceSequence
    const source = isNull ? nullVersion : state.version(sourceBucket.id, sourceKey, sourceSequence)
    if (source === undefined) {
      throw new DomainError(nullVersion === undefined ? 'version-not-found' : 'source-changed', sourceKey)
    }
    if (source.isMarker) throw new DomainError('version-is-marker')
    return { source, sourceBucket }
  }
  const source = state.object(sourceBucket.id, sourceKey)
  if (source === undefined) throw new DomainError('object-not-found', sourceKey)
  if (source.sequence !== sourceSequence) throw new DomainError('source-changed')
  return { source, sourceBucket }
}

/**
 * Without a version: removes the object of a bucket without versioning, and hides the key behind a marker in any other.
 * Deleting what is not there is a success; it changes nothing where there is no versioning.
 */
export function decideDeleteObject(command: DeleteObject, context: DecisionContext): Decision {
  const { state } = context
  const { key } = command
  const bucket = requireBucket(state, command.bucket)
  if (command.version !== undefined) return deleteVersion(command, bucket, context)
  const current = state.object(bucket.id, key)
  if (command.condition.kind !== 'none') {
    requireDeleteCondition(command.condition, current ?? state.newestVersionBut(bucket.id, key, NO_SEQUENCE))
  }
  const version = placeVersion(bucket, key, current, context)
  if (version !== undefined) {
    const changes = [{ name: 'marker.written', bucketId: bucket.id, key, version } as const]
    return { changes, marker: true, ...selectorOf(version, context.sequence) }
  }
  if (current === undefined) return NOTHING_CHANGES
  return { changes: [{ name: 'object.deleted', bucketId: bucket.id, key }] }
}

/** Removes one version for ever; the newest of the others becomes the current one when it was that. */
function deleteVersion(command: DeleteObject, bucket: BucketState, context: DecisionContext): Decision {
  const { state } = context
  const { key, version: selector } = command
  const bucketId = bucket.id
  const version = selector === undefined ? undefined : state.version(bucketId, key, selector)
  requireDeleteCondition(command.condition, version)
  if (version === undefined) return selector === undefined ? NOTHING_CHANGES : { changes: [], version: selector }
  requireDestroyable(version, context, command.bypassGovernance)
  if (bucket.versioning === 'off') return { changes: [{ name: 'object.deleted', bucketId, key }], version: 'null' }
  const { sequence, isMarker } = version
  const other = state.newestVersionBut(bucketId, key, sequence)
  const succeeds = other !== undefined && other.sequence < sequence && !other.isMarker
  return {
    changes: [{ name: 'version.deleted', bucketId, key, version: sequence, promotes: succeeds ? other.sequence : 0 }],
    version: version.isNull ? 'null' : sequence,
    marker: isMarker,
  }
}
