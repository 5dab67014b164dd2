import type { Sequence } from '../brands.ts'
import type { Disk, DiskFile } from '../disk/disk.ts'
import type { StorePaths } from '../disk/store-paths.ts'

const ZEROS = Buffer.alloc(1 << 20)

/**
 * Creates a segment without a spare, filled with zeros to `capacityBytes`. It is written under another name and
 * renamed, so a half-written segment is never seen.
 */
export function createSegment(
  disk: Disk,
  paths: StorePaths,
  firstSequence: Sequence,
  bytes: Buffer,
  capacityBytes: number = bytes.length,
): DiskFile {
  const making = `${paths.segment(firstSequence)}.making`
  disk.remove(making)
  const file = disk.create(making)
  file.writeAt(bytes, 0)
  for (let at = bytes.length; at < capacityBytes; at += ZEROS.length) {
    file.writeAt(ZEROS.subarray(0, Math.min(ZEROS.length, capacityBytes - at)), at)
  }
  file.sync()
  disk.rename(making, paths.segment(firstSequence))
  disk.syncDirectory(paths.journal)
  return file
}
