import { type Microseconds, next, type Sequence } from '../../engine/brands.ts'
import { type AuditRecord, auditRecord, isEntry } from './audit-record.ts'
import type { JournalCursor, JournalEnd } from './journal-cursor.ts'
import { type AuditFilter, compileFilter } from './audit-filter.ts'
import { segmentName } from '../../engine/disk/store-paths.ts'
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
  /** Of all records in the range, including the journal's own. */
  readonly firstSequence: Sequence
  readonly lastSequence: Sequence
  /** Of the record before the first one. */
  readonly previousHash: string
  /** Of the last record, in hexadecimal. */
  readonly lastHash: string
}

/** A part of the log cannot be read, so the records of a range would be incomplete. */
export class AuditLogDamagedError extends Error {
  override readonly name = 'AuditLogDamagedError'
}

/**
 * All records of a range that a filter lets through, up to the end that the log had when this was made, in constant
 * memory. A record that cannot be read is never skipped: if only its body is not an entry, it is returned as
 * unreadable.
 */
export class AuditRecords {
  readonly #range: AuditRange
  readonly #cursor: JournalCursor
  readonly #end: JournalEnd
  readonly #turns: Turns
  readonly #matches: (body: Buffer) => boolean
  #frames: RecordFrames | undefined
  /** Sequence of the next record; undefined before the first. */
  #expected: Sequence | undefined
  /** Bytes of the records that this call has found. */
  #bytes = 0
  #over = false

  /** @param cursor at or before the first record of the range; it is closed with this */
  constructor(range: AuditRange & AuditFilter, cursor: JournalCursor, end: JournalEnd, turns: Turns) {
    this.#matches = compileFilter(range)
    this.#range = range
    this.#cursor = cursor
    this.#end = end
    this.#turns = turns
  }

  /**
   * The next records; undefined after the last. Call it again only after it has settled.
   * @throws AuditLogDamagedError
   */
  async next(): Promise<AuditRecord[] | undefined> {
    const records: AuditRecord[] = []
    this.#bytes = 0
    if (this.#turns.isOver) await this.#turns.next()
    while (!this.#over && records.length < RECORDS_MAXIMUM && this.#bytes < BYTES_MAXIMUM) {
      if (this.#frames === undefined) {
        // The next batch overwrites the bytes of this one, whose records are decoded already.
        await this.#nextBatch()
        continue
      }
      if (!this.#frames.next()) {
        if (!this.#frames.isComplete) throw this.#damaged()
        this.#frames = undefined
        if (this.#turns.isOver) await this.#turns.next()
      } else this.#take(this.#frames, records)
    }
    return records.length === 0 && this.#over ? undefined : records
  }

  /** Closes the files; not while `next` is running. */
  close(): void {
    this.#cursor.close()
  }

  #take(frames: RecordFrames, records: AuditRecord[]): void {
    const { sequence, timeMicroseconds } = frames
    if (sequence !== (this.#expected ?? sequence)) throw this.#damaged()
    this.#expected = next(sequence)
    if (timeMicroseconds >= this.#range.toMicroseconds) this.#over = true
    else if (timeMicroseconds >= this.#range.fromMicroseconds && isEntry(frames) && this.#matches(frames.body)) {
      records.push(auditRecord(frames))
      this.#bytes += frames.body.length
    }
  }

  async #nextBatch(): Promise<void> {
    const step = await this.#cursor.next()
    if (step === undefined) {
      if ((this.#expected ?? 0) < this.#end.nextSequence) throw this.#damaged()
      this.#over = true
      return
    }
    if (step === 'damaged') throw this.#damaged()
    this.#frames = new RecordFrames(step.bytes, step.header)
  }

  #damaged(): AuditLogDamagedError {
    const { segmentFirstSequence: segment, offset } = this.#cursor.place
    const place = `${segmentName(segment)}, offset ${offset}`
    return new AuditLogDamagedError(`the audit log is damaged at sequence ${this.#expected ?? segment} (${place})`)
  }
}
