import { type BucketId, type PayloadId, payloadIdOf } from '../../engine/brands.ts'
import type { PartList } from '../../engine/payloads/payload-reader.ts'
import type { CatalogReader } from '../../projections/catalog/catalog-reader.ts'
import type { UploadPlace } from '../../projections/catalog/upload-listing.ts'
import { isBeginOf } from './is-begin-of.ts'
import { PartHash } from './part-hash.ts'

/** Uploads hashed ahead at the same time, and of one bucket; any other is hashed after its completion. */
const AHEAD_MAXIMUM = 64
const BUCKET_MAXIMUM = 16
const UPLOADS_PER_STEP = 256

interface Ahead {
  readonly place: UploadPlace
  readonly hash: PartHash
  /** Payload ids of the hashed parts. */
  readonly payloads: (PayloadId | undefined)[]
  /** The part to hash next. */
  next: PayloadId | undefined
}

/** Some more of an upload that can be hashed. */
interface AheadStep {
  /** The payload that the upload becomes. */
  readonly whole: PayloadId
  readonly hash: PartHash
  /** The part to be hashed. */
  readonly payload: PayloadId | undefined
}

/** The hashes of uploads in progress, one upload after the other. */
export class UploadsAhead {
  readonly #catalog: CatalogReader
  /** By the payload that an upload becomes. */
  readonly #ahead = new Map<PayloadId, Ahead>()
  /** The upload examined last; undefined at the start of a round. */
  #after: UploadPlace | undefined
  #foundInRound = false

  constructor(catalog: CatalogReader) {
    this.#catalog = catalog
  }

  get count(): number {
    return this.#ahead.size
  }

  forget(whole: PayloadId): void {
    this.#ahead.delete(whole)
  }

  /** The hash of a completed upload; undefined without one, or with other parts. */
  take(whole: PayloadId, parts: PartList): PartHash | undefined {
    const ahead = this.#ahead.get(whole)
    this.#ahead.delete(whole)
    if (ahead === undefined) return undefined
    addHashed(ahead)
    const { hash, payloads } = ahead
    if (!isBeginOf(payloads, parts)) return undefined
    const isSame = hash.begun === undefined || (hash.count < parts.count && parts.payload(hash.count) === hash.begun)
    return isSame ? hash : undefined
  }

  /** The next upload with bytes to be hashed; otherwise whether some uploads were not examined. */
  next(unreadable: ReadonlySet<PayloadId>): AheadStep | 'more' | 'idle' {
    const snapshot = this.#catalog.snapshot()
    if (this.#after === undefined) this.#dropGone()
    const places = snapshot.uploadsInProgress(this.#after, UPLOADS_PER_STEP)
    for (const place of places) {
      this.#after = place
      const step = this.#stepOf(place)
      if (step === undefined || (step.payload !== undefined && unreadable.has(step.payload))) continue
      this.#foundInRound = true
      return step
    }
    const isOver = places.length < UPLOADS_PER_STEP
    const isIdle = isOver && !this.#foundInRound
    if (isOver) {
      this.#after = undefined
      this.#foundInRound = false
    }
    return isIdle ? 'idle' : 'more'
  }

  #stepOf(place: UploadPlace): AheadStep | undefined {
    const { bucketId, upload } = place
    const whole = payloadIdOf(upload)
    const ahead = this.#ahead.get(whole)
    if (ahead !== undefined) addHashed(ahead)
    const part = this.#catalog.snapshot().part(upload, (ahead?.payloads.length ?? 0) + 1)
    if (part === undefined) return undefined
    const { payload } = part
    if (ahead === undefined) {
      if (!this.#hasRoomFor(bucketId)) return undefined
      const begun = { place, hash: new PartHash(), payloads: [], next: payload }
      this.#ahead.set(whole, begun)
      return { whole, hash: begun.hash, payload }
    }
    // Half of a part that was sent again meanwhile is of no use.
    if (ahead.hash.begun !== undefined && ahead.hash.begun !== payload) {
      this.#ahead.delete(whole)
      return undefined
    }
    ahead.next = payload
    return { whole, hash: ahead.hash, payload }
  }

  #hasRoomFor(bucketId: BucketId): boolean {
    if (this.#ahead.size >= AHEAD_MAXIMUM) return false
    let count = 0
    for (const { place } of this.#ahead.values()) if (place.bucketId === bucketId) count += 1
    return count < BUCKET_MAXIMUM
  }

  /** Uploads that were completed and hashed, or aborted. */
  #dropGone(): void {
    const snapshot = this.#catalog.snapshot()
    for (const [whole, { place }] of this.#ahead) {
      const isThere = snapshot.upload(place.bucketId, place.key, place.upload) !== undefined
      if (!isThere && snapshot.payload(whole) === undefined) this.#ahead.delete(whole)
    }
  }
}

/** Notes the part that was hashed to its end. */
function addHashed(ahead: Ahead): void {
  if (ahead.hash.count > ahead.payloads.length) ahead.payloads.push(ahead.next)
}
