import { type Microseconds, previous, type Sequence, sequenceOf } from '../../engine/brands.ts'
import type { SegmentPlace } from '../../engine/journal/positions.ts'
import type { JournalBatch, JournalCursor } from './journal-cursor.ts'
import type { JournalGap } from './journal-damage.ts'
import { RecordFrames } from './record-frames.ts'

/** Records of which a whole batch is made, and that were examined for their form. */
interface WholeBatch extends JournalBatch {
  readonly kind: 'batch'
  readonly lastMicroseconds: Microseconds
}

export type RangeStep = WholeBatch | ({ readonly kind: 'gap' } & JournalGap)

/**
 * Reads a part of the journal for an answer: batch by batch, and past what cannot be read, of which it says which records
 * are missing, where and how. Every record from the first to the last that is wanted is in a batch or in a gap.
 */
export class JournalRange {
  readonly #cursor: JournalCursor
  readonly #wanted: Sequence
  readonly #end: Sequence
  /** Whether a batch that does not continue the one before lacks records. */
  #hasBegun: boolean
  /** Sequence of the next record. */
  #expected: Sequence
  /** Whether nothing after `#end` is read. */
  readonly #isNarrow: boolean
  /** Of the damage since the last batch. */
  #damage: SegmentPlace | undefined
  /** A batch that waits until the gap before it was returned. */
  #held: WholeBatch | undefined
  #lastMicroseconds: Microseconds | undefined

  /**
   * @param cursor at or before the first record that is wanted
   * @param wanted records before it are of no interest, though a batch may have some
   * @param end sequence after the last record that must be there
   * @param start whether the cursor is at `wanted`, or at the first batch of interest after it
   * @param isNarrow whether nothing after the last record that must be there is read
   */
  constructor(
    cursor: JournalCursor,
    wanted: Sequence,
    end: Sequence,
    start: 'at wanted' | 'after it' = 'at wanted',
    isNarrow = false,
  ) {
    this.#isNarrow = isNarrow
    // Without the segment of that batch, its records are missing.
    this.#hasBegun = start === 'at wanted' || !cursor.hasBeginning
    this.#cursor = cursor
    this.#wanted = wanted
    this.#expected = wanted
    this.#end = end
  }

  /** Where the last step was. */
  get place(): SegmentPlace {
    return this.#cursor.place
  }

  /** The next batch or gap; undefined at the end. The bytes of a batch are valid until the next call. */
  async next(): Promise<RangeStep | undefined> {
    if (this.#held !== undefined) return this.#taken(this.#held)
    for (;;) {
      if (this.#isNarrow && this.#expected >= this.#end) return undefined
      const step = await this.#cursor.next(this.#wanted)
      if (step === undefined) return this.#gapBefore(this.#end, undefined)
      const times = step === 'damaged' ? undefined : timesOf(step)
      if (step === 'damaged' || times === undefined) {
        this.#damage ??= this.#cursor.place
        continue
      }
      const batch: WholeBatch = { kind: 'batch', ...step, lastMicroseconds: times.last }
      if (!this.#hasBegun && this.#damage === undefined) return this.#taken(batch)
      const { firstSequence } = step.header
      if (this.#isNarrow && firstSequence >= this.#end) return this.#gapBefore(this.#end, times.first)
      const gap = this.#gapBefore(firstSequence, times.first)
      if (gap === undefined) return this.#taken(batch)
      this.#held = batch
      return gap
    }
  }

  /** Closes the files; not while `next` is running. */
  close(): void {
    this.#cursor.close()
  }

  #taken(batch: WholeBatch): WholeBatch {
    const { firstSequence, recordCount } = batch.header
    this.#held = undefined
    this.#hasBegun = true
    this.#expected = sequenceOf(firstSequence + recordCount)
    this.#lastMicroseconds = batch.lastMicroseconds
    return batch
  }

  #gapBefore(following: Sequence, beforeMicroseconds: Microseconds | undefined): RangeStep | undefined {
    const [firstSequence, damage, afterMicroseconds] = [this.#expected, this.#damage, this.#lastMicroseconds]
    this.#damage = undefined
    // Damage before the first record that is wanted is of no interest.
    const isStray = damage !== undefined && following === firstSequence && afterMicroseconds !== undefined
    if (following <= firstSequence && !isStray) return undefined
    this.#expected = following
    return {
      kind: 'gap',
      firstSequence,
      lastSequence: previous(following),
      verdict: damage === undefined ? 'record is missing from the log' : 'content changed',
      place: damage ?? this.#cursor.place,
      afterMicroseconds,
      beforeMicroseconds,
    }
  }
}

/**
 * Times of the first and the last record of a batch; undefined when its bytes are not as many records as its header
 * states, in their order: who changed it made its checksum again.
 */
function timesOf({ header, bytes }: JournalBatch): { first: Microseconds; last: Microseconds } | undefined {
  const frames = new RecordFrames(bytes, header)
  let expected: number = header.firstSequence
  let first: Microseconds | undefined
  while (frames.next()) {
    if (frames.sequence !== expected) return undefined
    expected += 1
    first ??= frames.timeMicroseconds
  }
  const isWhole = frames.isComplete && expected === header.firstSequence + header.recordCount
  return isWhole && first !== undefined ? { first, last: frames.timeMicroseconds } : undefined
}
