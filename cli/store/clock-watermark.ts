import type { EngineClient } from '../../engine/client.ts'
import type { Clock } from '../../engine/clock.ts'
import type { AuditContext } from '../../engine/events/audit.ts'
import type { Journal } from '../../engine/journal/journal.ts'
import type { CatalogReader } from '../../projections/catalog-reader.ts'

const OBSERVER: AuditContext = {
  principal: 'system:clock',
  credentialId: undefined,
  sourceAddress: undefined,
  requestId: undefined,
  operation: 'clock.observe',
  resource: 'server',
  metadata: [],
}

/**
 * Keeps the high-water mark of the clock (specification, Limits, Object Lock clock). Every entry of the journal carries
 * a time that never goes back, so any entry is a mark; where nothing was written for an interval, one is written for
 * this alone. A store without a bucket under Object Lock has nothing to judge and writes none.
 */
export class ClockWatermark {
  readonly #timer: NodeJS.Timeout

  constructor(client: EngineClient, catalog: CatalogReader, journal: Journal, clock: Clock, intervalSeconds: number) {
    const observe = () => {
      const isRecent = clock() - journal.position.timeMicroseconds < intervalSeconds * 1_000_000
      if (isRecent || !catalog.buckets().some((bucket) => bucket.lockEnabled)) return
      const changes = [{ name: 'clock.observed' } as const]
      // A failure of the engine is told to everyone by itself.
      client.execute({ kind: 'record-server-event', audit: OBSERVER, changes }).catch(() => undefined)
    }
    this.#timer = setInterval(observe, intervalSeconds * 1000)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
