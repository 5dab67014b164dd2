import { Rate } from '../../engine/shares/rate.ts'
import type { Milliseconds } from '../../engine/brands.ts'
import type { EngineClient } from '../../engine/client/engine-client.ts'
import { isScrubbing } from '../../engine/scrub/rules.ts'
import type { ScrubDamage } from '../../engine/events/values.ts'
import type { CatalogReader } from '../../projections/catalog/catalog-reader.ts'
import { systemAudit } from '../system-audit.ts'
import type { BackgroundWorker, StepResult } from '../worker.ts'
import { ScrubPass, type Scrubbed } from './scrub-pass.ts'

const DAY_MILLISECONDS = 86_400_000
/** Interval of recording the progress of a pass: a crash repeats at most this much. */
const RECORD_MILLISECONDS = 300_000
/** Delay of recording found damage, so that one search finds the objects of all of it. */
const DAMAGE_MILLISECONDS = 10_000

const AUDIT = systemAudit('scrub', 'storage.scrub', 'storage')

interface ScrubOptions {
  /** Days from the end of a pass to the start of the next; 0: passes start only on request. */
  readonly intervalDays: number
  readonly bytesPerSecond: number
  /** When the store was made; its first pass is due an interval later. */
  readonly createdMilliseconds: Milliseconds
  /** The time of day. */
  readonly clock: () => Milliseconds
  /** Milliseconds of a clock that is never set. */
  readonly timer: () => number
  readonly onDamage: (damage: ScrubDamage) => void
  readonly onEnd: (pass: ScrubPass['progress']) => void
}

/**
 * Reads all stored data, at a bounded rate, so that damage is found while a backup still has the data (J17). The
 * progress and the findings of a pass are in the journal, so a restart continues it.
 */
export class StoreScrub implements BackgroundWorker {
  readonly name = 'scrub'
  readonly #engine: EngineClient
  readonly #catalog: CatalogReader
  readonly #scrubbed: Scrubbed
  readonly #options: ScrubOptions
  /** Bytes; a second of them is saved up, so a pause is not followed by a burst. */
  readonly #rate: Rate
  #pass: ScrubPass | undefined
  #recordedAt = 0

  constructor(engine: EngineClient, catalog: CatalogReader, scrubbed: Scrubbed, options: ScrubOptions) {
    this.#engine = engine
    this.#catalog = catalog
    this.#scrubbed = scrubbed
    this.#options = options
    this.#rate = new Rate({
      perSecond: options.bytesPerSecond,
      saved: options.bytesPerSecond,
      initial: 0,
      now: options.timer,
    })
  }

  get status(): string {
    const progress = this.#pass?.progress
    if (progress === undefined) return 'no pass is under way'
    const { payloads, segments, bytes, damaged } = progress
    return `${payloads} payloads and ${segments} segments read, ${bytes} bytes, ${damaged} damaged`
  }

  async step(): Promise<StepResult> {
    const pass = this.#passUnderWay()
    if (pass === undefined) {
      if (!this.#isDue()) return 'idle'
      await this.#engine.execute({ kind: 'begin-scrub', audit: AUDIT })
      return 'more'
    }
    if (this.#rate.allowed <= 0) return 'idle'
    this.#rate.spend(await pass.step())
    if (this.#mustRecord(pass)) await this.#record(pass)
    return 'more'
  }

  /** Records how far the pass is. Damage whose objects are not known yet is found again after the restart. */
  async close(): Promise<void> {
    const pass = this.#pass
    this.#pass = undefined
    if (pass !== undefined && pass.damage.length === 0 && pass.hasMoved) await this.#execute(pass, [])
    pass?.close()
  }

  /** The running pass, by the journal. */
  #passUnderWay(): ScrubPass | undefined {
    const progress = this.#catalog.snapshot().scrub()?.progress
    const present = this.#pass
    if (isScrubbing(progress) && present?.progress.startedMicroseconds === progress.startedMicroseconds) return present
    present?.close()
    this.#recordedAt = this.#options.timer()
    this.#pass = isScrubbing(progress) ? new ScrubPass(this.#catalog, this.#scrubbed, progress) : undefined
    return this.#pass
  }

  /** When the next pass is due, in seconds since 1970; undefined where passes start only on request. */
  get dueSeconds(): number | undefined {
    const { intervalDays, createdMilliseconds } = this.#options
    if (intervalDays === 0) return undefined
    const completed = this.#catalog.snapshot().scrub()?.completedMicroseconds
    const from = completed === undefined ? createdMilliseconds : completed / 1000
    return (from + intervalDays * DAY_MILLISECONDS) / 1000
  }

  #isDue(): boolean {
    const due = this.dueSeconds
    return due !== undefined && this.#options.clock() >= due * 1000
  }

  #mustRecord(pass: ScrubPass): boolean {
    if (pass.progress.stage === 'over' || pass.isFull) return true
    const longest = pass.damage.length === 0 ? RECORD_MILLISECONDS : DAMAGE_MILLISECONDS
    return this.#options.timer() - this.#recordedAt >= longest
  }

  async #record(pass: ScrubPass): Promise<void> {
    const damage = await pass.damageWithObjects()
    await this.#execute(pass, damage)
    pass.forget(damage.length)
    this.#recordedAt = this.#options.timer()
    for (const each of damage) this.#options.onDamage(each)
    if (pass.progress.stage === 'over') this.#options.onEnd(pass.progress)
  }

  async #execute({ progress }: ScrubPass, damage: readonly ScrubDamage[]): Promise<void> {
    await this.#engine.execute({ kind: 'record-scrub', audit: AUDIT, progress, damage })
  }
}
