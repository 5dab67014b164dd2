import type { Disk } from '../../engine/disk/disk.ts'
import { type StorePaths, segmentFirstSequence } from '../../engine/disk/store-paths.ts'
import { SEGMENT_HEADER } from '../../engine/journal/format.ts'
import { decodeSegmentHeader } from '../../engine/journal/segment.ts'
import { SegmentWindow, scanSegment } from '../../engine/journal/segment-scan.ts'

/**
 * Sequence of the last whole entry of a journal, undefined when it has none. Reads the last segment and no other.
 * @throws Error when its header is damaged
 */
export function lastSequence(disk: Disk, paths: StorePaths): number | undefined {
  const firsts = disk.list(paths.journal).map(segmentFirstSequence)
  const last = firsts.filter((first): first is number => first !== undefined).at(-1)
  if (last === undefined) return undefined
  const file = disk.openToRead(paths.segment(last))
  try {
    const window = new SegmentWindow(file)
    const header = decodeSegmentHeader(Buffer.from(window.view(0, SEGMENT_HEADER.bytes)))
    if (header === undefined) throw new Error(`${file.path}: header is damaged`)
    const position = {
      sequence: header.firstSequence,
      batch: header.firstBatch,
      head: Buffer.from(header.chainHead),
      timeMicroseconds: 0,
    }
    scanSegment(window, header.segmentNumber, SEGMENT_HEADER.bytes, position, { record: () => undefined })
    return position.sequence - 1
  } finally {
    file.close()
  }
}
