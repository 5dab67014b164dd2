import type { PayloadId } from '../../engine/brands.ts'
import type { PartList } from '../../engine/payloads/payload-reader.ts'

/** Whether payloads are the first parts of an object; from the last, where appended objects differ. */
export function isBeginOf(payloads: readonly (PayloadId | undefined)[], parts: PartList): boolean {
  if (payloads.length > parts.count) return false
  for (let index = payloads.length - 1; index >= 0; index -= 1) {
    if (parts.payload(index) !== payloads[index]) return false
  }
  return true
}
