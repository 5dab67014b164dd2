/** Journals with one thing wrong in a record or batch, and what a verifier must say of it first. */
import { KIND, repairBatch, repairRecord, withHostTime } from './journal-bytes.ts'
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
  damaged,
  type DamagedJournal,
  endOf,
  made,
  recordAt,
  removeRecord,
  replaceBytes,
} from './journal-damage.ts'

/** Damage to what records say, with all checksums put right, as somebody who knows the format would. */
const tampered: readonly DamagedJournal[] = [
  damaged('the body of a record is edited', [0, recordAt(4), 4, CHANGED], (journal) =>
    bumpInBatch(journal, 0, 2, recordAt(4) + 90),
  ),
  damaged('a record is edited and hashed anew', [0, recordAt(5), 5, BROKEN], (journal) => {
    bump(journal, 0, recordAt(4) + 100)
    repairRecord(bytesOf(journal, 0), recordAt(4))
    repairBatch(bytesOf(journal, 0), batchAt(0, 2))
    return undefined
  }),
  damaged('the last record of a segment is edited and hashed anew', [2, recordAt(15), 15, CHANGED], (journal) => {
    bump(journal, 2, recordAt(15) + 100)
    repairRecord(bytesOf(journal, 2), recordAt(15))
    return bumpInBatch(journal, 2, 1, endOf(2) - 8)
  }),
  damaged('the hash of a record is edited', [0, recordAt(1), 1, CHANGED], (journal) =>
    bumpInBatch(journal, 0, 1, recordAt(1)),
  ),
  damaged('a record is taken out', [2, recordAt(12), 12, MISSING], (journal) => removeRecord(journal, 2, 0, 12)),
  damaged('a batch is taken out', [0, batchAt(0, 1), 1, MISSING], (journal) =>
    replaceBytes(journal, 0, batchAt(0, 1), batchAt(0, 2)),
  ),
  damaged('a batch stands twice', [0, batchAt(0, 2), 3, DAMAGED], (journal) =>
    replaceBytes(
      journal,
      0,
      batchAt(0, 2),
      batchAt(0, 2),
      Buffer.from(bytesOf(journal, 0).subarray(batchAt(0, 1), batchAt(0, 2))),
    ),
  ),
  damaged('a batch of another segment is put at the end', [2, endOf(2), 16, DAMAGED], (journal) => {
    const foreign = Buffer.from(bytesOf(journal, 1).subarray(batchAt(1, 0), batchAt(1, 1)))
    return replaceBytes(journal, 2, endOf(2), endOf(2) + foreign.length, foreign)
  }),
  made(
    'time goes back',
    [0, recordAt(5), 5, DAMAGED],
    altered(5, (record) => (record.time -= 5)),
  ),
  made(
    'time goes back between segments',
    [1, 0, 8, DAMAGED],
    altered(8, (record) => (record.time -= 5)),
  ),
  made(
    'a time of the host that is too near',
    [0, recordAt(5), 5, DAMAGED],
    altered(5, (record) => withHostTime(record, record.time - 1_000_000)),
  ),
  made(
    'a time of the host after the order time',
    [0, recordAt(5), 5, DAMAGED],
    altered(5, (record) => withHostTime(record, record.time + 5_000_000)),
  ),
  made(
    'a time of the host beyond all times',
    [0, recordAt(5), 5, DAMAGED],
    altered(5, (record) => withHostTime(record, 2 ** 53)),
  ),
  made(
    'a body too short for the time of the host',
    [0, recordAt(5), 5, DAMAGED],
    altered(5, (record) => {
      record.bodyVersion = 2
      record.body = Buffer.alloc(7)
    }),
  ),
  made(
    'a second genesis',
    [0, recordAt(5), 5, DAMAGED],
    altered(5, (record) => (record.kind = KIND.genesis)),
  ),
  made(
    'no genesis',
    [0, recordAt(0), 0, DAMAGED],
    altered(0, (record) => (record.kind = KIND.audit)),
  ),
  made('a genesis of another product', [0, recordAt(0), 0, DAMAGED], alteredValue(0, 1, 'else')),
  made('a genesis of another format', [0, recordAt(0), 0, DAMAGED], alteredValue(0, 0, 2)),
  made('a genesis without form', [0, recordAt(0), 0, DAMAGED], alteredValue(0, 2, 'id')),
  made('a genesis of another deployment', [0, 0, 0, DAMAGED], alteredValue(0, 2, Buffer.alloc(16, 1))),
  damaged('padding is not zero', [0, recordAt(3), 3, DAMAGED], (journal) =>
    bumpInBatch(journal, 0, 2, recordAt(4) - 1),
  ),
]

/** Batches whose header says what is not so. */
const batches: readonly DamagedJournal[] = [
  made(
    'unknown flags',
    [0, batchAt(0, 2), 3, DAMAGED],
    alteredBatch(2, (batch) => (batch.flags = 2)),
  ),
  made(
    'a count too small',
    [0, batchAt(0, 2), 3, DAMAGED],
    alteredBatch(2, (batch) => (batch.recordCount = 2)),
  ),
  made(
    'a count of none',
    [0, batchAt(0, 2), 3, DAMAGED],
    alteredBatch(2, (batch) => (batch.recordCount = 0)),
  ),
  made(
    'a batch number left out',
    [0, batchAt(0, 2), 3, DAMAGED],
    alteredBatch(2, (batch) => (batch.batchNumber = 3)),
  ),
  made(
    'a sequence too great',
    [0, batchAt(0, 2), 3, MISSING],
    alteredBatch(2, (batch) => (batch.firstSequence = 4)),
  ),
  made(
    'a sequence too small',
    [0, batchAt(0, 2), 3, MISSING],
    alteredBatch(2, (batch) => (batch.firstSequence = 2)),
  ),
  made(
    'another segment number',
    [0, batchAt(0, 2), 3, DAMAGED],
    alteredBatch(2, (batch) => (batch.segmentNumber = 1)),
  ),
  damaged('a zero field that is not', [0, batchAt(0, 2), 3, DAMAGED], (journal) =>
    bumpInBatch(journal, 0, 2, batchAt(0, 2) + 45),
  ),
  damaged('another version', [0, batchAt(0, 2), 3, DAMAGED], (journal) =>
    bumpInBatch(journal, 0, 2, batchAt(0, 2) + 5),
  ),
  damaged('a length of a record beyond its batch', [0, recordAt(4), 4, DAMAGED], (journal) =>
    bumpInBatch(journal, 0, 2, recordAt(4) + 33),
  ),
  made(
    'a whole batch with a wrong sequence at the end of the open segment',
    [2, batchAt(2, 1), 14, MISSING],
    alteredBatch(8, (batch) => (batch.firstSequence = 13)),
  ),
  damaged('a damaged batch in the open segment with a batch behind it', [2, batchAt(2, 0), 11, DAMAGED], (journal) =>
    bump(journal, 2, batchAt(2, 0) + 70),
  ),
  damaged(
    'a damaged batch header in the open segment with a batch behind it',
    [2, batchAt(2, 0), 11, DAMAGED],
    (journal) => bump(journal, 2, batchAt(2, 0) + 9),
  ),
  damaged('a batch of zeros in the open segment with a batch behind it', [2, batchAt(2, 0), 11, DAMAGED], (journal) => {
    bytesOf(journal, 2).fill(0, batchAt(2, 0), batchAt(2, 1))
    return undefined
  }),
]

export const damagedBatches: readonly DamagedJournal[] = [...tampered, ...batches]
