import { bucketIdOf } from '../brands.ts'
import { DomainError } from '../errors.ts'
import type { BucketState, StateReader } from '../state-ports.ts'
import { NOTHING_CHANGES, type Rules } from './decision.ts'
import { abortsWithBucket } from './upload-aborts.ts'

/** @throws DomainError bucket-not-found */
export function requireBucket(state: StateReader, name: string): BucketState {
  const bucket = state.bucket(name)
  if (bucket === undefined) throw new DomainError('bucket-not-found', name)
  return bucket
}

/** In this region S3 answers the creation of a bucket that exists already, with the same settings, with success. */
const LENIENT_REGION = 'us-east-1'

export const bucketRules = {
  /** A bucket's id is the sequence of the entry that creates it, so a reused name is a different bucket. */
  'create-bucket'(command, { state, sequence }) {
    const { bucket, region, lockEnabled } = command
    const present = state.bucket(bucket)
    if (present !== undefined) {
      const isSame = present.region === region && present.lockEnabled === lockEnabled
      if (isSame && region === LENIENT_REGION) return NOTHING_CHANGES
      throw new DomainError('bucket-exists', bucket)
    }
    return { changes: [{ name: 'bucket.created', bucketId: bucketIdOf(sequence), bucket, region, lockEnabled }] }
  },

  /** Versions and markers keep a bucket; uploads in progress do not, and are aborted with it. */
  'delete-bucket'(command, { state }) {
    const bucket = requireBucket(state, command.bucket)
    if (!state.bucketIsEmpty(bucket.id)) throw new DomainError('bucket-not-empty', command.bucket)
    const aborts = abortsWithBucket(bucket.id, state)
    return { changes: [...aborts, { name: 'bucket.deleted', bucketId: bucket.id, bucket: bucket.name }] }
  },

  'set-versioning'(command, { state }) {
    const { id: bucketId, name: bucket, versioning, lockEnabled } = requireBucket(state, command.bucket)
    if (lockEnabled && command.versioning === 'suspended') throw new DomainError('versioning-is-locked', bucket)
    if (versioning === command.versioning) return NOTHING_CHANGES
    return { changes: [{ name: 'bucket.versioning-set', bucketId, bucket, versioning: command.versioning }] }
  },

  'set-default-retention'(command, { state }) {
    const { id: bucketId, name: bucket, lockEnabled } = requireBucket(state, command.bucket)
    if (!lockEnabled) throw new DomainError('lock-not-enabled', bucket)
    return { changes: [{ name: 'bucket.retention-set', bucketId, bucket, retention: command.retention }] }
  },

  'set-cors'(command, { state }) {
    const { id: bucketId, name: bucket } = requireBucket(state, command.bucket)
    return { changes: [{ name: 'bucket.cors-set', bucketId, bucket, rules: command.rules }] }
  },

  'set-quota'(command, { state }) {
    const { id: bucketId, name: bucket } = requireBucket(state, command.bucket)
    return { changes: [{ name: 'bucket.quota-set', bucketId, bucket, ...command.quota }] }
  },
} satisfies Partial<Rules>
