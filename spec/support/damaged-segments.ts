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
  type DamagedJournal,
  editHeader,
  endOf,
  headWith,
  recordAt,
  removeSegment,
  replaceBytes,
  swapSegments,
} from './journal-damage.ts'

/** Seals that do not tell the truth. */
const seals: readonly DamagedJournal[] = [
  ...[9, 9, 9, 9].map((value, index) => ({
    name: `a seal with another value ${index}`,
    options: alteredValue(7, index, value),
    first: [0, recordAt(7), 7, DAMAGED] as const,
  })),
  {
    name: 'a seal with another digest',
    options: alteredValue(7, 4, Buffer.alloc(32, 1)),
    first: [0, recordAt(7), 7, CHANGED],
  },
  { name: 'a seal without form', options: alteredValue(7, 4, 'digest'), first: [0, recordAt(7), 7, DAMAGED] },
  {
    name: 'a seal in a batch without the flag',
    options: alteredBatch(4, (batch) => (batch.flags = 0)),
    first: [0, batchAt(0, 4), 7, DAMAGED],
  },
  {
    name: 'the flag on a batch without a seal',
    options: alteredBatch(3, (batch) => (batch.flags = 1)),
    first: [0, batchAt(0, 3), 6, DAMAGED],
  },
  {
    name: 'bytes behind the seal',
    damage: (journal) => replaceBytes(journal, 0, endOf(0), endOf(0), Buffer.alloc(8)),
    first: [0, endOf(0), 8, DAMAGED],
  },
  {
    name: 'a segment cut off before its seal',
    damage: (journal) => replaceBytes(journal, 0, batchAt(0, 4), endOf(0)),
    first: [0, batchAt(0, 4), 7, DAMAGED],
  },
  {
    name: 'a segment cut off within a batch',
    damage: (journal) => replaceBytes(journal, 0, endOf(0) - 10, endOf(0)),
    first: [0, batchAt(0, 4), 7, DAMAGED],
  },
]

/** Segment headers and the links between segments. */
const segments: readonly DamagedJournal[] = [
  { name: 'the first segment is gone', damage: (journal) => removeSegment(journal, 0), first: [0, 0, 0, MISSING] },
  {
    name: 'a segment in the middle is gone',
    damage: (journal) => removeSegment(journal, 1),
    first: [1, 0, 8, MISSING],
  },
  { name: 'two segments are swapped', damage: swapSegments, first: [0, 0, 0, MISSING] },
  { name: 'a header is damaged', damage: (journal) => bump(journal, 1, 45), first: [1, 0, 8, DAMAGED] },
  {
    name: 'a file is shorter than its header',
    damage: (journal) => replaceBytes(journal, 2, 100, 5000),
    first: [2, 0, 11, DAMAGED],
  },
  { name: 'a header has another version', damage: (journal) => editHeader(journal, 1, 9), first: [1, 0, 8, DAMAGED] },
  {
    name: 'a header states another length',
    damage: (journal) => editHeader(journal, 1, 11),
    first: [1, 0, 8, DAMAGED],
  },
  {
    name: 'a zero field of a header is not',
    damage: (journal) => editHeader(journal, 1, 200),
    first: [1, 0, 8, DAMAGED],
  },
  {
    name: 'a header states another number',
    damage: (journal) => editHeader(journal, 1, 23),
    first: [1, 0, 8, DAMAGED],
  },
  {
    name: 'a header states another batch number',
    damage: (journal) => editHeader(journal, 1, 39),
    first: [1, 0, 8, DAMAGED],
  },
  {
    name: 'a header states another deployment',
    damage: (journal) => editHeader(journal, 1, 48),
    first: [1, 0, 8, DAMAGED],
  },
  {
    name: 'a header states another chain head',
    damage: (journal) => editHeader(journal, 1, 64),
    first: [1, 0, 8, BROKEN],
  },
  { name: 'a header states another digest', damage: (journal) => editHeader(journal, 1, 96), first: [1, 0, 8, BROKEN] },
]

/** The high-water mark says more than the journal. */
const marks: readonly DamagedJournal[] = [
  {
    name: 'the journal ends before the mark',
    damage: (journal) => replaceBytes(journal, 2, batchAt(2, 1), endOf(2)),
    first: [2, batchAt(2, 1), 14, LOST],
  },
  {
    name: 'the torn tail was marked as durable',
    damage: (journal) => bump(journal, 2, recordAt(15) + 90),
    first: [2, batchAt(2, 1), 14, LOST],
  },
  { name: 'the last segment is gone', damage: (journal) => removeSegment(journal, 2), first: [1, endOf(1), 11, LOST] },
  {
    name: 'the mark has another hash',
    damage: (journal) => headWith(journal, { hash: Buffer.alloc(32, 1) }),
    first: [2, recordAt(15), 15, CHANGED],
  },
  {
    name: 'the mark has another batch',
    damage: (journal) => headWith(journal, { batchNumber: 7 }),
    first: [2, recordAt(15), 15, DAMAGED],
  },
]

export const damagedSegments: readonly DamagedJournal[] = [...seals, ...segments, ...marks]
