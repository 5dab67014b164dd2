import { type BucketId, microsecondsOf, type Milliseconds, millisecondsOf } from '../../engine/brands.ts'
import type { EngineClient } from '../../engine/client/engine-client.ts'
import type { PageOutcome } from '../../engine/lifecycle/commands.ts'
import { cutoffOf } from '../../engine/lifecycle/expiry.ts'
import { type AgePosition, LIFECYCLE_ACTIONS, type LifecycleAction } from '../../engine/events/values.ts'
import type { CatalogReader } from '../../projections/catalog/catalog-reader.ts'
import type { CatalogSnapshot } from '../../projections/catalog/catalog-snapshot.ts'
import type { AgePage } from '../../projections/tables/ages.ts'
import { systemAudit } from '../system-audit.ts'

/** Entries of one command, which is one batch of the journal: a longer one would make requests wait. */
const ENTRIES_PER_STEP = 100
/** Rows read in one step. Most of them may have keys of other prefixes, which are passed over. */
const ROWS_PER_STEP = 2000
/** Rules without a page that are checked in one step, four times each: two actions, each in two orders. */
const LOOKS_PER_STEP = 400

/** Counts of a pass. */
export interface PassCounts {
  /** Entries that were due by their age. */
  readonly scanned: number
  readonly expired: number
  /** Kept by a lock, or because the clock cannot be trusted. */
  readonly held: number
  readonly failed: number
}

/** Rules and actions for which it is recorded already that the clock is behind. */
export type ClockNotes = Set<string>

/** One action of one rule in this pass. */
interface Job {
  readonly bucketId: BucketId
  readonly rule: string
  readonly action: LifecycleAction
  /** Entries that it may still take. */
  left: number
  /** First the entries out of the order of age, then those in it. */
  revisited: boolean
  /** The next page starts after this entry; undefined: at the cursor of the rule. */
  after: AgePosition | undefined
  /** An entry could not be removed: the next pass starts with it. */
  hasFailed: boolean
  /** The clock could not be trusted. */
  hasWaited: boolean
}

/** One pass over all rules, in steps of one page. */
export class LifecyclePass {
  readonly #engine: EngineClient
  readonly #catalog: CatalogReader
  readonly #batchSize: number
  readonly #clock: () => Milliseconds
  readonly #clockNotes: ClockNotes
  #lagMicroseconds = 0
  readonly #counts = { scanned: 0, expired: 0, held: 0, failed: 0 }
  #lastBucket: BucketId | undefined
  #jobs: Job[] = []
  /** Pages that were sent to the engine, or were as long as a page may be. */
  #pages = 0

  constructor(
    engine: EngineClient,
    catalog: CatalogReader,
    batchSize: number,
    clock: () => Milliseconds,
    clockNotes: ClockNotes,
  ) {
    this.#engine = engine
    this.#catalog = catalog
    this.#batchSize = batchSize
    this.#clock = clock
    this.#clockNotes = clockNotes
  }

  get counts(): PassCounts {
    return this.#counts
  }

  /**
   * How long the oldest entry that was left undone has been due; 0 if all were done. An entry that a lock holds is not
   * due.
   */
  get lagSeconds(): number {
    return this.#lagMicroseconds / 1_000_000
  }

  /**
   * Handles one page, and the rules before it that have none.
   * @returns whether there is more to do
   * @throws the engine's errors; the entries of the page count as failed
   */
  async step(): Promise<boolean> {
    const before = this.#pages
    for (let looks = 0; looks < LOOKS_PER_STEP && this.#pages === before; looks += 1) {
      if (!(await this.#look())) return false
    }
    return true
  }

  async #look(): Promise<boolean> {
    const snapshot = this.#catalog.snapshot()
    const job = this.#jobs[0]
    if (job === undefined) return this.#nextBucket(snapshot)
    if (await this.#hasMore(job, snapshot)) return true
    if (job.revisited && job.left > 0) {
      job.revisited = false
      job.after = undefined
    } else {
      this.#noteLag(job)
      this.#jobs.shift()
    }
    return true
  }

  /** Notes the lag of a job that took all it may, failed or waited: the oldest entry that it left due. */
  #noteLag({ bucketId, rule: name, action, left, hasFailed, hasWaited }: Job): void {
    if (left > 0 && !hasFailed && !hasWaited) return
    const snapshot = this.#catalog.snapshot()
    const rule = snapshot.lifecycleRules(bucketId).find((other) => other.rule === name)
    const now = this.#now(snapshot)
    const cutoff = rule && cutoffOf(rule, action, now)
    if (rule === undefined || cutoff === undefined) return
    for (const revisited of [true, false]) {
      const through = revisited ? microsecondsOf(now * 1000) : cutoff
      const after = revisited ? undefined : rule.cursors[action]
      const bounds = { entriesMaximum: 1, rowsMaximum: ROWS_PER_STEP }
      const [oldest] = snapshot.agePage(bucketId, {
        action,
        revisited,
        after,
        prefix: rule.prefix,
        since: cutoff,
        through,
        ...bounds,
      }).entries
      if (oldest === undefined) continue
      this.#lagMicroseconds = Math.max(this.#lagMicroseconds, through - oldest.timeMicroseconds)
    }
  }

  /**
   * The journal may be ahead of a clock that was set back: due entries stay due, and the engine reports why it waits.
   */
  #now(snapshot: CatalogSnapshot): Milliseconds {
    return millisecondsOf(Math.max(this.#clock(), snapshot.journalMilliseconds()))
  }

  #nextBucket(snapshot: CatalogSnapshot): boolean {
    const [bucketId] = snapshot.bucketsWithRules(this.#lastBucket, 1)
    if (bucketId === undefined) return false
    this.#lastBucket = bucketId
    this.#jobs = snapshot.lifecycleRules(bucketId).flatMap(({ rule }) =>
      LIFECYCLE_ACTIONS.map((action) => {
        return {
          bucketId,
          rule,
          action,
          left: this.#batchSize,
          revisited: true,
          after: undefined,
          hasFailed: false,
          hasWaited: false,
        }
      }),
    )
    return true
  }

  /** Returns whether these entries of the job go on after this page. */
  async #hasMore(job: Job, snapshot: CatalogSnapshot): Promise<boolean> {
    const { bucketId, action, revisited } = job
    const rule = snapshot.lifecycleRules(bucketId).find((other) => other.rule === job.rule)
    const bucket = snapshot.bucketOfLifecycleRule(job.rule)
    if (rule === undefined || bucket === undefined) return false
    const now = this.#now(snapshot)
    const cutoff = cutoffOf(rule, action, now)
    if (cutoff === undefined) return false
    const after = job.after ?? (revisited ? undefined : rule.cursors[action])
    const page = snapshot.agePage(bucketId, {
      action,
      revisited,
      after,
      prefix: rule.prefix,
      since: cutoff,
      // To the end of the millisecond, so that entries put there a moment ago are included.
      through: revisited ? microsecondsOf(now * 1000 + 999) : cutoff,
      entriesMaximum: Math.min(job.left, ENTRIES_PER_STEP),
      rowsMaximum: ROWS_PER_STEP,
    })
    job.after = page.through ?? after
    if (page.entries.length > 0 || !page.isLast) this.#pages += 1
    if (page.entries.length === 0 && (!page.isLast || revisited || job.after === undefined)) return !page.isLast
    const { end } = await this.#expire(job, { bucket, prefix: rule.prefix }, page)
    return end === 'full' || (end === 'done' && !page.isLast && job.left > 0)
  }

  async #expire(
    job: Job,
    read: { readonly bucket: string; readonly prefix: string },
    { entries }: AgePage,
  ): Promise<PageOutcome> {
    const { bucketId, rule, action, after: through } = job
    const movesCursor = !job.revisited && !job.hasFailed
    const note = `${rule} ${action}`
    const audit = systemAudit('lifecycle', 'lifecycle.scan', `bucket:${read.bucket}`)
    const named = entries.map(({ key, version, timeMicroseconds }) => ({ key, version, timeMicroseconds }))
    const clockIsNoted = this.#clockNotes.has(note)
    const page = { ...read, bucketId, rule, action, movesCursor, entries: named, through, clockIsNoted }
    try {
      const { page: outcome } = await this.#engine.execute({ kind: 'expire-page', audit, ...page })
      if (outcome === undefined) throw new Error('the engine did not say what became of a page')
      this.#count(job, outcome)
      // Entries without room in the batch are read again.
      if (outcome.end === 'full') job.after = named[outcome.scanned - 1]
      if (outcome.end === 'clock') job.hasWaited = true
      if (outcome.end === 'clock') this.#clockNotes.add(note)
      else if (entries.length > 0) this.#clockNotes.delete(note)
      return outcome
    } catch (error) {
      this.#counts.scanned += entries.length
      this.#counts.failed += entries.length
      throw error
    }
  }

  #count(job: Job, { scanned, expired, held, failed }: PageOutcome): void {
    job.left -= scanned
    if (failed > 0) job.hasFailed = true
    this.#counts.scanned += scanned
    this.#counts.expired += expired
    this.#counts.held += held
    this.#counts.failed += failed
  }
}
