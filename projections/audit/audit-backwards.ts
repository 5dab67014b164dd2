import { type Microseconds, microsecondsOf, next, type Sequence, sequenceOf } from '../../engine/brands.ts'
import type { SegmentPlace } from '../../engine/journal/positions.ts'
import type { TableReader } from '../lmdb-environment.ts'
import { type IndexRow, rowAfter, rowsBefore } from '../tables/audit-index.ts'
import { compileFilter } from './audit-filter.ts'
import { type AuditCursor, type AuditPage, type AuditQuery, countedAs, PAGE_BYTES_MAXIMUM } from './audit-query.ts'
import { type AuditRecord, auditRecord, isEntry } from './audit-record.ts'
import type { JournalCursor, JournalEnd } from './journal-cursor.ts'
import { beginningAt, JOURNAL_START } from './journal-places.ts'
import { RecordFrames } from './record-frames.ts'
import type { Turns } from './turns.ts'

/** Rows of the index in the largest stretch: about 16,000 records. */
const STRETCH_ROWS_MAXIMUM = 16

/** Sources of a backward scan. */
interface BackwardSource {
  readonly auditIndex: TableReader
  readonly end: JournalEnd
  readonly turns: Turns
  readonly scanMaximum: number
  /** Reads the batches from one place up to another. The caller closes it. */
  readonly cursor: (beginning: SegmentPlace, end: SegmentPlace) => JournalCursor
}

/** A record of the page, with its bytes in the journal. */
interface Match {
  readonly record: AuditRecord
  readonly bytes: number
}

/**
 * Reads one page, the newest records first. The journal can be read only forward, so it is read in stretches from one
 * row of the index to a later one, the last stretch first; the first is short, because the newest page is asked for
 * most.
 */
export class BackwardScan {
  readonly #query: AuditQuery
  readonly #source: BackwardSource
  readonly #matches: (body: Buffer) => boolean
  /** Records are before both. */
  readonly #beforeSequence: number
  readonly #beforeMicroseconds: Microseconds
  readonly #records: AuditRecord[] = []
  #scanned = 0
  /** Bytes of the records, as they are in the journal. */
  #bytes = 0
  /** The page ended before its limit, because its records have enough bytes. */
  #isCut = false
  /** The earliest record that was examined. */
  #earliest: AuditCursor | undefined
  /** The first sequence of the stretch that was read last; undefined where that is not known. */
  #following: Sequence | undefined
  #damaged = false
  #over = false

  constructor(query: AuditQuery, source: BackwardSource) {
    const { after, untilMicroseconds } = query
    this.#query = query
    this.#source = source
    this.#matches = compileFilter(query)
    this.#beforeSequence = after?.sequence ?? Number.POSITIVE_INFINITY
    // A client may have cut the time of the cursor to milliseconds; the sequence is exact.
    const latest = after === undefined ? untilMicroseconds : (Math.floor(after.timeMicroseconds / 1000) + 1) * 1000
    this.#beforeMicroseconds = microsecondsOf(Math.min(untilMicroseconds, latest))
  }

  async run(): Promise<AuditPage> {
    const { auditIndex, end } = this.#source
    const { limit } = this.#query
    let bound = { timeMicroseconds: this.#beforeMicroseconds, sequence: sequenceOf(0) }
    // The batch of the first row at the bound may start before it; the next row's batch does not.
    const first = rowAfter(auditIndex, bound, 1)
    let stretchEnd = first === undefined ? end.place : beginningAt(first.place)
    this.#following = first === undefined ? end.nextSequence : undefined
    for (let count = 1; !this.#over; count = Math.min(count * 2, STRETCH_ROWS_MAXIMUM)) {
      const row: IndexRow | undefined = rowsBefore(auditIndex, bound, count).at(-1)
      const beginning = row === undefined ? JOURNAL_START : beginningAt(row.place)
      await this.#stretch(beginning, stretchEnd)
      if (row === undefined) {
        this.#damaged ||= (this.#following ?? 0) > 0
        this.#over = true
      } else {
        bound = row
        stretchEnd = beginning
      }
      if (this.#isCut || this.#records.length === limit || this.#scanned >= this.#source.scanMaximum) break
    }
    const isFull = this.#isCut || this.#records.length === limit
    const last = this.#records.at(-1)
    return {
      records: this.#records,
      next: isFull ? last : this.#over ? undefined : this.#earliest,
      scanTruncated: this.#isCut || (!isFull && !this.#over),
      damaged: this.#damaged,
    }
  }

  /** Reads a stretch forward, and takes its last matches, up to the room of the page. */
  async #stretch(beginning: SegmentPlace, end: SegmentPlace): Promise<void> {
    // The first batch of a journal may have a row, and nothing is before it.
    if (beginning.segmentFirstSequence === end.segmentFirstSequence && beginning.offset === end.offset) return
    const cursor = this.#source.cursor(beginning, end)
    const room = this.#query.limit - this.#records.length
    const matches: Match[] = []
    let first: Sequence | undefined
    let expected: Sequence | undefined
    try {
      for (let step = await cursor.next(); step !== undefined; step = await cursor.next()) {
        if (step === 'damaged') {
          this.#damaged = true
          continue
        }
        const frames = new RecordFrames(step.bytes, step.header)
        while (frames.next()) {
          first ??= frames.sequence
          if (expected !== undefined && frames.sequence !== expected) this.#damaged = true
          expected = next(frames.sequence)
          this.#take(frames, matches, room)
          if (this.#source.turns.isOver) await this.#source.turns.next()
        }
      }
    } finally {
      cursor.close()
    }
    if (this.#following !== undefined && expected !== this.#following) this.#damaged = true
    this.#following = first
    for (const { record, bytes } of matches.toReversed()) {
      this.#isCut ||= this.#bytes > 0 && this.#bytes + bytes > PAGE_BYTES_MAXIMUM
      if (this.#isCut) return
      this.#damaged ||= record.isUnreadable === true
      this.#records.push(record)
      this.#bytes += bytes
    }
  }

  #take(frames: RecordFrames, matches: Match[], room: number): void {
    const { sequence, timeMicroseconds } = frames
    if (timeMicroseconds < this.#query.sinceMicroseconds) this.#over = true
    else if (sequence < this.#beforeSequence && timeMicroseconds < this.#beforeMicroseconds && isEntry(frames)) {
      this.#scanned += countedAs(frames.bodyLength)
      if (this.#earliest === undefined || sequence < this.#earliest.sequence) {
        this.#earliest = { timeMicroseconds, sequence }
      }
      if (!this.#matches(frames.body)) return
      matches.push({ record: auditRecord(frames), bytes: frames.body.length })
      if (matches.length > room) matches.shift()
    }
  }
}
