import { type AuditRecord, auditRecord, isEntry } from './audit-record.ts'
import type { JournalCursor, JournalEnd, JournalSpot } from './journal-cursor.ts'
import { segmentName } from '../../engine/disk/store-paths.ts'
import { RecordFrames } from './record-frames.ts'
import type { Turns } from './turns.ts'

/** Records handed out at once at most. */
const RECORDS_MAXIMUM = 256

/** A range of time, in microseconds since 1970: `from` inclusive, `to` exclusive. */
export interface AuditRange {
  readonly fromMicroseconds: number
  readonly toMicroseconds: number
}

/** A part of the log cannot be read, so the records of a range cannot be given whole. */
export class AuditLogDamagedError extends Error {
  override readonly name = 'AuditLogDamagedError'
}

/**
 * All records of a range, up to where the log was when this was made, in constant memory. A record that cannot be read
 * is never passed over.
 */
export class AuditRecords {
  readonly #range: AuditRange
  readonly #cursor: JournalCursor
  readonly #end: JournalEnd
  readonly #turns: Turns
  #frames: RecordFrames | undefined
  #spot: JournalSpot | undefined
  /** Sequence of the next record; undefined before the first. */
  #expected: number | undefined
  #over = false

  /** @param cursor at or before the first record of the range; it is closed with this */
  constructor(range: AuditRange, cursor: JournalCursor, end: JournalEnd, turns: Turns) {
    this.#range = range
    this.#cursor = cursor
    this.#end = end
    this.#turns = turns
  }

  /**
   * Some records, the next ones; undefined behind the last. To be called again only when this has settled.
   * @throws AuditLogDamagedError
   */
  async next(): Promise<AuditRecord[] | undefined> {
    const records: AuditRecord[] = []
    if (this.#turns.isOver) await this.#turns.next()
    while (!this.#over && records.length < RECORDS_MAXIMUM) {
      if (this.#frames === undefined) {
        // The bytes of a batch are gone with the next one, but what was taken from them is not.
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

  /** Lets go of the files; not while `next` is at work. */
  close(): void {
    this.#cursor.close()
  }

  #take(frames: RecordFrames, records: AuditRecord[]): void {
    const { sequence, timeMicroseconds } = frames
    if (sequence !== (this.#expected ?? sequence)) throw this.#damaged()
    this.#expected = sequence + 1
    if (timeMicroseconds >= this.#range.toMicroseconds) this.#over = true
    else if (timeMicroseconds >= this.#range.fromMicroseconds && isEntry(frames)) records.push(auditRecord(frames))
  }

  async #nextBatch(): Promise<void> {
    const step = await this.#cursor.next()
    if (step === undefined) {
      if ((this.#expected ?? 0) <= this.#end.sequence) throw this.#damaged()
      this.#over = true
      return
    }
    this.#spot = step.spot
    if (step.kind === 'segment') return
    if (step.kind === 'unreadable' || !step.whole) throw this.#damaged()
    this.#frames = new RecordFrames(step.bytes, step.header)
  }

  #damaged(): AuditLogDamagedError {
    const { segment, offset } = this.#spot ?? { segment: 0, offset: 0 }
    const place = `${segmentName(segment)}, offset ${offset}`
    return new AuditLogDamagedError(`the audit log is damaged at sequence ${this.#expected ?? segment} (${place})`)
  }
}
