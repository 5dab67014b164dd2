import { sequenceOf } from '../../engine/brands.ts'
import type { SegmentPlace } from '../../engine/journal/positions.ts'
import type { TableReader } from '../lmdb-environment.ts'
import { type IndexRow, rowFrom, rowsBefore } from '../tables/audit-index.ts'
import { compileFilter } from './audit-filter.ts'
import {
  type AuditCursor,
  type AuditPage,
  type AuditQuery,
  countedAs,
  PAGE_BYTES_MAXIMUM,
  rangeOf,
  STRETCH_COUNTED,
} from './audit-query.ts'
import { type AuditRecord, auditRecord, isEntry } from './audit-record.ts'
import type { JournalCursor } from './journal-cursor.ts'
import { beginningAt } from './journal-places.ts'
import { DamageList, damageOfGap, damageOfRecord, type JournalGap, mayBeIn } from './journal-damage.ts'
import { RecordFrames } from './record-frames.ts'
import type { Stretch } from './time-stretches.ts'
import type { Turns } from './turns.ts'

/** Rows of the index in the largest stretch: about 16,000 records. */
const STRETCH_ROWS_MAXIMUM = 16

/** Sources of a backward scan. */
interface BackwardSource {
  readonly auditIndex: TableReader
  /** All that can hold a record that the query wants, the last stretch first. */
  readonly stretches: Iterable<Stretch>
  readonly turns: Turns
  readonly scanMaximum: number
  /** Reads the batches from one place up to another. The caller closes it. */
  readonly cursor: (stretch: Stretch) => JournalCursor
}

/** A record of the page, with its bytes in the journal. */
interface Match {
  readonly record: AuditRecord
  /** Of its batch. */
  readonly place: SegmentPlace
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
  /** Records are before it. */
  readonly #beforeSequence: number
  readonly #records: AuditRecord[] = []
  #scanned = 0
  /** Bytes of the records, as they are in the journal. */
  #bytes = 0
  /** The page ended before its limit, because its records have enough bytes. */
  #isCut = false
  /** The earliest record that was examined. */
  #earliest: AuditCursor | undefined
  readonly #damage = new DamageList()
  /** A record before the range was met, and all before it are earlier as well. */
  #isPassed = false

  constructor(query: AuditQuery, source: BackwardSource) {
    this.#query = query
    this.#source = source
    this.#matches = compileFilter(query)
    this.#beforeSequence = query.after?.sequence ?? Number.POSITIVE_INFINITY
  }

  async run(): Promise<AuditPage> {
    const stretches = this.#source.stretches[Symbol.iterator]()
    let isOver = false
    try {
      for (let step = stretches.next(); ; ) {
        isOver = step.done === true
        if (step.done === true) break
        if (step.value.first < this.#beforeSequence) {
          const isRead = await this.#stretch(step.value)
          if (!isRead) break
        }
        step = stretches.next()
        if (this.#isDone) {
          isOver = step.done === true
          break
        }
      }
    } finally {
      stretches.return?.()
    }
    this.#damage.sort()
    const isFull = this.#isCut || this.#records.length === this.#query.limit
    return {
      records: this.#records,
      next: isFull ? this.#records.at(-1) : isOver ? undefined : this.#earliest,
      scanTruncated: this.#isCut || (!isFull && !isOver),
      damaged: this.#damage.count > 0,
      damage: this.#damage,
    }
  }

  get #isDone(): boolean {
    return this.#isCut || this.#records.length === this.#query.limit || this.#scanned >= this.#source.scanMaximum
  }

  /** @returns whether all of it was read */
  async #stretch(stretch: Stretch): Promise<boolean> {
    const { auditIndex } = this.#source
    let { following, end } = stretch
    if (this.#beforeSequence < following) {
      // The batch of the first row at the sequence may hold records before it; the next row's batch does not.
      const row = rowFrom(auditIndex, sequenceOf(this.#beforeSequence), 1)
      if (row !== undefined && row.firstSequence < following) {
        following = row.firstSequence
        end = beginningAt(row.place)
      }
    }
    this.#isPassed = false
    for (let count = 1; ; count = Math.min(count * 2, STRETCH_ROWS_MAXIMUM)) {
      const row: IndexRow | undefined = rowsBefore(auditIndex, following, count).at(-1)
      const isFirst = row === undefined || row.firstSequence <= stretch.first
      const beginning = isFirst ? stretch.beginning : beginningAt(row.place)
      const first = isFirst ? stretch.first : row.firstSequence
      await this.#part({ ...stretch, first, beginning, following, end })
      if (isFirst || this.#isPassed) return true
      if (this.#isDone) return false
      following = first
      end = beginning
    }
  }

  /** Reads a part of a stretch forward, and takes its last matches, up to the room of the page. */
  async #part(stretch: Stretch): Promise<void> {
    const { first, beginning, end, following, isOrdered } = stretch
    // The first batch of a journal may have a row, and nothing is before it.
    if (beginning.segmentFirstSequence === end.segmentFirstSequence && beginning.offset === end.offset) return
    const cursor = this.#source.cursor(stretch)
    const room = this.#query.limit - this.#records.length
    const matches: Match[] = []
    const journal = rangeOf(cursor, first, stretch)
    try {
      for (let step = await journal.next(); step !== undefined; step = await journal.next()) {
        if (step.kind === 'gap') {
          this.#gap(step, isOrdered)
          continue
        }
        const frames = new RecordFrames(step.bytes, step.header)
        const { place } = journal
        while (frames.next()) {
          if (frames.sequence >= first && frames.sequence < following) {
            this.#take(frames, place, matches, room, isOrdered)
          }
          if (this.#source.turns.isOver) await this.#source.turns.next()
        }
      }
    } finally {
      cursor.close()
    }
    if (stretch.segments !== undefined && this.#earliest !== undefined) this.#scanned += STRETCH_COUNTED
    for (const { record, place, bytes } of matches.toReversed()) {
      this.#isCut ||= this.#bytes > 0 && this.#bytes + bytes > PAGE_BYTES_MAXIMUM
      if (this.#isCut) break
      if (record.isUnreadable === true) this.#damage.add(damageOfRecord(record.sequence, place))
      this.#records.push(record)
      this.#bytes += bytes
    }
  }

  #gap(gap: JournalGap, isOrdered: boolean): void {
    const { sinceMicroseconds, untilMicroseconds } = this.#query
    if (gap.firstSequence >= this.#beforeSequence) return
    if (!isOrdered || mayBeIn(gap, sinceMicroseconds, untilMicroseconds)) this.#damage.add(damageOfGap(gap))
  }

  #take(frames: RecordFrames, place: SegmentPlace, matches: Match[], room: number, isOrdered: boolean): void {
    const { sequence, timeMicroseconds } = frames
    const { sinceMicroseconds, untilMicroseconds } = this.#query
    if (isOrdered && timeMicroseconds < sinceMicroseconds) this.#isPassed = true
    const isInRange = timeMicroseconds >= sinceMicroseconds && timeMicroseconds < untilMicroseconds
    // Without an order any number of records outside the range may come, and a page is bounded.
    if (sequence >= this.#beforeSequence || (!isInRange && isOrdered) || !isEntry(frames)) return
    this.#scanned += countedAs(frames.bodyLength)
    if (this.#earliest === undefined || sequence < this.#earliest.sequence) {
      this.#earliest = { timeMicroseconds, sequence }
    }
    if (!isInRange || !this.#matches(frames.body)) return
    matches.push({ record: auditRecord(frames), place, bytes: frames.body.length })
    if (matches.length > room) matches.shift()
  }
}
