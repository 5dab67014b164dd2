import type { BucketId, PayloadId } from '../brands.ts'
import { DomainError } from '../errors.ts'
import type { PayloadReference } from '../events/values.ts'
import type { BucketState, ObjectState, PartState, StateReader } from '../state-ports.ts'
import type { DecisionContext } from './decision.ts'

/** Bytes that a bucket may hold by references, whatever it received: many copies of small objects are usual. 64 GiB. */
export const REFERENCES_ALWAYS_ALLOWED_BYTES = 64 * 1024 ** 3

/**
 * Maximum bytes of a bucket's versions, current and noncurrent, and of the parts of its uploads: 4 PiB. Numbers of
 * bytes are doubles, which are exact up to 2^53; copies share their bytes, so even a small disk can hold as much.
 */
export const BUCKET_BYTES_MAXIMUM = 2 ** 52
/**
 * Maximum references to the same bytes. The rows can count twice as many: the other half is for references that are not
 * checked here, of a renamed object and of the parts that an append shares (spec/decisions/0174).
 */
export const REFERENCES_MAXIMUM = 2 ** 31

/**
 * Checks a write against what its bucket may hold at all, and against the limits of the bucket, which count current
 * versions only (specification, Storage accounting). The engine judges one write after the other, so two cannot pass together. A write that increases neither
 * number passes even over the limit.
 * @throws DomainError bucket-too-large, quota-exceeded
 */
export function requireQuota(
  state: StateReader,
  bucket: BucketState,
  current: ObjectState | undefined,
  size: number,
): void {
  const { bytes, objects } = bucket.quota
  const usage = state.logicalUsage(bucket.id)
  const moreBytes = size - (current?.size ?? 0)
  // A version that is replaced may stay as a noncurrent one.
  if (size > 0 && usage.bytes + usage.noncurrentBytes + size > BUCKET_BYTES_MAXIMUM) {
    const isSmaller = bucket.versioning === 'off' && moreBytes <= 0
    if (!isSmaller) throw new DomainError('bucket-too-large', bucket.name)
  }
  if (bytes === undefined && objects === undefined) return
  if (bytes !== undefined && moreBytes > 0 && usage.bytes + moreBytes > bytes) {
    throw new DomainError('quota-exceeded', bucket.name)
  }
  if (objects !== undefined && current === undefined && usage.objects + 1 > objects) {
    throw new DomainError('quota-exceeded', bucket.name)
  }
}

/**
 * Checks a part against the limit on bytes: a part that no completion could use is refused before it is stored. It
 * counts current versions and all parts in progress, without the object and the part that this one replaces.
 * @throws DomainError bucket-too-large, quota-exceeded
 */
export function requirePartQuota(
  state: StateReader,
  bucket: BucketState,
  key: string,
  replaced: PartState | undefined,
  size: number,
): void {
  const { bytes } = bucket.quota
  const moreBytes = size - (replaced?.size ?? 0)
  if (moreBytes <= 0) return
  const usage = state.logicalUsage(bucket.id)
  if (usage.bytes + usage.noncurrentBytes + usage.uploadBytes + moreBytes > BUCKET_BYTES_MAXIMUM) {
    throw new DomainError('bucket-too-large', bucket.name)
  }
  if (bytes === undefined) return
  const replacedBytes = state.object(bucket.id, key)?.size ?? 0
  if (usage.bytes + usage.uploadBytes + moreBytes - replacedBytes > bytes) {
    throw new DomainError('quota-exceeded', bucket.name)
  }
}

/**
 * Checks that a bucket does not grow by references beyond what it received: sharing bytes costs nothing, but reading or
 * counting them later does (spec/decisions/0020).
 * @param growth bytes of objects, versions and parts that a request adds without storing them
 * @param source the bucket that the bytes are taken from
 * @throws DomainError too-many-references
 */
export function requireReceived(
  { state, referenceRatioMaximum }: DecisionContext,
  bucket: BucketState,
  growth: number,
  source: BucketId,
): void {
  if (growth <= 0) return
  const usage = state.logicalUsage(bucket.id)
  const others = source === bucket.id ? 0 : state.logicalUsage(source).receivedBytes
  const allowed = referenceRatioMaximum * Math.max(usage.receivedBytes, others)
  if (
    usage.bytes + usage.noncurrentBytes + usage.uploadBytes + growth >
    Math.max(allowed, REFERENCES_ALWAYS_ALLOWED_BYTES)
  ) {
    throw new DomainError('too-many-references', bucket.name)
  }
}

/**
 * A reference to the bytes of a version, for another one.
 * @throws DomainError too-many-copies
 */
export function shared(state: StateReader, payload: PayloadId | undefined): PayloadReference | undefined {
  if (payload === undefined) return undefined
  if (state.references(payload) >= REFERENCES_MAXIMUM) throw new DomainError('too-many-copies')
  return { kind: 'shared', payload }
}
