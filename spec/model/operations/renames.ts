/** RenameObject: a key of a bucket gets another name, or what is there under the other name stays. */
import type { Command } from '../../../engine/commands/commands.ts'
import type { WriteCondition } from '../../../engine/commands/spine-commands.ts'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { renameObject as renaming } from '../../support/commands.ts'
import { type Operation, refusals, targetOf } from '../expectation.ts'
import { type ModelState, type ModelVersion } from '../state.ts'
import { onBucket } from './buckets.ts'
import { byRules, orRefused } from './by-rules.ts'
import { judge, type ReadConditions } from './reads.ts'
import { conditionHeaders } from './writes.ts'

export interface RenameRequest {
  readonly bucket: string
  readonly from: string
  readonly key: string
  readonly condition: WriteCondition
  /** Of the ETag of the source. */
  readonly sourceConditions: Pick<ReadConditions, 'match' | 'noneMatch'>
  readonly token: string | undefined
}

export function renameObject(rename: RenameRequest): Operation {
  const { bucket, key, token, sourceConditions } = rename
  const ruled = byRules(
    (world) => commandOf(rename, world),
    () => ({ status: 200, headers: { 'x-amz-version-id': undefined } }),
  )
  return {
    request: { method: 'PUT', target: `${targetOf(bucket, key)}?renameObject`, headers: headerLines(rename) },
    outcomes: onBucket(bucket, (world, there, moment) => {
      const source = world.current(there, rename.from)
      const isRepeat = token !== undefined && world.current(there, key)?.renamed?.token === token
      const isFailed = !isRepeat && source !== undefined && judge(source, sourceConditions, moment.clock) !== 'passed'
      return orRefused(world, refusals(world, isFailed ? ['PreconditionFailed'] : []), ruled(world, moment))
    }),
  }
}

function commandOf({ bucket, key, from, condition, token }: RenameRequest, world: ModelState): Command {
  const source: ModelVersion | undefined = world.current(world.buckets.get(bucket), from)
  const plain = { ...renaming(bucket, from, key, source?.sequence), condition }
  return token === undefined ? plain : { ...plain, token }
}

function headerLines({ bucket, from, condition, sourceConditions, token }: RenameRequest): HeaderLine[] {
  const lines: HeaderLine[] = [['x-amz-rename-source', targetOf(bucket, from)]]
  const { match, noneMatch } = sourceConditions
  if (match !== undefined) lines.push(['x-amz-rename-source-if-match', `"${match}"`])
  if (noneMatch !== undefined) lines.push(['x-amz-rename-source-if-none-match', `"${noneMatch}"`])
  if (token !== undefined) lines.push(['x-amz-client-token', token])
  return [...lines, ...conditionHeaders(condition)]
}
