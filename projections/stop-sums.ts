import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { crc32c } from '../engine/hashing/crc32.ts'
import type { Disk } from '../engine/disk/disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import { DATA_FILE } from './lmdb-environment.ts'

/**
 * What the file of the rows was when the store stopped: `projections/sums`, JSON with its length and the CRC-32C of each block. A
 * changed bit anywhere in it, in pages that lead to rows as well, is found before LMDB opens it; the sums of rows cannot show
 * that a row is missing (spec/decisions/0005-projections-without-a-sync.md). Another form needs another name: a start finds that
 * the rows are of a newer program only when their file is whole.
 */
interface StopSums {
  readonly bytes: number
  readonly sums: readonly number[]
}

const BLOCK_BYTES = 4 * 1024 ** 2
/** Reading more would keep a start waiting for too long: 4 GiB take about a second, and 3 from a disk. */
const BYTES_MAXIMUM = 4 * 1024 ** 3

/**
 * Writes the sums of the closed file; a start removes them before it writes to the file. A disk that fails leaves no sums, as
 * a kill does: the store has stopped in order all the same.
 */
export async function writeStopSums(disk: Disk, paths: StorePaths): Promise<void> {
  const making = `${paths.projectionsSums}-making`
  try {
    const sums = await sumsOf(disk, paths)
    if (sums === undefined) return
    disk.remove(making)
    const file = disk.create(making)
    try {
      file.writeAt(Buffer.from(JSON.stringify(sums)), 0)
      file.sync()
    } finally {
      file.close()
    }
    disk.rename(making, paths.projectionsSums)
    disk.syncDirectory(paths.projections)
  } catch {
    removeQuietly(disk, making)
  }
}

function removeQuietly(disk: Disk, path: string): void {
  try {
    disk.remove(path)
  } catch {
    // The next clean stop removes it.
  }
}

/**
 * Why the file is not as a clean stop left it, or cannot be read; undefined when it is as it was left, or when that stop left no
 * sums.
 */
export async function stopFault(disk: Disk, paths: StorePaths): Promise<string | undefined> {
  if (!disk.exists(paths.projectionsSums)) return undefined
  try {
    const now = await sumsOf(disk, paths)
    if (now !== undefined && readText(disk, paths.projectionsSums) === JSON.stringify(now)) return undefined
  } catch (error) {
    // A disk that cannot read it is as good as damage.
    if ((error as NodeJS.ErrnoException).code !== 'EIO') throw error
    return `their file, or its sums, cannot be read: ${(error as Error).message}`
  }
  return 'their file changed since the store stopped: it is damaged, or was written to'
}

/**
 * Undefined without the file, and for a file that is too long. After each block the thread does what else it has to do: a signal, or
 * an answer that the start is under way.
 */
async function sumsOf(disk: Disk, paths: StorePaths): Promise<StopSums | undefined> {
  const path = join(paths.projections, DATA_FILE)
  if (!disk.exists(path)) return undefined
  const file = disk.openToRead(path)
  try {
    const bytes = file.size()
    if (bytes > BYTES_MAXIMUM) return undefined
    const block = Buffer.allocUnsafe(Math.min(bytes, BLOCK_BYTES))
    const sums: number[] = []
    for (let at = 0; at < bytes; at += block.length) {
      if (at > 0) await setImmediate()
      sums.push(crc32c(block.subarray(0, file.readAt(block, at, Math.min(block.length, bytes - at)))))
    }
    return { bytes, sums }
  } finally {
    file.close()
  }
}

function readText(disk: Disk, path: string): string {
  const file = disk.openToRead(path)
  try {
    const text = Buffer.alloc(file.size())
    return text.toString('utf8', 0, file.readAt(text, 0, text.length))
  } finally {
    file.close()
  }
}
