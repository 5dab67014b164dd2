/** What a rename does to the model of a store: a version goes, and another with the same in it comes (spec/decisions/0143). */
import type { Command, CommandOf } from '../../engine/commands/commands.ts'
import { conditionReasons, type Moment, type Outcome, refuse, refuseFor, timeOf } from './refusals.ts'
import type { ModelState } from './state.ts'

/** Carries a rename out; undefined for any other command. */
export function changeNames(state: ModelState, command: Command, moment: Moment): Outcome | undefined {
  return command.kind === 'rename-object' ? rename(state, command, moment) : undefined
}

function rename(state: ModelState, command: CommandOf<'rename-object'>, moment: Moment): Outcome {
  const { key, sourceKey, sourceSequence, condition, token } = command
  const bucket = state.buckets.get(command.bucket) ?? refuse('bucket-not-found')
  const there = state.current(bucket, key)
  const source = state.current(bucket, sourceKey)
  refuseFor([
    ...(bucket.versioning === 'off' ? [] : ['rename-of-versions']),
    ...(key === sourceKey ? ['rename-onto-itself'] : []),
  ])
  if (token !== undefined && there?.renamed?.token === token) {
    return there.renamed.key === sourceKey ? { code: 'done' } : refuse('rename-token-reused')
  }
  if (source === undefined) return refuse('object-not-found')
  refuseFor([...(source.sequence === sourceSequence ? [] : ['source-changed']), ...conditionReasons(condition, there)])
  state.remove(bucket, sourceKey, source)
  const made = { sequence: moment.sequence, modified: timeOf(moment), aged: moment.now, id: undefined }
  state.add(bucket, key, { ...source, ...made, renamed: token === undefined ? undefined : { token, key: sourceKey } })
  return { code: 'done' }
}
