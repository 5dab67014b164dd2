import type { Milliseconds } from '../../engine/brands.ts'
import type { EngineClient } from '../../engine/client/engine-client.ts'
import type { CatalogReader } from '../../projections/catalog/catalog-reader.ts'
import { type ClockNotes, LifecyclePass, type PassCounts } from './lifecycle-pass.ts'
import type { BackgroundWorker, StepResult } from '../worker.ts'

interface LifecycleOptions {
  readonly intervalSeconds: number
  /** Entries of one pass, for each rule and action. */
  readonly batchSize: number
  /** The time of day. */
  readonly clock: () => Milliseconds
  /** Milliseconds of a clock that is never set, for the timer. */
  readonly timer: () => number
  /** Called after a pass that judged any entry, or failed. */
  readonly onPass: (counts: PassCounts, failure: unknown) => void
}

/** A completed pass. */
interface CompletedPass {
  readonly endedMilliseconds: Milliseconds
  /** How long the oldest entry that it left undone had been due. */
  readonly lagSeconds: number
}

const COUNTED = ['scanned', 'expired', 'held', 'failed'] as const

/**
 * Carries out the lifecycle rules (specification, Lifecycle). A timer starts a pass, unless one is running. A pass that
 * fails ends there, and the next one continues where the journal says.
 */
export class LifecycleExpiry implements BackgroundWorker {
  readonly name = 'lifecycle'
  readonly #engine: EngineClient
  readonly #catalog: CatalogReader
  readonly #options: LifecycleOptions
  /** Rules that found the clock behind, in this pass or the one before. */
  readonly #clockNotes: ClockNotes = new Set()
  #nextAt: number
  #pass: LifecyclePass | undefined
  readonly #totals = { scanned: 0, expired: 0, held: 0, failed: 0 }
  #lastPass: CompletedPass | undefined

  constructor(engine: EngineClient, catalog: CatalogReader, options: LifecycleOptions) {
    this.#engine = engine
    this.#catalog = catalog
    this.#options = options
    this.#nextAt = options.timer() + options.intervalSeconds * 1000
  }

  get status(): string {
    return `${this.#totals.expired} objects and versions expired, ${this.#totals.held} skipped because of a lock`
  }

  /** Of all passes since the start, as far as they have ended. */
  get totals(): PassCounts {
    return this.#totals
  }

  /** Undefined until a pass has covered every rule. */
  get lastPass(): CompletedPass | undefined {
    return this.#lastPass
  }

  async step(): Promise<StepResult> {
    this.#pass ??= this.#begin()
    const pass = this.#pass
    if (pass === undefined) return 'idle'
    let failure: unknown
    try {
      if (await pass.step()) return 'more'
    } catch (error) {
      failure = error
    }
    this.#pass = undefined
    const { counts } = pass
    for (const name of COUNTED) this.#totals[name] += counts[name]
    if (failure === undefined) {
      this.#lastPass = { endedMilliseconds: this.#options.clock(), lagSeconds: pass.lagSeconds }
    }
    if (counts.scanned + counts.held > 0 || failure !== undefined) this.#options.onPass(counts, failure)
    return 'idle'
  }

  #begin(): LifecyclePass | undefined {
    const now = this.#options.timer()
    if (now < this.#nextAt) return undefined
    // A tick during a pass is not made up for.
    const interval = this.#options.intervalSeconds * 1000
    this.#nextAt += interval * Math.ceil((now - this.#nextAt + 1) / interval)
    const { batchSize, clock } = this.#options
    return new LifecyclePass(this.#engine, this.#catalog, batchSize, clock, this.#clockNotes)
  }
}
