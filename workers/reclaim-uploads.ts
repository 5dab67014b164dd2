import type { UploadId } from '../engine/brands.ts'
import type { EngineClient } from '../engine/client/engine-client.ts'
import type { OpaqueIds } from '../engine/keys/opaque-ids.ts'
import type { CatalogReader } from '../projections/catalog/catalog-reader.ts'
import type { CatalogSnapshot } from '../projections/catalog/catalog-snapshot.ts'
import type { UploadPlace } from '../projections/catalog/upload-listing.ts'
import { systemAudit } from './system-audit.ts'
import type { BackgroundWorker, StepResult } from './worker.ts'

const UPLOADS_PER_STEP = 256
/** Interval of passes that look at ages: uploads are dropped after days, and each has to be read. */
const AGES_EVERY_MILLISECONDS = 60_000
const MILLISECONDS_PER_DAY = 86_400_000

/** After how many days uploads in progress are dropped; 0: never. */
interface ReclaimOptions {
  readonly afterDays: number
  /** The ids that clients know, for the records. */
  readonly uploadIds: Pick<OpaqueIds<UploadId>, 'encode'>
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

/**
 * Drops uploads in progress that their bucket has left behind when it was deleted, which no request can complete or abort
 * any more, and uploads that were created too long ago. Each is aborted as a request would.
 */
export class UploadReclaim implements BackgroundWorker {
  readonly name = 'reclaim-uploads'
  readonly #engine: EngineClient
  readonly #catalog: CatalogReader
  readonly #options: ReclaimOptions
  #after: UploadPlace | undefined
  /** Uploads created before this are dropped by the pass that runs; undefined when it looks at no ages. */
  #createdBefore: number | undefined
  #lastAges = Number.NEGATIVE_INFINITY
  #ofDeleted = 0
  #ofAge = 0

  constructor(engine: EngineClient, catalog: CatalogReader, options: ReclaimOptions) {
    this.#engine = engine
    this.#catalog = catalog
    this.#options = options
  }

  get status(): string {
    return `${this.#ofDeleted} uploads of deleted buckets and ${this.#ofAge} old ones reclaimed`
  }

  async step(): Promise<StepResult> {
    const snapshot = this.#catalog.snapshot()
    if (this.#after === undefined) this.#beginPass()
    const uploads = snapshot.uploadsInProgress(this.#after, UPLOADS_PER_STEP)
    const living = new Set(snapshot.buckets().map(({ id }) => id))
    // Judged at once: the snapshot is gone after the first await.
    const dropped = uploads.flatMap((place) => {
      const isDeleted = !living.has(place.bucketId)
      if (!isDeleted && !this.#isOld(snapshot, place)) return []
      const resource = `bucket:${snapshot.bucketName(place.bucketId)}/${place.key}`
      return [{ place, resource, reason: isDeleted ? 'bucket-deleted' : 'abandoned' }]
    })
    for (const { place, resource, reason } of dropped) {
      const metadata = ['reason', reason, 'upload_id', this.#options.uploadIds.encode(place.upload)]
      const audit = { ...systemAudit('uploads', 'upload.reclaim', resource), metadata }
      await this.#engine.execute({ kind: 'reclaim-upload', audit, ...place })
      if (reason === 'abandoned') this.#ofAge += 1
      else this.#ofDeleted += 1
    }
    this.#after = uploads.length === UPLOADS_PER_STEP ? uploads.at(-1) : undefined
    return this.#after === undefined ? 'idle' : 'more'
  }

  #beginPass(): void {
    this.#createdBefore = undefined
    if (this.#options.afterDays === 0) return
    const now = this.#options.clock()
    // Also when the clock was set back since.
    if (Math.abs(now - this.#lastAges) < AGES_EVERY_MILLISECONDS) return
    this.#lastAges = now
    this.#createdBefore = 1000 * (now - this.#options.afterDays * MILLISECONDS_PER_DAY)
  }

  #isOld(snapshot: CatalogSnapshot, { bucketId, key, upload }: UploadPlace): boolean {
    if (this.#createdBefore === undefined) return false
    const found = snapshot.upload(bucketId, key, upload)
    return found !== undefined && (found.agedMicroseconds ?? found.createdMicroseconds) <= this.#createdBefore
  }
}
