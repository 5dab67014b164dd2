/** DeleteObject, with and without a version. */
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { type HeaderRule, type Operation, type Outcome, refusals, targetOf } from '../expectation.ts'
import { destructionRefusals } from '../lock-rules.ts'
import { type Bucket, type Moment, currentOf, versionsOf, type World } from '../model-state.ts'
import { newMarker, removeVersion, writeVersion } from '../version-rules.ts'
import { onBucket } from './buckets.ts'
import {
  conditionHeaders,
  deletionConditionRefusals,
  newVersionId,
  versionIdOf,
  type WriteCondition,
} from './writes.ts'
import { idRule } from './reads.ts'

export interface DeleteRequest {
  readonly bucket: string
  readonly key: string
  readonly versionId?: string | undefined
  readonly bypasses?: boolean
  /** Only without a version. */
  readonly condition?: WriteCondition
}

export const BYPASS: HeaderLine = ['x-amz-bypass-governance-retention', 'true']

export function deleteObject(request: DeleteRequest): Operation {
  const { bucket: name, key, versionId, bypasses = false, condition = 'none' } = request
  const headers = [...conditionHeaders(condition), ...(bypasses ? [BYPASS] : [])]
  return {
    request: { method: 'DELETE', target: targetOf(name, key, { versionId }), headers },
    outcomes: onBucket(name, (world, bucket, moment) => {
      if (versionId !== undefined) return deleteVersion(world, bucket, request, versionId, moment)
      const reasons = deletionConditionRefusals(bucket, key, condition)
      if (reasons.length > 0) return refusals(world, reasons)
      return deleteKey(world, bucket, name, key, moment)
    }),
  }
}

/** The key is hidden behind a marker, or removed where there is no versioning. It need not be there. */
function deleteKey(world: World, bucket: Bucket, name: string, key: string, { now }: Moment): readonly Outcome[] {
  if (bucket.versioning === 'off') {
    const current = currentOf(bucket, key)
    const next = () => (current === undefined ? world : removeVersion(world, name, key, current.serial))
    return [{ pattern: { status: 204, headers: markerOf(undefined, undefined) }, next }]
  }
  const headers = markerOf('true', bucket.versioning === 'suspended' ? 'null' : newVersionId(world, bucket))
  return [
    {
      pattern: { status: 204, headers },
      next: (answer) => writeVersion(world, name, key, newMarker(now), versionIdOf(answer)),
    },
  ]
}

function markerOf(marker: HeaderRule, id: HeaderRule): Record<string, HeaderRule> {
  return { 'x-amz-delete-marker': marker, 'x-amz-version-id': id }
}

function deleteVersion(
  world: World,
  bucket: Bucket,
  { bucket: name, key, bypasses = false }: DeleteRequest,
  versionId: string,
  moment: Moment,
): readonly Outcome[] {
  if (/[^\w.~-]/.test(versionId)) return refusals(world, ['InvalidArgument'])
  const version = versionsOf(bucket, key).find(({ id }) => id === versionId)
  if (version === undefined) {
    return [{ pattern: { status: 204, headers: { 'x-amz-delete-marker': undefined } }, next: () => world }]
  }
  const reasons = destructionRefusals(version, moment, bypasses)
  if (reasons.length > 0) return refusals(world, reasons)
  const id = bucket.versioning === 'off' ? undefined : idRule(version)
  const headers = markerOf(version.isMarker ? 'true' : undefined, id)
  return [{ pattern: { status: 204, headers }, next: () => removeVersion(world, name, key, version.serial) }]
}
