import { type Microseconds, microsecondsOf, next, type Sequence, sequenceOf } from '../../engine/brands.ts'
import { type AuditFilter, compileFilter } from './audit-filter.ts'
import { type AuditRecord, auditRecord, isEntry } from './audit-record.ts'
import type { JournalCursor, JournalEnd } from './journal-cursor.ts'
import { RecordFrames } from './record-frames.ts'
import type { Turns } from './turns.ts'

/**
 * Most records examined for one page, a long record counted once for each `COUNTED_BYTES`: some ten turns of work. The
 * next page continues after them.
 */
export const SCAN_MAXIMUM = 50_000
const COUNTED_BYTES = 512

/** How many records of `SCAN_MAXIMUM` a body counts as. */
export function countedAs(bodyLength: number): number {
  return Math.max(1, Math.ceil(bodyLength / COUNTED_BYTES))
}

/** A page ends after this many bytes of matching records, as they are in the journal. */
export const PAGE_BYTES_MAXIMUM = 1024 ** 2

/** A place in the log; the next page starts after it. */
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
  /** By time, which is by sequence, in the order that was asked for. */
  readonly records: readonly AuditRecord[]
  /** Start of the next page; undefined at the end of the range. */
  readonly next: AuditCursor | undefined
  /** The page ended after `SCAN_MAXIMUM` records or a MiB of them: it is short although more follows. */
  readonly scanTruncated: boolean
  /** Records of the range could not be read: they may be missing from the page, or be in it as unreadable. */
  readonly damaged: boolean
}

/** The earliest time that can match a query. */
export function firstMicroseconds({ sinceMicroseconds, after }: AuditQuery): Microseconds {
  return microsecondsOf(Math.max(sinceMicroseconds, after?.timeMicroseconds ?? 0, 0))
}

/** Reads one page, the oldest records first. */
export class AuditScan {
  readonly #query: AuditQuery
  readonly #firstMicroseconds: Microseconds
  readonly #end: JournalEnd
  /** The first sequence that can match. */
  readonly #wanted: Sequence
  readonly #turns: Turns
  readonly #matches: (body: Buffer) => boolean
  readonly #scanMaximum: number
  readonly #records: AuditRecord[] = []
  #scanned = 0
  #bytes = 0
  #last: AuditCursor | undefined
  /** Sequence of the next record; undefined before the first. */
  #expected: Sequence | undefined
  #damaged = false
  #over = false

  constructor(query: AuditQuery, end: JournalEnd, turns: Turns, scanMaximum: number) {
    this.#query = query
    this.#firstMicroseconds = firstMicroseconds(query)
    this.#wanted = query.after === undefined ? sequenceOf(0) : next(query.after.sequence)
    this.#end = end
    this.#turns = turns
    this.#matches = compileFilter(query)
    this.#scanMaximum = scanMaximum
  }

  /** @param cursor at or before the first record that the query wants */
  async run(cursor: JournalCursor): Promise<AuditPage> {
    while (!this.#over) {
      const step = await cursor.next(this.#wanted)
      if (step === undefined) break
      if (step === 'damaged') this.#damaged = true
      else await this.#batch(new RecordFrames(step.bytes, step.header))
    }
    // Records up to the end were acknowledged: a log that ends earlier lacks some.
    if (!this.#over) this.#damaged ||= (this.#expected ?? this.#wanted) < this.#end.nextSequence
    const isCut = this.#scanned >= this.#scanMaximum || this.#bytes >= PAGE_BYTES_MAXIMUM
    const scanTruncated = isCut && this.#records.length < this.#query.limit
    const goesOn = scanTruncated || this.#records.length === this.#query.limit
    return {
      records: this.#records,
      next: goesOn ? this.#last : undefined,
      scanTruncated,
      damaged: this.#damaged,
    }
  }

  async #batch(frames: RecordFrames): Promise<void> {
    const { untilMicroseconds, limit } = this.#query
    while (!this.#over && frames.next()) {
      const { sequence, timeMicroseconds } = frames
      if (this.#expected !== undefined && sequence !== this.#expected) this.#damaged = true
      this.#expected = next(sequence)
      if (timeMicroseconds < this.#firstMicroseconds || sequence < this.#wanted) continue
      if (timeMicroseconds >= untilMicroseconds) {
        this.#over = true
        return
      }
      if (!isEntry(frames)) continue
      this.#scanned += countedAs(frames.bodyLength)
      this.#last = { timeMicroseconds, sequence }
      if (this.#matches(frames.body)) {
        const record = auditRecord(frames)
        this.#damaged ||= record.isUnreadable === true
        this.#records.push(record)
        this.#bytes += frames.body.length
      }
      const isFull = this.#records.length === limit || this.#bytes >= PAGE_BYTES_MAXIMUM
      this.#over = isFull || this.#scanned >= this.#scanMaximum
      if (this.#turns.isOver) await this.#turns.next()
    }
  }
}
