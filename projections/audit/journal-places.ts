import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { decodeBatchHeader } from '../../engine/journal/batch-reader.ts'
import { BATCH_HEADER, SEGMENT_HEADER } from '../../engine/journal/format.ts'
import { decodeSegmentHeader } from '../../engine/journal/segment.ts'
import type { TableReader } from '../lmdb-environment.ts'
import { type AuditPlace, placeBefore, placeInSegment } from '../tables/audit-index.ts'
import { type JournalBeginning, segmentFirsts } from './journal-cursor.ts'

const START: JournalBeginning = { segmentFirstSequence: 0, offset: SEGMENT_HEADER.bytes }

/** A batch from which every record at or after a time is reached by reading on. */
export function beginningBefore(auditIndex: TableReader, timeMicroseconds: number): JournalBeginning {
  const place = placeBefore(auditIndex, timeMicroseconds)
  return place === undefined ? START : beginningAt(place)
}

/**
 * A batch, near it, from which the record of a sequence is reached by reading on. The index is believed only where the
 * journal agrees: a segment that was tampered with is read from its start.
 */
export function beginningBeforeSequence(
  disk: Disk,
  paths: StorePaths,
  auditIndex: TableReader,
  sequence: number,
): JournalBeginning {
  const segment = segmentFirsts(disk, paths).findLast((first) => first <= sequence)
  if (segment === undefined) return START
  const start = { segmentFirstSequence: segment, offset: SEGMENT_HEADER.bytes }
  const file = disk.openToRead(paths.segment(segment))
  try {
    const read = (offset: number, length: number): Buffer => {
      const bytes = Buffer.alloc(length)
      return bytes.subarray(0, file.readAt(bytes, offset, length))
    }
    const created = createdMicroseconds(read(0, SEGMENT_HEADER.bytes))
    if (created === undefined) return start
    const place = placeInSegment(auditIndex, segment, created, sequence)
    if (place === undefined) return start
    const header = decodeBatchHeader(read(place.batchOffset, BATCH_HEADER.bytes))
    return header?.batchNumber === place.batch && header.firstSequence <= sequence ? beginningAt(place) : start
  } finally {
    file.close()
  }
}

function createdMicroseconds(bytes: Buffer): number | undefined {
  try {
    return decodeSegmentHeader(bytes)?.createdMicroseconds
  } catch {
    return undefined
  }
}

function beginningAt({ segmentFirstSequence, batchOffset }: AuditPlace): JournalBeginning {
  return { segmentFirstSequence, offset: batchOffset }
}
