import type { CreateBucket, DeleteBucket } from '../commands.ts'
import { DomainError } from '../errors.ts'
import type { Change } from '../events/changes.ts'
import type { BucketState, StateReader } from '../state-ports.ts'

/** @throws DomainError bucket-not-found */
export function requireBucket(state: StateReader, name: string): BucketState {
  const bucket = state.bucket(name)
  if (bucket === undefined) throw new DomainError('bucket-not-found', name)
  return bucket
}

/** A bucket's id is the sequence of the entry that creates it, so that a name used again is another bucket. */
export function decideCreateBucket(command: CreateBucket, state: StateReader, sequence: number): Change[] {
  if (state.bucket(command.bucket) !== undefined) throw new DomainError('bucket-exists', command.bucket)
  return [{ name: 'bucket.created', bucketId: sequence, bucket: command.bucket, region: command.region }]
}

export function decideDeleteBucket(command: DeleteBucket, state: StateReader): Change[] {
  const bucket = requireBucket(state, command.bucket)
  if (!state.bucketIsEmpty(bucket.id)) throw new DomainError('bucket-not-empty', command.bucket)
  return [{ name: 'bucket.deleted', bucketId: bucket.id, bucket: bucket.name }]
}
