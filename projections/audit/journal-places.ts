import type { Sequence } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { decodeBatchHeader } from '../../engine/journal/batch-reader.ts'
import { ColdSegmentDamagedError } from '../../engine/journal/cold/cold-segment.ts'
import { BATCH_HEADER, SEGMENT_HEADER } from '../../engine/journal/format.ts'
import type { SegmentPlace } from '../../engine/journal/positions.ts'
import { segmentFirsts, type SegmentFile } from '../../engine/journal/segment.ts'
import { openSegment } from '../../engine/journal/segment-file.ts'
import type { TableReader } from '../lmdb-environment.ts'
import { type AuditPlace, JOURNAL_START, rowsBefore } from '../tables/audit-index.ts'

/**
 * A batch shortly before the record of a sequence. The index counts only where the journal agrees: a segment that was
 * tampered with is read from its start.
 */
export function beginningBeforeSequence(
  disk: Disk,
  paths: StorePaths,
  auditIndex: TableReader,
  sequence: Sequence,
): SegmentPlace {
  const segment = segmentFirsts(disk, paths).findLast((first) => first <= sequence)
  if (segment === undefined) return JOURNAL_START
  const start = { segmentFirstSequence: segment, offset: SEGMENT_HEADER.bytes }
  const file = openReadable(disk, paths.segment(segment))
  if (file === undefined) return start
  try {
    const read = (offset: number, length: number): Buffer => {
      const bytes = Buffer.alloc(length)
      return bytes.subarray(0, file.readAt(bytes, offset, length))
    }
    const place = rowsBefore(auditIndex, sequence, 1)[0]?.place
    if (place?.segmentFirstSequence !== segment) return start
    const header = decodeBatchHeader(read(place.batchOffset, BATCH_HEADER.bytes))
    return header?.batchNumber === place.batch && header.firstSequence <= sequence ? beginningAt(place) : start
  } finally {
    file.close()
  }
}

/** Undefined for a cold segment whose index is damaged; the read of the segment reports it. */
function openReadable(disk: Disk, path: string): SegmentFile | undefined {
  try {
    // An unreadable header or batch then differs from the index.
    return openSegment(disk, path, { onDamage: () => undefined })
  } catch (error) {
    if (error instanceof ColdSegmentDamagedError) return undefined
    throw error
  }
}

/** Start of a row's batch. */
export function beginningAt({ segmentFirstSequence, batchOffset }: AuditPlace): SegmentPlace {
  return { segmentFirstSequence, offset: batchOffset }
}
