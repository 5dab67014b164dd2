import type { Command, CommandOf } from '../../engine/commands/commands.ts'
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
    tags: [],
    rules: new Map(),
    keys: new Map(),
  })
  return { code: 'done' }
}

/** Carries out a command that sets something of a bucket to what it says; undefined for any other. */
export function setBucket(state: ModelState, command: Command): Outcome | undefined {
  if (command.kind !== 'set-cors' && command.kind !== 'set-quota' && command.kind !== 'set-bucket-tags')
    return undefined
  const bucket = state.buckets.get(command.bucket) ?? refuse('bucket-not-found')
  if (command.kind === 'set-cors') bucket.cors = command.rules
  else if (command.kind === 'set-quota') bucket.quota = command.quota
  else bucket.tags = command.tags
  return { code: 'done' }
}
