import type { PayloadId } from '../../engine/brands.ts'
import type { CatalogSnapshot } from '../../projections/catalog/catalog-snapshot.ts'
import { DIGEST_CLASSES, type QueuedDigest } from '../../projections/tables/digests.ts'

type Queue = Pick<CatalogSnapshot, 'firstQueuedDigest'>
/** Whether a payload is not to have the turn. */
type LeftOut = (payload: PayloadId, isSmall: boolean) => boolean

/**
 * Whose turn it is to be hashed. Every other turn goes to the smallest class of sizes that waits anywhere, so small objects
 * wait for one step of a large one at most; the turns between go to one bucket after the other, so small objects of one
 * bucket never keep the large ones of another from theirs. In a class buckets take turns; within a bucket and a class the
 * oldest is first, so one object of them is begun at a time.
 */
export class DigestTurns {
  #turn = 0
  /** After the bucket that had the last turn, of each class. */
  readonly #fromBucket = Array.from({ length: DIGEST_CLASSES }, () => 0)
  /** After the bucket that had the last turn of buckets. */
  #fromAnyBucket = 0

  /** Undefined when nothing waits. */
  next(queue: Queue, isLeftOut: LeftOut): QueuedDigest | undefined {
    this.#turn += 1
    return this.#turn % 2 === 0 ? this.#ofNextBucket(queue, isLeftOut) : this.#ofSmallestClass(queue, isLeftOut)
  }

  #ofSmallestClass(queue: Queue, isLeftOut: LeftOut): QueuedDigest | undefined {
    for (let sizeClass = 0; sizeClass < DIGEST_CLASSES; sizeClass += 1) {
      const from = this.#fromBucket[sizeClass] ?? 0
      const found = firstOf(queue, sizeClass, from, isLeftOut) ?? firstOf(queue, sizeClass, 0, isLeftOut)
      if (found === undefined) continue
      this.#fromBucket[sizeClass] = found.bucketId + 1
      return found
    }
    return undefined
  }

  #ofNextBucket(queue: Queue, isLeftOut: LeftOut): QueuedDigest | undefined {
    const found = leastBucket(queue, this.#fromAnyBucket, isLeftOut) ?? leastBucket(queue, 0, isLeftOut)
    if (found !== undefined) this.#fromAnyBucket = found.bucketId + 1
    return found
  }
}

/** Of the bucket with the least id from one on: its smallest class. */
function leastBucket(queue: Queue, from: number, isLeftOut: LeftOut): QueuedDigest | undefined {
  let least: QueuedDigest | undefined
  for (let sizeClass = 0; sizeClass < DIGEST_CLASSES; sizeClass += 1) {
    const found = firstOf(queue, sizeClass, from, isLeftOut)
    if (found !== undefined && (least === undefined || found.bucketId < least.bucketId)) least = found
  }
  return least
}

function firstOf(queue: Queue, sizeClass: number, from: number, isLeftOut: LeftOut): QueuedDigest | undefined {
  return queue.firstQueuedDigest(sizeClass, from, (payload) => isLeftOut(payload, sizeClass === 0))
}
