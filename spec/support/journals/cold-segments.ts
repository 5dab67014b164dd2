/** Cold segments for specs: made as the worker makes them, and as Python reads them. */
import { randomBytes } from 'node:crypto'
import type { Disk } from '../../../engine/disk/disk.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { compressSegment } from '../../../engine/journal/cold/compress-segment.ts'
import { segmentFirsts } from '../../../engine/journal/segment.ts'

/** Compresses sealed segments, all but the last `leave`. @returns how many */
export async function compressJournal(paths: StorePaths, leave = 1, disk: Disk = nodeDisk): Promise<number> {
  const firsts = segmentFirsts(disk, paths)
  const count = Math.max(0, firsts.length - Math.max(1, leave))
  for (let index = 0; index < count; index += 1) {
    const [first, following] = firsts.slice(index, index + 2)
    if (first === undefined || following === undefined) continue
    const job = { first, following, making: randomBytes(8).toString('hex'), level: 6 }
    for await (const _ of compressSegment(disk, paths, job));
  }
  return count
}
