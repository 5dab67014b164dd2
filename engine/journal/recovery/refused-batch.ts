import { type HeadMark, refusedBatchId } from '../head-mark.ts'
import { firstOf, type NextRecord } from '../positions.ts'
import { SEGMENT_HEADER } from '../format.ts'
import type { SegmentHeader } from '../segment.ts'

/** The end of the journal before a batch that was refused. */
interface EndBefore {
  readonly offset: number
  readonly chain: NextRecord
}

/**
 * Looks, in a scan of the last segment, for the batch that the mark says was refused. It follows the record of the
 * mark, and has the hash that the mark names: any other batch was written by a later start, after the refused one was
 * cut off, and is left alone.
 */
export class RefusedBatchSearch {
  readonly #mark: HeadMark | undefined
  #before: EndBefore | undefined
  #isFound = false

  constructor(mark: HeadMark | undefined, header: SegmentHeader) {
    this.#mark = mark?.refused === undefined ? undefined : mark
    if (header.firstBatch - 1 === this.#mark?.batch) {
      this.#before = { offset: SEGMENT_HEADER.bytes, chain: firstOf(header) }
    }
  }

  /** Called after each batch with the position after it, and its end. */
  batch(chain: NextRecord, end: number): void {
    const mark = this.#mark
    if (mark?.refused === undefined) return
    const number = chain.nextBatch - 1
    if (number === mark.batch) this.#before = { offset: end, chain: { ...chain, head: Buffer.from(chain.head) } }
    else if (number === mark.batch + 1) this.#isFound = Buffer.compare(refusedBatchId(chain.head), mark.refused) === 0
  }

  /** Where the journal ends without the refused batch; undefined when that is not in the segment. */
  get found(): EndBefore | undefined {
    return this.#isFound ? this.#before : undefined
  }
}
