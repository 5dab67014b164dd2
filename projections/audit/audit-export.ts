import { type Microseconds, next, type Sequence } from '../../engine/brands.ts'
import type { SegmentPlace } from '../../engine/journal/positions.ts'
import type { RecordTimes } from '../../engine/journal/record-times.ts'
import { JOURNAL_START } from '../tables/audit-index.ts'
import { type AuditRecord, auditRecord, isEntry, substituteOfGap } from './audit-record.ts'
import { type AuditFilter, compileFilter } from './audit-filter.ts'
import { DamageList, damageOfGap, damageOfRecord, isEmptyGap, type JournalGap, mayBeIn } from './journal-damage.ts'
import type { JournalRange } from './journal-range.ts'
import { RecordFrames } from './record-frames.ts'
import type { Stretch } from './time-stretches.ts'
import type { Turns } from './turns.ts'

/** Reads a stretch past what cannot be read; the caller closes it. */
type OpenStretch = (stretch: Stretch) => JournalRange

/** Most records that one call returns. */
const RECORDS_MAXIMUM = 256
/** Bytes of records, as they are in the journal, after which a call returns. */
const BYTES_MAXIMUM = 256 * 1024

/** A range of time, in microseconds since 1970: `from` inclusive, `to` exclusive. */
export interface AuditRange {
  readonly fromMicroseconds: Microseconds
  readonly toMicroseconds: Microseconds
  /**
   * The record of the export: the range ends with it and with the records after it that have its order time, which are of
   * its batch. Times of later records may be in the range, where the clock was set back since.
   */
  readonly throughSequence?: Sequence | undefined
}

/** Whether records are in a range, asked for one after another. */
export class RangeTest {
  readonly #range: AuditRange
  #orderOfLast: Microseconds | undefined
  #isOver = false

  constructor(range: AuditRange) {
    this.#range = range
  }

  /** Whether no later record is in the range, whatever its time. */
  get isOver(): boolean {
    return this.#isOver
  }

  isIn({ sequence, orderMicroseconds, timeMicroseconds }: RecordTimes & { readonly sequence: Sequence }): boolean {
    const { fromMicroseconds, toMicroseconds, throughSequence } = this.#range
    if (sequence === throughSequence) this.#orderOfLast = orderMicroseconds
    if (throughSequence !== undefined && sequence > throughSequence) {
      this.#isOver ||= orderMicroseconds !== this.#orderOfLast
    }
    return !this.#isOver && timeMicroseconds >= fromMicroseconds && timeMicroseconds < toMicroseconds
  }
}

/** Ties a range to its journal; undefined for a range without records. */
export interface RangeEnds {
  /** Of all records in the range that can be read, including the journal's own. */
  readonly firstSequence: Sequence
  readonly lastSequence: Sequence
  /** Of the record before the first one. */
  readonly previousHash: string
  /** Of the last record, in hexadecimal. */
  readonly lastHash: string
  /** Into how many rows of consecutive records they fall: more than one only where the host's clock was set back. */
  readonly parts: number
}

/** A part of the log cannot be read that an answer cannot do without. */
export class AuditLogDamagedError extends Error {
  override readonly name = 'AuditLogDamagedError'
}

/**
 * All records of a range that a filter lets through, up to the end that the log had when this was made, in constant
 * memory. Nothing that cannot be read is skipped in silence: records that are missing are one record, which says which they are,
 * whatever the filter; a record whose body is not an entry is returned as unreadable. `damage` has both.
 */
export class AuditRecords {
  readonly damage = new DamageList()
  readonly #range: AuditRange
  readonly #test: RangeTest
  readonly #stretches: Iterator<Stretch>
  readonly #open: OpenStretch
  readonly #turns: Turns
  readonly #matches: (body: Buffer) => boolean
  #stretch: Stretch | undefined
  #journal: JournalRange | undefined
  #frames: RecordFrames | undefined
  /** Whether all records of the batch are later than the range. */
  #areLater = false
  /** Bytes of the records that this call has found. */
  #bytes = 0
  #count = 0
  #first: Pick<RangeEnds, 'firstSequence' | 'previousHash'> | undefined
  #last: Pick<RangeEnds, 'lastSequence' | 'lastHash'> | undefined
  #parts = 0
  #over = false

  /** @param stretches that can hold records of the range; `open` opens one of them, and it is closed with this */
  constructor(range: AuditRange & AuditFilter, stretches: Iterable<Stretch>, open: OpenStretch, turns: Turns) {
    this.#matches = compileFilter(range)
    this.#range = range
    this.#test = new RangeTest(range)
    this.#stretches = stretches[Symbol.iterator]()
    this.#open = open
    this.#turns = turns
  }

  /** Records that were returned, without those in the place of missing ones. */
  get count(): number {
    return this.#count
  }

  /** Of the records that were read; undefined before the first of the range. */
  get ends(): RangeEnds | undefined {
    return this.#first && this.#last && { ...this.#first, ...this.#last, parts: this.#parts }
  }

  /** The next records; undefined after the last. Call it again only after it has settled. */
  async next(): Promise<AuditRecord[] | undefined> {
    const records: AuditRecord[] = []
    this.#bytes = 0
    if (this.#turns.isOver) await this.#turns.next()
    while (!this.#over && records.length < RECORDS_MAXIMUM && this.#bytes < BYTES_MAXIMUM) {
      if (this.#frames === undefined) {
        // The next batch overwrites the bytes of this one, whose records are decoded already.
        await this.#step(records)
      } else if (this.#frames.next()) this.#take(this.#frames, records)
      else {
        this.#frames = undefined
        if (this.#areLater && this.#stretch?.isOrdered === true) this.#endStretch()
        if (this.#turns.isOver) await this.#turns.next()
      }
    }
    return records.length === 0 && this.#over ? undefined : records
  }

  /** Closes the files; not while `next` is running. */
  close(): void {
    this.#journal?.close()
    this.#stretches.return?.()
  }

  #take(frames: RecordFrames, records: AuditRecord[]): void {
    const { sequence, timeMicroseconds } = frames
    if (this.#stretch !== undefined && (sequence < this.#stretch.first || sequence >= this.#stretch.following)) return
    this.#areLater &&= timeMicroseconds >= this.#range.toMicroseconds
    const isIn = this.#test.isIn(frames)
    if (this.#test.isOver) this.#over = true
    if (!isIn) return
    this.#first ??= { firstSequence: sequence, previousHash: frames.previousHash }
    if (this.#last === undefined || next(this.#last.lastSequence) !== sequence) this.#parts += 1
    this.#last = { lastSequence: sequence, lastHash: frames.hash }
    if (!isEntry(frames) || !this.#matches(frames.body)) return
    const record = auditRecord(frames)
    if (record.isUnreadable === true) this.damage.add(damageOfRecord(sequence, this.#placeOfBatch))
    records.push(record)
    this.#count += 1
    this.#bytes += frames.body.length
  }

  get #placeOfBatch(): SegmentPlace {
    return this.#journal?.place ?? JOURNAL_START
  }

  #nextStretch(): Stretch | undefined {
    const step = this.#stretches.next()
    return step.done === true ? undefined : step.value
  }

  async #step(records: AuditRecord[]): Promise<void> {
    const stretch = this.#stretch ?? this.#nextStretch()
    if (stretch === undefined) {
      this.#over = true
      return
    }
    this.#stretch = stretch
    this.#journal ??= this.#open(stretch)
    const step = await this.#journal.next()
    if (step === undefined) this.#endStretch()
    else if (step.kind === 'batch') {
      this.#frames = new RecordFrames(step.bytes, step.header)
      this.#areLater = true
    } else if (
      !this.#isAfterLast(step) &&
      (!stretch.isOrdered || mayBeIn(step, this.#range.fromMicroseconds, this.#range.toMicroseconds))
    ) {
      this.damage.add(damageOfGap(step))
      if (!isEmptyGap(step)) records.push(substituteOfGap(step, this.#earliest(step)))
    }
  }

  /** Whether a gap is of records after the export's own. */
  #isAfterLast({ firstSequence }: JournalGap): boolean {
    const { throughSequence } = this.#range
    return throughSequence !== undefined && firstSequence > throughSequence
  }

  #endStretch(): void {
    this.#journal?.close()
    this.#journal = undefined
    this.#stretch = undefined
  }

  #earliest({ afterMicroseconds = this.#range.fromMicroseconds }: JournalGap): Microseconds {
    return afterMicroseconds > this.#range.fromMicroseconds ? afterMicroseconds : this.#range.fromMicroseconds
  }
}
