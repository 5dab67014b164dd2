import { type Microseconds, type Sequence } from '../../engine/brands.ts'
import { type AuditRecord, auditRecord, isEntry, substituteOfGap } from './audit-record.ts'
import { type AuditFilter, compileFilter } from './audit-filter.ts'
import { DamageList, damageOfGap, damageOfRecord, isEmptyGap, type JournalGap } from './journal-damage.ts'
import type { JournalRange } from './journal-range.ts'
import { RecordFrames } from './record-frames.ts'
import type { Turns } from './turns.ts'

/** Most records that one call returns. */
const RECORDS_MAXIMUM = 256
/** Bytes of records, as they are in the journal, after which a call returns. */
const BYTES_MAXIMUM = 256 * 1024

/** A range of time, in microseconds since 1970: `from` inclusive, `to` exclusive. */
export interface AuditRange {
  readonly fromMicroseconds: Microseconds
  readonly toMicroseconds: Microseconds
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
  readonly #journal: JournalRange
  readonly #turns: Turns
  readonly #matches: (body: Buffer) => boolean
  #frames: RecordFrames | undefined
  /** Bytes of the records that this call has found. */
  #bytes = 0
  #count = 0
  #first: Pick<RangeEnds, 'firstSequence' | 'previousHash'> | undefined
  #last: Pick<RangeEnds, 'lastSequence' | 'lastHash'> | undefined
  #over = false

  /** @param journal from the first record of the range at the latest; it is closed with this */
  constructor(range: AuditRange & AuditFilter, journal: JournalRange, turns: Turns) {
    this.#matches = compileFilter(range)
    this.#range = range
    this.#journal = journal
    this.#turns = turns
  }

  /** Records that were returned, without those in the place of missing ones. */
  get count(): number {
    return this.#count
  }

  /** Of the records that were read; undefined before the first of the range. */
  get ends(): RangeEnds | undefined {
    return this.#first && this.#last && { ...this.#first, ...this.#last }
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
        if (this.#turns.isOver) await this.#turns.next()
      }
    }
    return records.length === 0 && this.#over ? undefined : records
  }

  /** Closes the files; not while `next` is running. */
  close(): void {
    this.#journal.close()
  }

  #take(frames: RecordFrames, records: AuditRecord[]): void {
    const { sequence, timeMicroseconds } = frames
    if (timeMicroseconds >= this.#range.toMicroseconds) {
      this.#over = true
      return
    }
    if (timeMicroseconds < this.#range.fromMicroseconds) return
    this.#first ??= { firstSequence: sequence, previousHash: frames.previousHash }
    this.#last = { lastSequence: sequence, lastHash: frames.hash }
    if (!isEntry(frames) || !this.#matches(frames.body)) return
    const record = auditRecord(frames)
    if (record.isUnreadable === true) this.damage.add(damageOfRecord(sequence, this.#journal.place))
    records.push(record)
    this.#count += 1
    this.#bytes += frames.body.length
  }

  async #step(records: AuditRecord[]): Promise<void> {
    const step = await this.#journal.next()
    if (step === undefined) this.#over = true
    else if (step.kind === 'batch') this.#frames = new RecordFrames(step.bytes, step.header)
    else if (mayBeIn(step, this.#range)) {
      this.damage.add(damageOfGap(step))
      if (!isEmptyGap(step)) records.push(substituteOfGap(step, this.#earliest(step)))
    }
  }

  #earliest({ afterMicroseconds = this.#range.fromMicroseconds }: JournalGap): Microseconds {
    return afterMicroseconds > this.#range.fromMicroseconds ? afterMicroseconds : this.#range.fromMicroseconds
  }
}

/** Whether records of a gap can be in a range: the times around it are all that is known of theirs. */
function mayBeIn({ afterMicroseconds, beforeMicroseconds }: JournalGap, range: AuditRange): boolean {
  if (beforeMicroseconds !== undefined && beforeMicroseconds < range.fromMicroseconds) return false
  return afterMicroseconds === undefined || afterMicroseconds < range.toMicroseconds
}
