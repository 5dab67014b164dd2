import type { SpineCommand } from '../commands/spine-commands.ts'
import { DomainError } from '../errors.ts'
import type { BucketState, ObjectState, StateReader } from '../state-ports.ts'
import { requireBucket } from './bucket.ts'
import { type Decision, NOTHING_CHANGES, type Rules } from './decision.ts'
import { objectDeleted } from './removal.ts'
import { tagsAtBirth } from './tags.ts'
import { requireCondition } from './write-condition.ts'

type Rename = SpineCommand<'rename-object'>

/**
 * Whether the rename was carried out before, by a request whose answer was lost: its object still exists.
 * @throws DomainError rename-token-reused when the token renamed another key to this one
 */
function renamedBefore({ token, sourceKey }: Rename, current: ObjectState | undefined): boolean {
  const renamed = current?.renamed
  if (token === undefined || renamed?.token !== token) return false
  if (renamed.key !== sourceKey) throw new DomainError('rename-token-reused')
  return true
}

/** @throws DomainError object-not-found, source-changed */
function requireSource({ sourceKey, sourceSequence }: Rename, bucket: BucketState, state: StateReader): ObjectState {
  const source = state.object(bucket.id, sourceKey)
  if (source === undefined) throw new DomainError('object-not-found', sourceKey)
  if (source.sequence !== sourceSequence) throw new DomainError('source-changed')
  return source
}

export const renameRules = {
  /**
   * In one entry the object is written under its new key, by reference, and deleted under the old one. Nothing is counted
   * against the quota: the bucket never holds more after it (spec/decisions/0143).
   */
  'rename-object'(command, { state, sequence }): Decision {
    const bucket = requireBucket(state, command.bucket)
    const { key, sourceKey, token } = command
    if (bucket.versioning !== 'off') throw new DomainError('rename-of-versions', bucket.name)
    if (key === sourceKey) throw new DomainError('rename-onto-itself')
    const current = state.object(bucket.id, key)
    if (renamedBefore(command, current)) return NOTHING_CHANGES
    const source = requireSource(command, bucket, state)
    requireCondition(command.condition, current)
    const { size, etag, digest, headers, metadata, checksum, payload } = source
    return {
      changes: [
        {
          name: 'object.written',
          bucketId: bucket.id,
          key,
          size,
          etag,
          digest,
          headers,
          metadata,
          payload: payload === undefined ? undefined : { kind: 'shared', payload },
          replaced: current !== undefined,
          version: undefined,
          lock: undefined,
          checksum,
          source: {
            bucketId: bucket.id,
            key: sourceKey,
            version: source.sequence,
            isNull: true,
            restores: false,
            token,
          },
        },
        ...tagsAtBirth({ bucketId: bucket.id, key, size, version: undefined }, source.tags, sequence),
        objectDeleted(bucket.id, sourceKey, source),
      ],
    }
  },
} satisfies Partial<Rules>
