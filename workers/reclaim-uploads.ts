import type { EngineClient } from '../engine/client/engine-client.ts'
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
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

/**
 * Drops uploads in progress of deleted buckets, which no request can complete or abort any more, and uploads that were
 * created too long ago. Each is aborted as a request would.
 */
export class UploadReclaim implements BackgroundWorker {
  readonly name = 'reclaim-uploads'
  readonly #engine: EngineClient
  readonly #catalog: CatalogReader
  readonly #options: ReclaimOptions | undefined
  #after: UploadPlace | undefined
  /** Uploads created before this are dropped by the pass that runs; undefined when it looks at no ages. */
  #createdBefore: number | undefined
  #lastAges = Number.NEGATIVE_INFINITY
  #ofDeleted = 0
  #ofAge = 0

  /** @param options without them no upload is too old */
  constructor(engine: EngineClient, catalog: CatalogReader, options?: ReclaimOptions) {
    this.#engine = engine
    this.#catalog = catalog
    this.#options = options?.afterDays === 0 ? undefined : options
  }

  get status(): string {
    return `${this.#ofDeleted} uploads of deleted buckets and ${this.#ofAge} old ones reclaimed`
  }

  async step(): Promise<StepResult> {
    const snapshot = this.#catalog.snapshot()
    if (this.#after === undefined) this.#beginPass()
    const uploads = snapshot.uploadsInProgress(this.#after, UPLOADS_PER_STEP)
    const buckets = new Map(snapshot.buckets().map(({ id, name }) => [id, name]))
    // Judged at once: the snapshot is gone after the first await.
    const dropped = uploads.flatMap((place) => {
      const bucket = buckets.get(place.bucketId)
      if (bucket === undefined) return [{ place, resource: `upload:${place.upload}`, reason: 'bucket-deleted' }]
      if (!this.#isOld(snapshot, place)) return []
      return [{ place, resource: `bucket:${bucket}/${place.key}`, reason: 'abandoned' }]
    })
    for (const { place, resource, reason } of dropped) {
      const audit = { ...systemAudit('uploads', 'upload.reclaim', resource), metadata: ['reason', reason] }
      await this.#engine.execute({ kind: 'reclaim-upload', audit, ...place })
      if (reason === 'abandoned') this.#ofAge += 1
      else this.#ofDeleted += 1
    }
    this.#after = uploads.length === UPLOADS_PER_STEP ? uploads.at(-1) : undefined
    return this.#after === undefined ? 'idle' : 'more'
  }

  #beginPass(): void {
    this.#createdBefore = undefined
    if (this.#options === undefined) return
    const now = this.#options.clock()
    // Also when the clock was set back since.
    if (Math.abs(now - this.#lastAges) < AGES_EVERY_MILLISECONDS) return
    this.#lastAges = now
    this.#createdBefore = 1000 * (now - this.#options.afterDays * MILLISECONDS_PER_DAY)
  }

  #isOld(snapshot: CatalogSnapshot, { bucketId, key, upload }: UploadPlace): boolean {
    if (this.#createdBefore === undefined) return false
    const found = snapshot.upload(bucketId, key, upload)
    return found !== undefined && found.createdMicroseconds <= this.#createdBefore
  }
}
