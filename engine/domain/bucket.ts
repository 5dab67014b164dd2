import type { CreateBucket, DeleteBucket, SetCors, SetDefaultRetention, SetQuota, SetVersioning } from '../commands.ts'
import { DomainError } from '../errors.ts'
import type { BucketState, StateReader } from '../state-ports.ts'
import { type Decision, type DecisionContext, NOTHING_CHANGES } from './decision.ts'

/** @throws DomainError bucket-not-found */
export function requireBucket(state: StateReader, name: string): BucketState {
  const bucket = state.bucket(name)
  if (bucket === undefined) throw new DomainError('bucket-not-found', name)
  return bucket
}

/** Where S3 takes the creation of a bucket that is there already, and is the same, as a success. */
const LENIENT_REGION = 'us-east-1'

/** A bucket's id is the sequence of the entry that creates it, so that a name used again is another bucket. */
export function decideCreateBucket(command: CreateBucket, { state, sequence }: DecisionContext): Decision {
  const { bucket, region, lockEnabled } = command
  const present = state.bucket(bucket)
  if (present !== undefined) {
    const isSame = present.region === region && present.lockEnabled === lockEnabled
    if (isSame && region === LENIENT_REGION) return NOTHING_CHANGES
    throw new DomainError('bucket-exists', bucket)
  }
  return { changes: [{ name: 'bucket.created', bucketId: sequence, bucket, region, lockEnabled }] }
}

/** Versions and markers count; uploads in progress do not, and are reclaimed afterwards. */
export function decideDeleteBucket(command: DeleteBucket, { state }: DecisionContext): Decision {
  const bucket = requireBucket(state, command.bucket)
  if (!state.bucketIsEmpty(bucket.id)) throw new DomainError('bucket-not-empty', command.bucket)
  return { changes: [{ name: 'bucket.deleted', bucketId: bucket.id, bucket: bucket.name }] }
}

export function decideSetVersioning(command: SetVersioning, { state }: DecisionContext): Decision {
  const { id: bucketId, name: bucket, versioning, lockEnabled } = requireBucket(state, command.bucket)
  if (lockEnabled && command.versioning === 'suspended') throw new DomainError('versioning-is-locked', bucket)
  if (versioning === command.versioning) return NOTHING_CHANGES
  return { changes: [{ name: 'bucket.versioning-set', bucketId, bucket, versioning: command.versioning }] }
}

export function decideSetDefaultRetention(command: SetDefaultRetention, { state }: DecisionContext): Decision {
  const { id: bucketId, name: bucket, lockEnabled } = requireBucket(state, command.bucket)
  if (!lockEnabled) throw new DomainError('lock-not-enabled', bucket)
  return { changes: [{ name: 'bucket.retention-set', bucketId, bucket, retention: command.retention }] }
}

export function decideSetCors(command: SetCors, { state }: DecisionContext): Decision {
  const { id: bucketId, name: bucket } = requireBucket(state, command.bucket)
  return { changes: [{ name: 'bucket.cors-set', bucketId, bucket, rules: command.rules }] }
}

export function decideSetQuota(command: SetQuota, { state }: DecisionContext): Decision {
  const { id: bucketId, name: bucket } = requireBucket(state, command.bucket)
  return { changes: [{ name: 'bucket.quota-set', bucketId, bucket, quota: command.quota }] }
}
