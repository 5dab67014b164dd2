import { DomainError } from '../errors.ts'
import type { BucketState, ObjectState, StateReader } from '../state-ports.ts'

/**
 * Checks a write against the limits of its bucket, which count current versions only (specification, Storage
 * accounting). The engine judges one write after the other, so two cannot pass together. A write that increases neither
 * number passes even over the limit.
 * @throws DomainError quota-exceeded
 */
export function requireQuota(
  state: StateReader,
  bucket: BucketState,
  current: ObjectState | undefined,
  size: number,
): void {
  const { bytes, objects } = bucket.quota
  if (bytes === undefined && objects === undefined) return
  const usage = state.logicalUsage(bucket.id)
  const moreBytes = size - (current?.size ?? 0)
  if (bytes !== undefined && moreBytes > 0 && usage.bytes + moreBytes > bytes) {
    throw new DomainError('quota-exceeded', bucket.name)
  }
  if (objects !== undefined && current === undefined && usage.objects + 1 > objects) {
    throw new DomainError('quota-exceeded', bucket.name)
  }
}
