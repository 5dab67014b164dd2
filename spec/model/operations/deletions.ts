/** DeleteObject, with and without a version. */
import type { WriteCondition } from '../../../engine/commands/spine-commands.ts'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { deleteObject as deletion } from '../../support/commands.ts'
import { type HeaderRule, type Operation, targetOf } from '../expectation.ts'
import { byRules, type Carried, orRefused, selectorOf, type VersionName, versionNamed } from './by-rules.ts'
import { idRule, isMalformed } from './reads.ts'
import { conditionHeaders, newVersionId, UNCONDITIONAL } from './writes.ts'

export interface DeleteRequest extends VersionName {
  readonly bypasses?: boolean
  /** Only without a version. */
  readonly condition?: WriteCondition
}

export const BYPASS: HeaderLine = ['x-amz-bypass-governance-retention', 'true']

export function deleteObject(request: DeleteRequest): Operation {
  const { bucket, key, versionId, bypasses = false, condition = UNCONDITIONAL } = request
  const ruled = byRules(
    (world) => {
      const version = selectorOf(world, request)
      const command = { ...deletion(bucket, key, condition), bypassGovernance: bypasses }
      return version === undefined ? command : { ...command, version }
    },
    (carried) => ({ status: 204, headers: headersOf(carried, request) }),
  )
  return {
    request: {
      method: 'DELETE',
      target: targetOf(bucket, key, { versionId }),
      headers: [...conditionHeaders(condition), ...(bypasses ? [BYPASS] : [])],
    },
    outcomes: (world, moment) => {
      const own = world.buckets.has(bucket) && isMalformed(versionId) ? (['InvalidArgument'] as const) : []
      return orRefused(world, own, ruled(world, moment))
    },
  }
}

/** A marker that was written or deleted, and the id of it or of the version that was deleted. */
function headersOf(carried: Carried, { bucket: name, key, versionId }: DeleteRequest): Record<string, HeaderRule> {
  const { outcome, before } = carried
  const bucket = before.buckets.get(name)
  const marker = outcome.marker === true ? 'true' : undefined
  if (versionId === undefined) {
    const id = outcome.version === 'null' ? 'null' : newVersionId(carried)
    return { 'x-amz-delete-marker': marker, 'x-amz-version-id': id }
  }
  const found = versionNamed(before, bucket, key, versionId)
  if (found === undefined) return { 'x-amz-delete-marker': undefined }
  return { 'x-amz-delete-marker': marker, 'x-amz-version-id': bucket?.versioning === 'off' ? undefined : idRule(found) }
}
