import { isRowDamage } from '../../../engine/errors.ts'
import type { EngineClient } from '../../../engine/client/engine-client.ts'
import type { Clock } from '../../../engine/clock.ts'
import type { Journal } from '../../../engine/journal/journal.ts'
import type { CatalogReader } from '../../../projections/catalog/catalog-reader.ts'
import { systemAudit } from '../../../workers/system-audit.ts'

const OBSERVER = systemAudit('clock', 'clock.observe', 'server')

/**
 * Keeps the high-water mark of the clock (specification, Limits, Object Lock clock). The times of journal entries never go
 * back, so every entry is a mark; after an interval without entries one is written for this purpose. A store without
 * Object Lock needs no marks and writes none.
 */
export class ClockWatermark {
  readonly #timer: NodeJS.Timeout

  constructor(client: EngineClient, catalog: CatalogReader, journal: Journal, clock: Clock, intervalSeconds: number) {
    const observe = () => {
      const isRecent = clock() - journal.position.orderMicroseconds < intervalSeconds * 1_000_000
      if (isRecent || !hasLocks(catalog)) return
      const changes = [{ name: 'clock.observed' } as const]
      // A failure of the engine is reported elsewhere.
      client.execute({ kind: 'record-server-event', audit: OBSERVER, changes }).catch(() => undefined)
    }
    this.#timer = setInterval(observe, intervalSeconds * 1000)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

function hasLocks(catalog: CatalogReader): boolean {
  try {
    return catalog
      .snapshot()
      .buckets()
      .some(({ lockEnabled }) => lockEnabled)
  } catch (error) {
    // Whatever the damaged row said: a mark too many does no harm.
    if (isRowDamage(error)) return true
    throw error
  }
}
