import { join } from 'node:path'
import type { Disk } from '../disk/disk.ts'
import { segmentFirstSequence } from '../disk/store-paths.ts'
import { SEGMENT_HEADER } from './format.ts'
import { JournalDamagedError } from './journal-errors.ts'
import { decodeSegmentHeader } from './segment.ts'
import { openSegment } from './segment-file.ts'

/**
 * Looks at the first and the last segment of a journal before anything is touched: a version that was not released began
 * the first one with another magic, and a newer format has a new segment. A header that is damaged, or that
 * the disk cannot read, is left to its reader.
 * @param journal the directory of the segments; it need not exist
 * @throws StoreUnreleasedError, NewerFormatError
 */
export function requireKnownFormat(disk: Pick<Disk, 'list' | 'openToRead'>, journal: string): void {
  const names = disk.list(journal).filter((name) => segmentFirstSequence(name) !== undefined)
  for (const name of new Set([names[0], names.at(-1)])) if (name !== undefined) requireKnown(disk, join(journal, name))
}

function requireKnown(disk: Pick<Disk, 'openToRead'>, path: string): void {
  try {
    const file = openSegment(disk, path)
    try {
      const head = Buffer.alloc(SEGMENT_HEADER.bytes)
      file.readAt(head, 0, head.length)
      decodeSegmentHeader(head)
    } finally {
      file.close()
    }
  } catch (error) {
    if (!(error instanceof JournalDamagedError)) throw error
  }
}
