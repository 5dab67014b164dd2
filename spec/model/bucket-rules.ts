import type { CommandOf } from '../../engine/commands/commands.ts'
import { type Moment, type Outcome, refuse, timeOf } from './refusals.ts'
import type { ModelState } from './state.ts'

/** Makes a bucket; one that is there already is a success where S3 says so. */
export function createBucket(
  state: ModelState,
  { bucket, region, lockEnabled }: CommandOf<'create-bucket'>,
  moment: Moment,
): Outcome {
  const present = state.buckets.get(bucket)
  if (present !== undefined) {
    const isSame = present.region === region && present.lockEnabled === lockEnabled
    return isSame && region === 'us-east-1' ? { code: 'done' } : refuse('bucket-exists')
  }
  state.buckets.set(bucket, {
    id: moment.sequence,
    created: timeOf(moment),
    region,
    lockEnabled,
    versioning: lockEnabled ? 'enabled' : 'off',
    defaultRetention: undefined,
    quota: { bytes: undefined, objects: undefined },
    receivedBytes: 0,
    cors: [],
    rules: new Map(),
    keys: new Map(),
  })
  return { code: 'done' }
}
