import { type Microseconds, next, type Sequence, sequenceOf } from '../../engine/brands.ts'
import type { SegmentPlace } from '../../engine/journal/positions.ts'
import { type AuditFilter, compileFilter } from './audit-filter.ts'
import { type AuditRecord, auditRecord, isEntry } from './audit-record.ts'
import type { JournalCursor } from './journal-cursor.ts'
import { DamageList, damageOfGap, damageOfRecord, mayBeIn } from './journal-damage.ts'
import { JournalRange } from './journal-range.ts'
import { RecordFrames } from './record-frames.ts'
import type { Stretch } from './time-stretches.ts'
import type { Turns } from './turns.ts'

/**
 * Most records examined for one page, a long record counted once for each `COUNTED_BYTES`: some ten turns of work. The
 * next page continues after them.
 */
export const SCAN_MAXIMUM = 50_000
const COUNTED_BYTES = 512
/** How many records the beginning of a stretch counts as that an index named: about as much work. */
export const STRETCH_COUNTED = 32

/** How many records of `SCAN_MAXIMUM` a body counts as. */
export function countedAs(bodyLength: number): number {
  return Math.max(1, Math.ceil(bodyLength / COUNTED_BYTES))
}

/** A page ends after this many bytes of matching records, as they are in the journal. */
export const PAGE_BYTES_MAXIMUM = 1024 ** 2

/** A place in the log; the next page starts after it. Its sequence decides: times may go back. */
export interface AuditCursor {
  readonly timeMicroseconds: Microseconds
  readonly sequence: Sequence
}

/** Times are microseconds since 1970. */
export interface AuditQuery extends AuditFilter {
  /** Inclusive. */
  readonly sinceMicroseconds: Microseconds
  /** Exclusive. */
  readonly untilMicroseconds: Microseconds
  /** In the order of the page: with the newest first, the page continues with earlier records. */
  readonly after?: AuditCursor | undefined
  readonly newestFirst?: boolean | undefined
  /** Records of the page at most. */
  readonly limit: number
}

export interface AuditPage {
  /** By sequence, in the order that was asked for. */
  readonly records: readonly AuditRecord[]
  /** Start of the next page; undefined at the end of the range. */
  readonly next: AuditCursor | undefined
  /** The page ended after `SCAN_MAXIMUM` records or a MiB of them: it is short although more follows. */
  readonly scanTruncated: boolean
  /** Records of the range could not be read: they may be missing from the page, or be in it as unreadable. */
  readonly damaged: boolean
  /** Those records, with the sequences and the place. */
  readonly damage: DamageList
}

/** Reads a stretch from a sequence of it on. */
export function rangeOf(cursor: JournalCursor, wanted: Sequence, { following, segments }: Stretch): JournalRange {
  return new JournalRange(cursor, wanted, following, 'at wanted', segments !== undefined)
}

/** Reads one page, the oldest records first. */
export class AuditScan {
  readonly #query: AuditQuery
  /** The first sequence that can match. */
  readonly #wanted: Sequence
  readonly #turns: Turns
  readonly #matches: (body: Buffer) => boolean
  readonly #scanMaximum: number
  readonly #records: AuditRecord[] = []
  #scanned = 0
  #bytes = 0
  #last: AuditCursor | undefined
  readonly #damage = new DamageList()
  #over = false

  constructor(query: AuditQuery, turns: Turns, scanMaximum: number) {
    this.#query = query
    this.#wanted = query.after === undefined ? sequenceOf(0) : next(query.after.sequence)
    this.#turns = turns
    this.#matches = compileFilter(query)
    this.#scanMaximum = scanMaximum
  }

  /** @param stretches that can hold a record that the query wants; `cursorOf` opens one of them */
  async run(stretches: Iterable<Stretch>, cursorOf: (stretch: Stretch) => JournalCursor): Promise<AuditPage> {
    for (const stretch of stretches) {
      if (this.#over) break
      const cursor = cursorOf(stretch)
      try {
        await this.#stretch(stretch, cursor)
      } finally {
        cursor.close()
      }
      if (stretch.segments !== undefined && this.#last !== undefined) this.#scanned += STRETCH_COUNTED
      this.#over ||= this.#scanned >= this.#scanMaximum
    }
    const isCut = this.#scanned >= this.#scanMaximum || this.#bytes >= PAGE_BYTES_MAXIMUM
    const scanTruncated = isCut && this.#records.length < this.#query.limit
    const goesOn = scanTruncated || this.#records.length === this.#query.limit
    return {
      records: this.#records,
      next: goesOn ? this.#last : undefined,
      scanTruncated,
      damaged: this.#damage.count > 0,
      damage: this.#damage,
    }
  }

  async #stretch(stretch: Stretch, cursor: JournalCursor): Promise<void> {
    const { sinceMicroseconds, untilMicroseconds } = this.#query
    const wanted = sequenceOf(Math.max(this.#wanted, stretch.first))
    // Records up to the end were acknowledged: a log that ends earlier lacks some.
    const journal = rangeOf(cursor, wanted, stretch)
    let isPassed = false
    while (!this.#over && !isPassed) {
      const step = await journal.next()
      if (step === undefined) break
      if (step.kind === 'batch') {
        const frames = new RecordFrames(step.bytes, step.header)
        isPassed = (await this.#batch(frames, journal.place, stretch)) && stretch.isOrdered
      } else if (!stretch.isOrdered || mayBeIn(step, sinceMicroseconds, untilMicroseconds)) {
        this.#damage.add(damageOfGap(step))
      }
    }
  }

  /** @returns whether all of its records are later than the range */
  async #batch(frames: RecordFrames, place: SegmentPlace, { isOrdered, first, following }: Stretch): Promise<boolean> {
    const { sinceMicroseconds, untilMicroseconds, limit } = this.#query
    let areLater = true
    while (!this.#over && frames.next()) {
      const { sequence, timeMicroseconds } = frames
      areLater &&= timeMicroseconds >= untilMicroseconds
      const isInRange = timeMicroseconds >= sinceMicroseconds && timeMicroseconds < untilMicroseconds
      // Without an order any number of records outside the range may come, and a page is bounded.
      if (sequence < this.#wanted || (!isInRange && isOrdered) || !isEntry(frames)) continue
      if (sequence < first || sequence >= following) continue
      this.#scanned += countedAs(frames.bodyLength)
      this.#last = { timeMicroseconds, sequence }
      if (isInRange && this.#matches(frames.body)) {
        const record = auditRecord(frames)
        if (record.isUnreadable === true) this.#damage.add(damageOfRecord(sequence, place))
        this.#records.push(record)
        this.#bytes += frames.body.length
      }
      const isFull = this.#records.length === limit || this.#bytes >= PAGE_BYTES_MAXIMUM
      this.#over = isFull || this.#scanned >= this.#scanMaximum
      if (this.#turns.isOver) await this.#turns.next()
    }
    return areLater
  }
}
