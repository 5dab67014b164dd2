import type { DiskFile } from '../disk/disk.ts'

/**
 * A segment that is open for reading, plain or cold. Positions and lengths are those in the plain segment. All readers
 * of segments use it; only `journal.ts` writes segments.
 */
export interface SegmentFile extends Pick<DiskFile, 'path' | 'readAt' | 'readAtAsync' | 'size' | 'close'> {
  readonly isCold: boolean
  /** Length of the file. */
  readonly storedBytes: number
}
