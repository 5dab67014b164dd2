import { type BatchHeader, recordHash } from '../../engine/journal/batch-reader.ts'
import { BATCH_HEADER, BATCH_TRAILER, HASH_BYTES, RECORD, recordBytes } from '../../engine/journal/format.ts'
import type { ChainProblem, ChainReport, ChainVerdict } from './chain-report.ts'
import type { JournalCursor, JournalEnd, JournalSpot, JournalStep } from './journal-cursor.ts'
import { RecordFrames } from './record-frames.ts'
import type { Turns } from './turns.ts'

const BROKEN_LINK: ChainVerdict = 'broken link to the previous record'

/** What the header of a batch says of the records in it. */
type Records = Pick<BatchHeader, 'recordBytes' | 'firstSequence' | 'recordCount'>

type Step<K extends JournalStep['kind']> = Extract<JournalStep, { kind: K }>

/**
 * Recomputes the hash chain over a span of sequences. It examines records one by one and goes on behind whatever is
 * wrong, in sealed segments as in the open one. Of the record before the span it takes the hash that it states.
 */
export class ChainCheck {
  readonly #from: number
  /** Last sequence of the span. */
  readonly #last: number
  readonly #end: JournalEnd
  readonly #turns: Turns
  readonly #problems: ChainProblem[] = []
  /** The sequence that the next record must have, and the hash that it must continue; undefined when that is unknown. */
  #expected: number
  #head: Buffer | undefined
  #checked = 0
  #verified = 0
  /** Whether the record before the span, or one of it, was reached: what is wrong behind it belongs to the span. */
  #reached: boolean
  /** Where bytes stood last that could not be read; what is not there behind them was changed, not taken out. */
  #unreadable: JournalSpot | undefined
  #spot: JournalSpot

  constructor(from: number, limit: number, end: JournalEnd, turns: Turns) {
    this.#from = from
    this.#last = Math.min(from + limit - 1, end.sequence)
    this.#end = end
    this.#turns = turns
    this.#expected = from
    this.#head = from === 0 ? Buffer.alloc(HASH_BYTES) : undefined
    this.#reached = from === 0
    this.#spot = { segment: end.segmentFirstSequence, offset: end.offset }
  }

  /** @param cursor at or before the record in front of the span */
  async run(cursor: JournalCursor): Promise<ChainReport> {
    const wanted = Math.max(this.#from - 1, 0)
    while (this.#expected <= this.#last) {
      // What belongs in front of the span and stands in it is not passed over.
      const step = await cursor.next(this.#reached ? 0 : wanted)
      if (step === undefined) break
      this.#spot = step.spot
      if (step.kind === 'segment') this.#segment(step)
      else if (step.kind === 'unreadable') await this.#passUnreadable(step)
      else await this.#examine(step.spot, step.bytes, step.header, batchFault(step))
    }
    if (this.#expected <= this.#last) this.#lose(this.#last + 1, this.#spot)
    const headSequence = this.#end.sequence
    return {
      from: this.#from,
      checked: this.#checked,
      verified: this.#verified,
      headSequence,
      nextFrom: this.#last < headSequence ? this.#last + 1 : undefined,
      problems: this.#problems,
    }
  }

  #report(sequence: number, verdict: ChainVerdict, spot: JournalSpot, detail: string, lastSequence = sequence): void {
    this.#problems.push({ sequence, lastSequence, verdict, spot, detail })
  }

  #isInSpan(sequence: number): boolean {
    return sequence >= this.#from && sequence <= this.#last
  }

  /** The header of a segment says where it belongs and which hash it continues. */
  #segment({ spot, header }: Step<'segment'>): void {
    const first = spot.segment
    if (!this.#isInSpan(first)) return
    if (header === undefined) this.#report(first, 'content changed', spot, 'the header of the segment is damaged')
    else if (header.firstSequence !== first) {
      const detail = `the segment says that it begins with sequence ${header.firstSequence}`
      this.#report(first, 'content changed', spot, detail)
    } else if (first === this.#expected && this.#head !== undefined && !this.#head.equals(header.chainHead)) {
      const detail = 'the segment continues another record than the last one of the segment before'
      this.#report(first, BROKEN_LINK, spot, detail)
    }
  }

  /** Examines the records between damaged ends of a batch, if they still have their form; else they are lost. */
  async #passUnreadable({ spot, bytes }: Step<'unreadable'>): Promise<void> {
    const around = BATCH_HEADER.bytes + BATCH_TRAILER.bytes
    if (bytes !== undefined && bytes.length > around) {
      const recordCount = Number.POSITIVE_INFINITY
      const header = { recordBytes: bytes.length - around, firstSequence: this.#expected, recordCount }
      if (continues(bytes, header)) return this.#examine(spot, bytes, header, 'the header of the batch is damaged')
    }
    this.#unreadable = spot
  }

  /** @param fault what is wrong with the batch as a whole */
  async #examine(spot: JournalSpot, bytes: Buffer, header: Records, fault: string | undefined): Promise<void> {
    const problems = this.#problems.length
    const frames = new RecordFrames(bytes, header)
    let position = header.firstSequence
    const end = position + header.recordCount
    let first: number | undefined
    while (this.#expected <= this.#last && position < end && frames.next()) {
      if (frames.sequence < this.#from) {
        this.#approach(spot, bytes, frames)
        position = frames.sequence + 1
      } else {
        position = this.#examineRecord(spot, bytes, frames, position) + 1
        first ??= position - 1
      }
      if (this.#turns.isOver) await this.#turns.next()
    }
    if (this.#expected <= this.#last && !frames.isComplete) this.#unreadable = spot
    if (fault === undefined || first === undefined || this.#problems.length > problems) return
    // A batch is judged in the span that it begins in, unless a record of it explains what is wrong.
    if (first !== firstSequenceIn(bytes, header) || holdsChangedRecord(bytes, header)) return
    this.#verified -= 1
    this.#report(first, 'content changed', spot, fault)
  }

  /** A record that belongs in front of the span. */
  #approach({ segment, offset }: JournalSpot, bytes: Buffer, { sequence, at }: RecordFrames): void {
    if (this.#reached) {
      this.#report(sequence, BROKEN_LINK, { segment, offset: offset + at }, `it stands where ${this.#expected} belongs`)
      return
    }
    this.#unreadable = undefined
    if (sequence !== this.#from - 1) return
    this.#reached = true
    this.#head = Buffer.from(bytes.subarray(at, at + HASH_BYTES))
  }

  /**
   * @param position its sequence by its place in the batch: a record that was changed is not believed what it says
   * @returns its sequence
   */
  #examineRecord(batchSpot: JournalSpot, bytes: Buffer, frames: RecordFrames, position: number): number {
    const { at, bodyLength } = frames
    const hashed = bytes.compare(recordHash(bytes, at, bodyLength), 0, HASH_BYTES, at, at + HASH_BYTES) === 0
    const sequence = hashed ? frames.sequence : position
    const { sequence: last, head } = this.#end
    // Nothing continues the last record; what it hashed to is known from when it was applied.
    const same = hashed && (sequence !== last || bytes.compare(head, 0, HASH_BYTES, at, at + HASH_BYTES) === 0)
    const spot = { segment: batchSpot.segment, offset: batchSpot.offset + at }
    if (sequence > this.#last) {
      this.#lose(this.#last + 1, spot)
      return sequence
    }
    this.#checked += 1
    if (sequence < this.#expected) {
      this.#report(sequence, BROKEN_LINK, spot, `it stands where ${this.#expected} belongs`)
      return sequence
    }
    if (sequence > this.#expected || (this.#unreadable !== undefined && this.#reached)) this.#lose(sequence, spot)
    this.#unreadable = undefined
    const linked = this.#head === undefined || statesPrevious(bytes, at, this.#head)
    if (!linked) {
      this.#report(sequence, BROKEN_LINK, spot, 'its previous hash is not the hash that the record before states')
    }
    if (!same) this.#report(sequence, 'content changed', spot, 'it does not hash to the hash that it has')
    if (linked && same) this.#verified += 1
    this.#head = Buffer.from(bytes.subarray(at, at + HASH_BYTES))
    this.#reached = true
    this.#expected = sequence + 1
    return sequence
  }

  /** Reports that the records up to `next`, which is the next one found, are not there. */
  #lose(next: number, spot: JournalSpot): void {
    const first = this.#expected
    const unreadable = this.#unreadable
    if (unreadable === undefined) {
      const detail = next > this.#last ? 'no more of the span is there' : `sequence ${next} stands in its place`
      this.#report(first, 'record is missing from the log', spot, detail, next - 1)
    } else if (next > first) {
      this.#report(first, 'content changed', unreadable, 'the bytes here cannot be read as records', next - 1)
    } else {
      this.#report(first, 'content changed', unreadable, 'bytes that are no records stand before it')
    }
    this.#unreadable = undefined
    this.#expected = next
    if (next > first) this.#head = undefined
  }
}

/** What is wrong with a batch beside its records. */
function batchFault({ header, bytes, whole }: Step<'batch'>): string | undefined {
  if (!whole) return 'the checksum of the batch is wrong'
  const frames = new RecordFrames(bytes, header)
  let count = 0
  let isPadded = true
  for (; frames.next(); count += 1) {
    if (frames.sequence !== header.firstSequence + count) return OTHER_RECORDS
    isPadded &&= isZeroBehind(bytes, frames)
  }
  if (count !== header.recordCount || !frames.isComplete) return OTHER_RECORDS
  return isPadded ? undefined : 'what stands between the records is not zero'
}

const OTHER_RECORDS = 'the batch holds other records than its header says'

/** Whether the bytes that fill a record up are zero. */
function isZeroBehind(bytes: Buffer, { at, bodyLength }: RecordFrames): boolean {
  const end = at + recordBytes(bodyLength)
  for (let index = at + RECORD.frameBytes + bodyLength; index < end; index += 1) if (bytes[index] !== 0) return false
  return true
}

function statesPrevious(bytes: Buffer, at: number, hash: Buffer): boolean {
  return bytes.compare(hash, 0, HASH_BYTES, at + RECORD.previousHashAt, at + RECORD.frameBytes) === 0
}

/** Whether bytes hold records only, at least one, whose sequences go on from the first. */
function continues(bytes: Buffer, header: Records): boolean {
  const frames = new RecordFrames(bytes, header)
  let expected = header.firstSequence
  while (frames.next()) {
    if (frames.sequence !== expected) return false
    expected += 1
  }
  return frames.isComplete && expected > header.firstSequence
}

function firstSequenceIn(bytes: Buffer, header: Records): number | undefined {
  const frames = new RecordFrames(bytes, header)
  return frames.next() ? frames.sequence : undefined
}

/** Whether a record of the batch, in the span or behind it, is not what it states. */
function holdsChangedRecord(bytes: Buffer, header: Records): boolean {
  const frames = new RecordFrames(bytes, header)
  while (frames.next()) {
    const hash = recordHash(bytes, frames.at, frames.bodyLength)
    if (bytes.compare(hash, 0, HASH_BYTES, frames.at, frames.at + HASH_BYTES) !== 0) return true
  }
  return !frames.isComplete
}
