/** Journals with one thing wrong in a segment, its seal or HEAD, and what a verifier must say of it first. */
import {
  BROKEN,
  CHANGED,
  DAMAGED,
  LOST,
  MISSING,
  alteredBatch,
  alteredValue,
  batchAt,
  bump,
  damaged,
  type DamagedJournal,
  editHeader,
  endOf,
  headWith,
  made,
  recordAt,
  removeSegment,
  replaceBytes,
  swapSegments,
} from './journal-damage.ts'

/** Seals that do not tell the truth. */
const seals: readonly DamagedJournal[] = [
  ...[0, 1, 2, 3].map((index) =>
    made(`a seal with another value ${index}`, [0, recordAt(7), 7, DAMAGED], alteredValue(7, index, 9)),
  ),
  made('a seal with another digest', [0, recordAt(7), 7, CHANGED], alteredValue(7, 4, Buffer.alloc(32, 1))),
  made('a seal without form', [0, recordAt(7), 7, DAMAGED], alteredValue(7, 4, 'digest')),
  made(
    'a seal in a batch without the flag',
    [0, batchAt(0, 4), 7, DAMAGED],
    alteredBatch(4, (batch) => (batch.flags = 0)),
  ),
  made(
    'the flag on a batch without a seal',
    [0, batchAt(0, 3), 6, DAMAGED],
    alteredBatch(3, (batch) => (batch.flags = 1)),
  ),
  damaged('bytes behind the seal', [0, endOf(0), 8, DAMAGED], (journal) =>
    replaceBytes(journal, 0, endOf(0), endOf(0), Buffer.alloc(8)),
  ),
  damaged('a segment cut off before its seal', [0, batchAt(0, 4), 7, DAMAGED], (journal) =>
    replaceBytes(journal, 0, batchAt(0, 4), endOf(0)),
  ),
  damaged('a segment cut off within a batch', [0, batchAt(0, 4), 7, DAMAGED], (journal) =>
    replaceBytes(journal, 0, endOf(0) - 10, endOf(0)),
  ),
]

/** Segment headers and the links between segments. */
const segments: readonly DamagedJournal[] = [
  damaged('the first segment is gone', [0, 0, 0, MISSING], (journal) => removeSegment(journal, 0)),
  damaged('a segment in the middle is gone', [1, 0, 8, MISSING], (journal) => removeSegment(journal, 1)),
  damaged('two segments are swapped', [0, 0, 0, MISSING], swapSegments),
  damaged('a header is damaged', [1, 0, 8, DAMAGED], (journal) => bump(journal, 1, 45)),
  damaged('a file is shorter than its header', [2, 0, 11, DAMAGED], (journal) => replaceBytes(journal, 2, 100, 5000)),
  damaged('a header has another version', [1, 0, 8, DAMAGED], (journal) => editHeader(journal, 1, 9)),
  damaged('a header states another length', [1, 0, 8, DAMAGED], (journal) => editHeader(journal, 1, 11)),
  damaged('a zero field of a header is not', [1, 0, 8, DAMAGED], (journal) => editHeader(journal, 1, 200)),
  damaged('a header states another number', [1, 0, 8, DAMAGED], (journal) => editHeader(journal, 1, 23)),
  damaged('a header states another batch number', [1, 0, 8, DAMAGED], (journal) => editHeader(journal, 1, 39)),
  damaged('a header states another deployment', [1, 0, 8, DAMAGED], (journal) => editHeader(journal, 1, 48)),
  damaged('a header states another chain head', [1, 0, 8, BROKEN], (journal) => editHeader(journal, 1, 64)),
  damaged('a header states another digest', [1, 0, 8, BROKEN], (journal) => editHeader(journal, 1, 96)),
]

/** The high-water mark says more than the journal. */
const marks: readonly DamagedJournal[] = [
  damaged('the journal ends before the mark', [2, batchAt(2, 1), 14, LOST], (journal) =>
    replaceBytes(journal, 2, batchAt(2, 1), endOf(2)),
  ),
  damaged('the torn tail was marked as durable', [2, batchAt(2, 1), 14, LOST], (journal) =>
    bump(journal, 2, recordAt(15) + 90),
  ),
  damaged('the last segment is gone', [1, endOf(1), 11, LOST], (journal) => removeSegment(journal, 2)),
  damaged('the mark has another hash', [2, recordAt(15), 15, CHANGED], (journal) =>
    headWith(journal, { hash: Buffer.alloc(32, 1) }),
  ),
  damaged('the mark has another batch', [2, recordAt(15), 15, DAMAGED], (journal) =>
    headWith(journal, { batchNumber: 7 }),
  ),
]

export const damagedSegments: readonly DamagedJournal[] = [...seals, ...segments, ...marks]
