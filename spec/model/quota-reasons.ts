/** What quotas refuse, by what the model holds. */
import type { ModelBucket, ModelState, ModelUpload } from './state.ts'

export function quotaReasons(state: ModelState, bucket: ModelBucket, key: string, size: number): string[] {
  const { bytes = Number.POSITIVE_INFINITY, objects = Number.POSITIVE_INFINITY } = bucket.quota
  const current = state.current(bucket, key)
  const usage = state.usage(bucket)
  const after = usage.bytes - (current?.size ?? 0) + size
  const isTooMuch = (after > usage.bytes && after > bytes) || (current === undefined && usage.objects + 1 > objects)
  return isTooMuch ? ['quota-exceeded'] : []
}

/** Whether a completion could have room, if it were of all parts in progress. */
export function partQuotaReasons(
  state: ModelState,
  bucket: ModelBucket,
  { key, parts }: ModelUpload,
  part: number,
  size: number,
): string[] {
  const more = size - (parts.get(part)?.size ?? 0)
  const { bytes, uploadBytes } = state.usage(bucket)
  const after = bytes + uploadBytes + more - (state.current(bucket, key)?.size ?? 0)
  return more > 0 && after > (bucket.quota.bytes ?? Number.POSITIVE_INFINITY) ? ['quota-exceeded'] : []
}
