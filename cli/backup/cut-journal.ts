import type { Sequence } from '../../engine/brands.ts'
import { previous } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { BatchBuilder } from '../../engine/journal/batch-builder.ts'
import { JournalDamagedError } from '../../engine/journal/journal-errors.ts'
import { firstOf, lastBefore, type LastRecord, type NextRecord } from '../../engine/journal/positions.ts'
import type { JournalRecord } from '../../engine/journal/batch-reader.ts'
import { scanOneSegment } from '../../engine/journal/read-journal.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import { openSegment } from '../../engine/journal/segment-file.ts'
import type { Copier } from './copier.ts'

const PIECE_BYTES = 1 << 20

/**
 * Copies a journal up to a record: sealed segments as they are, the record's segment up to the record. When the record
 * is in the middle of a batch, that batch is written again with the records up to it. Records keep their bytes, and so
 * their hashes; header and checksums of the batch are made for these records alone. So the copy ends like a journal
 * with this last batch, and the next batch continues it (spec/decisions/0107-backup-and-restore.md).
 * @param from disk on which the journal of the backup ends at its newest point
 * @returns the last record
 * @throws JournalDamagedError
 */
export async function cutJournal(
  disk: Disk,
  from: { readonly disk: Disk; readonly paths: StorePaths },
  to: StorePaths,
  at: Sequence,
  copier: Copier,
): Promise<LastRecord> {
  disk.makeDirectory(to.journal)
  const firsts = segmentFirsts(from.disk, from.paths).filter((first) => first <= at)
  const last = firsts.pop()
  if (last === undefined) throw new JournalDamagedError(`${from.paths.journal}: no segment holds record ${at}`)
  for (const first of firsts) {
    const source = from.disk.openToRead(from.paths.segment(first))
    try {
      await copier.copy(source, to.segment(first))
    } finally {
      source.close()
    }
  }
  const cut = findCut(from.disk, from.paths, last, at)
  writeSegment(disk, from, to, last, cut)
  copier.syncDirectories()
  disk.syncDirectory(to.journal)
  return cut.last
}

interface Cut {
  /** Where the last whole batch ends. */
  readonly offset: number
  /** The batch after it with the records up to the cut; undefined when the cut is at its end. */
  readonly batch: Buffer | undefined
  readonly last: LastRecord
}

/** Reads the segment of the cut. */
function findCut(disk: Disk, paths: StorePaths, first: Sequence, at: Sequence): Cut {
  /** The cut at the end of a batch. */
  let whole: Cut | undefined
  /** The batch that the cut divides, and the state before it. */
  let through:
    | { readonly offset: number; readonly batch: number; readonly records: readonly JournalRecord[] }
    | undefined
  let before: NextRecord | undefined
  let records: JournalRecord[] = []
  const { header, end } = scanOneSegment(disk, paths, first, {
    record: (record) => {
      if (record.sequence <= at) records.push({ ...record, body: Buffer.from(record.body) })
    },
    batch: (chain, begin, after) => {
      const reached = previous(chain.nextSequence)
      if (reached < at) before = { ...chain, head: Buffer.from(chain.head) }
      else if (reached === at) whole = { offset: after, batch: undefined, last: lastBefore(chain) }
      else if (records.length > 0) through = { offset: begin, batch: chain.nextBatch - 1, records }
      records = []
    },
  })
  if (whole !== undefined) return whole
  if (through === undefined) {
    throw new JournalDamagedError(`${paths.segment(first)} ends at ${end.offset}, before record ${at}`)
  }
  const { offset, batch: number, records: kept } = through
  return { offset, ...batchOf(kept, before ?? firstOf(header), number, header.segmentNumber) }
}

/** The batch with these records alone. */
function batchOf(
  records: readonly JournalRecord[],
  before: NextRecord,
  number: number,
  segmentNumber: number,
): { readonly batch: Buffer; readonly last: LastRecord } {
  const builder = new BatchBuilder(before.head, before.orderMicroseconds, before.timeMicroseconds)
  builder.begin(before.nextSequence)
  for (const record of records) builder.addAgain(record.kind, record, record.body)
  const batch = Buffer.from(builder.finish(number, segmentNumber, false))
  const last = {
    sequence: previous(builder.nextSequence),
    batch: number,
    head: Uint8Array.from(builder.head),
    ...builder.timesOfLast,
  }
  return { batch, last }
}

function writeSegment(
  disk: Disk,
  from: { readonly disk: Disk; readonly paths: StorePaths },
  to: StorePaths,
  first: Sequence,
  { offset, batch }: Cut,
): void {
  const source = openSegment(from.disk, from.paths.segment(first))
  try {
    const target = disk.create(to.segment(first))
    try {
      const piece = Buffer.allocUnsafe(PIECE_BYTES)
      for (let at = 0; at < offset; at += PIECE_BYTES) {
        const length = Math.min(PIECE_BYTES, offset - at)
        if (source.readAt(piece, at, length) !== length) throw new JournalDamagedError(`${source.path} became shorter`)
        target.writeAt(piece.subarray(0, length), at)
      }
      if (batch !== undefined) target.writeAt(batch, offset)
      target.sync()
    } finally {
      target.close()
    }
  } finally {
    source.close()
  }
}
