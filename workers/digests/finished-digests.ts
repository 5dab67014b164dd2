import type { BucketId, PayloadId } from '../../engine/brands.ts'
import type { PartList } from '../../engine/payloads/payload-reader.ts'
import { isBeginOf } from './is-begin-of.ts'
import type { PartHash } from './part-hash.ts'

/** Hashes that are kept. */
const KEPT_MAXIMUM = 32

interface Finished {
  readonly bucketId: BucketId
  readonly hash: PartHash
  readonly payloads: readonly (PayloadId | undefined)[]
}

/** Hashes of objects whose digest is recorded, the newest last: an append continues from there. */
export class FinishedDigests {
  readonly #kept: Finished[] = []

  keep(bucketId: BucketId, hash: PartHash, parts: PartList): void {
    const payloads = Array.from({ length: parts.count }, (_, index) => parts.payload(index))
    this.#kept.push({ bucketId, hash, payloads })
    if (this.#kept.length > KEPT_MAXIMUM) this.#dropOne()
  }

  /** A hash that continues from the newest object with the same first parts. */
  copyFor(parts: PartList): PartHash | undefined {
    return this.#kept.findLast(({ payloads }) => isBeginOf(payloads, parts))?.hash.copy()
  }

  /** The oldest of the bucket that has the most. */
  #dropOne(): void {
    const counts = new Map<BucketId, number>()
    for (const { bucketId } of this.#kept) counts.set(bucketId, (counts.get(bucketId) ?? 0) + 1)
    const most = Math.max(...counts.values())
    const index = this.#kept.findIndex(({ bucketId }) => counts.get(bucketId) === most)
    this.#kept.splice(index, 1)
  }
}
