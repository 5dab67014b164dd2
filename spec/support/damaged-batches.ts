/** Journals with one thing wrong in a record or batch, and what a verifier must say of it first. */
import { KIND, repairBatch, repairRecord } from './journal-bytes.ts'
import {
  BROKEN,
  CHANGED,
  DAMAGED,
  MISSING,
  altered,
  alteredBatch,
  alteredValue,
  batchAt,
  bump,
  bumpInBatch,
  bytesOf,
  type DamagedJournal,
  endOf,
  recordAt,
  removeRecord,
  replaceBytes,
} from './journal-damage.ts'

/** Damage to what records say, with all checksums put right, as somebody who knows the format would. */
const tampered: readonly DamagedJournal[] = [
  {
    name: 'the body of a record is edited',
    damage: (journal) => bumpInBatch(journal, 0, 2, recordAt(4) + 90),
    first: [0, recordAt(4), 4, CHANGED],
  },
  {
    name: 'a record is edited and hashed anew',
    damage: (journal) => {
      bump(journal, 0, recordAt(4) + 90)
      repairRecord(bytesOf(journal, 0), recordAt(4))
      repairBatch(bytesOf(journal, 0), batchAt(0, 2))
      return undefined
    },
    first: [0, recordAt(5), 5, BROKEN],
  },
  {
    name: 'the last record of a segment is edited and hashed anew',
    damage: (journal) => {
      bump(journal, 2, recordAt(15) + 90)
      repairRecord(bytesOf(journal, 2), recordAt(15))
      return bumpInBatch(journal, 2, 1, endOf(2) - 8)
    },
    first: [2, recordAt(15), 15, CHANGED],
  },
  {
    name: 'the hash of a record is edited',
    damage: (journal) => bumpInBatch(journal, 0, 1, recordAt(1)),
    first: [0, recordAt(1), 1, CHANGED],
  },
  {
    name: 'a record is taken out',
    damage: (journal) => removeRecord(journal, 2, 0, 12),
    first: [2, recordAt(12), 12, MISSING],
  },
  {
    name: 'a batch is taken out',
    damage: (journal) => replaceBytes(journal, 0, batchAt(0, 1), batchAt(0, 2)),
    first: [0, batchAt(0, 1), 1, MISSING],
  },
  {
    name: 'a batch stands twice',
    damage: (journal) =>
      replaceBytes(
        journal,
        0,
        batchAt(0, 2),
        batchAt(0, 2),
        Buffer.from(bytesOf(journal, 0).subarray(batchAt(0, 1), batchAt(0, 2))),
      ),
    first: [0, batchAt(0, 2), 3, DAMAGED],
  },
  {
    name: 'a batch of another segment is put at the end',
    damage: (journal) => {
      const foreign = Buffer.from(bytesOf(journal, 1).subarray(batchAt(1, 0), batchAt(1, 1)))
      return replaceBytes(journal, 2, endOf(2), endOf(2) + foreign.length, foreign)
    },
    first: [2, endOf(2), 16, DAMAGED],
  },
  { name: 'time goes back', options: altered(5, (record) => (record.time -= 5)), first: [0, recordAt(5), 5, DAMAGED] },
  {
    name: 'time goes back between segments',
    options: altered(8, (record) => (record.time -= 5)),
    first: [1, 0, 8, DAMAGED],
  },
  {
    name: 'a kind is unknown',
    options: altered(5, (record) => (record.kind = 9)),
    first: [0, recordAt(5), 5, DAMAGED],
  },
  {
    name: 'a body version is unknown',
    options: altered(5, (record) => (record.bodyVersion = 2)),
    first: [0, recordAt(5), 5, DAMAGED],
  },
  {
    name: 'a second genesis',
    options: altered(5, (record) => (record.kind = KIND.genesis)),
    first: [0, recordAt(5), 5, DAMAGED],
  },
  {
    name: 'no genesis',
    options: altered(0, (record) => (record.kind = KIND.audit)),
    first: [0, recordAt(0), 0, DAMAGED],
  },
  { name: 'a genesis of another product', options: alteredValue(0, 1, 'else'), first: [0, recordAt(0), 0, DAMAGED] },
  { name: 'a genesis of another format', options: alteredValue(0, 0, 2), first: [0, recordAt(0), 0, DAMAGED] },
  { name: 'a genesis without form', options: alteredValue(0, 2, 'id'), first: [0, recordAt(0), 0, DAMAGED] },
  {
    name: 'a genesis of another deployment',
    options: alteredValue(0, 2, Buffer.alloc(16, 1)),
    first: [0, 0, 0, DAMAGED],
  },
  {
    name: 'padding is not zero',
    damage: (journal) => bumpInBatch(journal, 0, 2, recordAt(4) - 1),
    first: [0, recordAt(3), 3, DAMAGED],
  },
]

/** Batches whose header says what is not so. */
const batches: readonly DamagedJournal[] = [
  {
    name: 'unknown flags',
    options: alteredBatch(2, (batch) => (batch.flags = 2)),
    first: [0, batchAt(0, 2), 3, DAMAGED],
  },
  {
    name: 'a count too small',
    options: alteredBatch(2, (batch) => (batch.recordCount = 2)),
    first: [0, batchAt(0, 2), 3, DAMAGED],
  },
  {
    name: 'a count of none',
    options: alteredBatch(2, (batch) => (batch.recordCount = 0)),
    first: [0, batchAt(0, 2), 3, DAMAGED],
  },
  {
    name: 'a batch number left out',
    options: alteredBatch(2, (batch) => (batch.batchNumber = 3)),
    first: [0, batchAt(0, 2), 3, DAMAGED],
  },
  {
    name: 'a sequence too great',
    options: alteredBatch(2, (batch) => (batch.firstSequence = 4)),
    first: [0, batchAt(0, 2), 3, MISSING],
  },
  {
    name: 'a sequence too small',
    options: alteredBatch(2, (batch) => (batch.firstSequence = 2)),
    first: [0, batchAt(0, 2), 3, MISSING],
  },
  {
    name: 'another segment number',
    options: alteredBatch(2, (batch) => (batch.segmentNumber = 1)),
    first: [0, batchAt(0, 2), 3, DAMAGED],
  },
  {
    name: 'a zero field that is not',
    damage: (journal) => bumpInBatch(journal, 0, 2, batchAt(0, 2) + 45),
    first: [0, batchAt(0, 2), 3, DAMAGED],
  },
  {
    name: 'another version',
    damage: (journal) => bumpInBatch(journal, 0, 2, batchAt(0, 2) + 5),
    first: [0, batchAt(0, 2), 3, DAMAGED],
  },
  {
    name: 'a length of a record beyond its batch',
    damage: (journal) => bumpInBatch(journal, 0, 2, recordAt(4) + 33),
    first: [0, recordAt(4), 4, DAMAGED],
  },
  {
    name: 'a whole batch with a wrong sequence at the end of the open segment',
    options: alteredBatch(8, (batch) => (batch.firstSequence = 13)),
    first: [2, batchAt(2, 1), 14, MISSING],
  },
  {
    name: 'a damaged batch in the open segment with a batch behind it',
    damage: (journal) => bump(journal, 2, batchAt(2, 0) + 70),
    first: [2, batchAt(2, 0), 11, DAMAGED],
  },
  {
    name: 'a damaged batch header in the open segment with a batch behind it',
    damage: (journal) => bump(journal, 2, batchAt(2, 0) + 9),
    first: [2, batchAt(2, 0), 11, DAMAGED],
  },
  {
    name: 'a batch of zeros in the open segment with a batch behind it',
    damage: (journal) => {
      bytesOf(journal, 2).fill(0, batchAt(2, 0), batchAt(2, 1))
      return undefined
    },
    first: [2, batchAt(2, 0), 11, DAMAGED],
  },
]

export const damagedBatches: readonly DamagedJournal[] = [...tampered, ...batches]
