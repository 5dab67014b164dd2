import { type AuditFilter, compileFilter } from './audit-filter.ts'
import { type AuditRecord, auditRecord, isEntry } from './audit-record.ts'
import type { JournalCursor, JournalEnd, JournalStep } from './journal-cursor.ts'
import { RecordFrames } from './record-frames.ts'
import type { Turns } from './turns.ts'

/** Records looked at for one page. The next page goes on behind them. */
export const SCAN_MAXIMUM = 200_000

/** A place in the log behind which the next page begins. */
export interface AuditCursor {
  readonly timeMicroseconds: number
  readonly sequence: number
}

/** Times are microseconds since 1970. */
export interface AuditQuery extends AuditFilter {
  /** Inclusive. */
  readonly sinceMicroseconds: number
  /** Exclusive. */
  readonly untilMicroseconds: number
  readonly after?: AuditCursor | undefined
  /** Records of the page at most. */
  readonly limit: number
}

export interface AuditPage {
  /** By time, which is by sequence. */
  readonly records: readonly AuditRecord[]
  /** Where the next page begins; undefined when the range is at its end. */
  readonly next: AuditCursor | undefined
  /** The page ended after `SCAN_MAXIMUM` records: it may be short although there is more. */
  readonly scanTruncated: boolean
  /** Records of the range could not be read, so the page may lack some. */
  readonly damaged: boolean
}

/** First time that a query can want. */
export function firstMicroseconds({ sinceMicroseconds, after }: AuditQuery): number {
  return Math.max(sinceMicroseconds, after?.timeMicroseconds ?? 0, 0)
}

/** Reads one page. */
export class AuditScan {
  readonly #query: AuditQuery
  readonly #firstMicroseconds: number
  readonly #end: JournalEnd
  readonly #turns: Turns
  readonly #matches: (body: Buffer) => boolean
  readonly #scanMaximum: number
  readonly #records: AuditRecord[] = []
  #scanned = 0
  #last: AuditCursor | undefined
  /** Sequence of the next record; undefined before the first. */
  #expected: number | undefined
  #damaged = false
  #over = false

  constructor(query: AuditQuery, end: JournalEnd, turns: Turns, scanMaximum: number) {
    this.#query = query
    this.#firstMicroseconds = firstMicroseconds(query)
    this.#end = end
    this.#turns = turns
    this.#matches = compileFilter(query)
    this.#scanMaximum = scanMaximum
  }

  /** @param cursor at or before the first record that the query wants */
  async run(cursor: JournalCursor): Promise<AuditPage> {
    const wanted = (this.#query.after?.sequence ?? -1) + 1
    let step: JournalStep | undefined
    while (!this.#over) {
      step = await cursor.next(wanted)
      if (step === undefined) break
      if (step.kind === 'batch' && step.whole) await this.#batch(new RecordFrames(step.bytes, step.header))
      else if (step.kind !== 'segment') this.#damaged = true
    }
    // Records up to the end were acknowledged: a log that ends earlier lacks some.
    if (!this.#over) this.#damaged ||= (this.#expected ?? wanted) <= this.#end.sequence
    const scanTruncated = this.#scanned >= this.#scanMaximum && this.#records.length < this.#query.limit
    const goesOn = scanTruncated || this.#records.length === this.#query.limit
    return {
      records: this.#records,
      next: goesOn ? this.#last : undefined,
      scanTruncated,
      damaged: this.#damaged,
    }
  }

  async #batch(frames: RecordFrames): Promise<void> {
    const { untilMicroseconds, after, limit } = this.#query
    const afterSequence = after?.sequence ?? -1
    while (!this.#over && frames.next()) {
      const { sequence, timeMicroseconds } = frames
      if (this.#expected !== undefined && sequence !== this.#expected) this.#damaged = true
      this.#expected = sequence + 1
      if (timeMicroseconds < this.#firstMicroseconds || sequence <= afterSequence) continue
      if (timeMicroseconds >= untilMicroseconds) {
        this.#over = true
        return
      }
      if (!isEntry(frames)) continue
      this.#scanned += 1
      this.#last = { timeMicroseconds, sequence }
      if (this.#matches(frames.body)) this.#records.push(auditRecord(frames))
      this.#over = this.#records.length === limit || this.#scanned >= this.#scanMaximum
      if (this.#turns.isOver) await this.#turns.next()
    }
  }
}
