import type { EngineClient } from '../engine/client/engine-client.ts'
import type { CatalogReader } from '../projections/catalog/catalog-reader.ts'
import type { UploadPlace } from '../projections/catalog/upload-listing.ts'
import { systemAudit } from './system-audit.ts'
import type { BackgroundWorker, StepResult } from './worker.ts'

const UPLOADS_PER_STEP = 256

/** Drops the uploads in progress of deleted buckets, which no request can complete or abort any more. */
export class UploadReclaim implements BackgroundWorker {
  readonly name = 'reclaim-uploads'
  readonly #engine: EngineClient
  readonly #catalog: CatalogReader
  #after: UploadPlace | undefined
  #reclaimed = 0

  constructor(engine: EngineClient, catalog: CatalogReader) {
    this.#engine = engine
    this.#catalog = catalog
  }

  get status(): string {
    return `${this.#reclaimed} uploads of deleted buckets reclaimed`
  }

  async step(): Promise<StepResult> {
    const snapshot = this.#catalog.snapshot()
    const uploads = snapshot.uploadsInProgress(this.#after, UPLOADS_PER_STEP)
    const buckets = new Set(snapshot.buckets().map((bucket) => bucket.id))
    for (const place of uploads) {
      if (buckets.has(place.bucketId)) continue
      const audit = systemAudit('uploads', 'upload.reclaim', `upload:${place.upload}`)
      await this.#engine.execute({ kind: 'reclaim-upload', audit, ...place })
      this.#reclaimed += 1
    }
    this.#after = uploads.length === UPLOADS_PER_STEP ? uploads.at(-1) : undefined
    return this.#after === undefined ? 'idle' : 'more'
  }
}
