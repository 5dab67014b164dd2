import { type Microseconds, microsecondsOf } from '../brands.ts'
import { BODY_VERSION_WITH_TIME, HOST_TIME_BYTES, RECORD, readUint64 } from './format.ts'

/**
 * The two times of a record (spec/decisions/0229-two-times.md). The order time never goes back: it is the later of the
 * host's clock and the order time of the record before. The time is what the host's clock said, and what people see. A
 * record has 8 more bytes only where they differ by more than `TIMES_AGREE_MICROSECONDS`; elsewhere both are the order
 * time.
 */
export interface RecordTimes {
  readonly orderMicroseconds: Microseconds
  readonly timeMicroseconds: Microseconds
}

/** Up to this difference a record has one time. */
export const TIMES_AGREE_MICROSECONDS = 1_000_000

/** The times of a record whose host's clock is not behind the journal. */
export function oneTime(microseconds: Microseconds): RecordTimes {
  return { orderMicroseconds: microseconds, timeMicroseconds: microseconds }
}

/** Whether a record with these times stores both. */
export function hasOwnTime({ orderMicroseconds, timeMicroseconds }: RecordTimes): boolean {
  return timeMicroseconds !== orderMicroseconds
}

/** Bytes before the MessagePack of the body of the record at an offset. */
export function bytesBeforeBody(bytes: Buffer, at: number): number {
  return bytes.readUInt16BE(at + RECORD.bodyVersionAt) === BODY_VERSION_WITH_TIME ? HOST_TIME_BYTES : 0
}

/** The time of the record at an offset, whose form was checked. */
export function timeOfRecord(bytes: Buffer, at: number): Microseconds {
  return microsecondsOf(readUint64(bytes, at + (bytesBeforeBody(bytes, at) === 0 ? RECORD.timeAt : RECORD.frameBytes)))
}

/** The times of the records of a batch. */
export interface BatchTimes {
  /** The earliest and the latest time; not the order times. */
  readonly earliestMicroseconds: Microseconds
  readonly latestMicroseconds: Microseconds
  /** Whether a record of it stores both times: only then may it be earlier than a record before. */
  readonly differ: boolean
  /** Whether a record of it is earlier than another one of it that comes before. */
  readonly descend: boolean
}

/** The times of a batch of one record. */
export function timesOfOne(times: RecordTimes): BatchTimes {
  const { timeMicroseconds: time } = times
  return { earliestMicroseconds: time, latestMicroseconds: time, differ: hasOwnTime(times), descend: false }
}

/** Gathers the times of the records of one batch after another. */
export class BatchTimesGatherer {
  #earliest = Number.POSITIVE_INFINITY
  #latest = 0
  #last = 0
  #differ = false
  #descend = false

  add(times: RecordTimes): void {
    const { timeMicroseconds } = times
    if (timeMicroseconds < this.#last) this.#descend = true
    if (timeMicroseconds < this.#earliest) this.#earliest = timeMicroseconds
    if (timeMicroseconds > this.#latest) this.#latest = timeMicroseconds
    if (hasOwnTime(times)) this.#differ = true
    this.#last = timeMicroseconds
  }

  /** The times of the batch whose records were added. The next record is the first of another batch. */
  take(): BatchTimes {
    const times = {
      earliestMicroseconds: microsecondsOf(this.#earliest),
      latestMicroseconds: microsecondsOf(this.#latest),
      differ: this.#differ,
      descend: this.#descend,
    }
    this.#earliest = Number.POSITIVE_INFINITY
    this.#latest = 0
    this.#last = 0
    this.#differ = false
    this.#descend = false
    return times
  }
}
