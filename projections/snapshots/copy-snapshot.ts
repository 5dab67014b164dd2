import { hash } from 'node:crypto'
import { join } from 'node:path'
import { type Disk, type DiskFile, DiskFullError } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { DATA_FILE } from '../lmdb-environment.ts'
import {
  BLOCK_BYTES,
  encodeEnd,
  readDescription,
  SnapshotDamagedError,
  type SnapshotDescription,
  snapshotPath,
} from './snapshot-file.ts'
import type { Pace } from './snapshot-pace.ts'

/** How the copies of a snapshot are made. */
export interface CopyOptions {
  readonly pace: Pace
  /** Free space that must be left on the file system of the store. */
  readonly reservedBytes: number
}

/**
 * Writes a snapshot of projections that nobody changes meanwhile. It has its name only when it is whole and synced.
 * @returns bytes of the file
 * @throws DiskFullError when less than the reserve would be left, SnapshotStoppedError, and the disk's errors
 */
export function writeSnapshot(
  disk: Disk,
  paths: StorePaths,
  projections: string,
  about: Omit<SnapshotDescription, 'dataBytes' | 'blocks'>,
  { pace, reservedBytes }: CopyOptions,
): number {
  disk.makeDirectory(paths.snapshots)
  disk.remove(paths.snapshotMaking)
  const target = disk.create(paths.snapshotMaking)
  const source = disk.openToRead(join(projections, DATA_FILE))
  let bytes: number
  try {
    const dataBytes = source.size()
    const blocks: string[] = []
    for (const { block, at } of blocksOf(source, dataBytes)) {
      requireRoom(disk, paths, block.length, reservedBytes)
      blocks.push(hash('sha256', block))
      target.writeAt(block, at)
      // Many small syncs: one of everything would hold up those of the journal.
      target.sync()
      pace.moved(block.length)
    }
    const end = encodeEnd({ ...about, dataBytes, blocks })
    target.writeAt(end, dataBytes)
    target.sync()
    bytes = dataBytes + end.length
  } catch (error) {
    target.close()
    disk.remove(paths.snapshotMaking)
    throw error
  } finally {
    source.close()
  }
  target.close()
  disk.rename(paths.snapshotMaking, snapshotPath(paths, about.position.sequence))
  disk.syncDirectory(paths.snapshots)
  return bytes
}

/**
 * Copies the data of a snapshot into an empty directory, where LMDB can open it, checking every block on the way.
 * @param isDurable whether it is synced
 * @throws SnapshotDamagedError, DiskFullError, SnapshotStoppedError, and the disk's errors
 */
export function copyData(
  disk: Disk,
  paths: StorePaths,
  snapshot: string,
  directory: string,
  { pace, reservedBytes, isDurable }: CopyOptions & { readonly isDurable: boolean },
): void {
  disk.makeDirectory(directory)
  const source = disk.openToRead(snapshot)
  try {
    const { dataBytes, blocks } = readDescription(source)
    const target = disk.create(join(directory, DATA_FILE))
    try {
      for (const { block, at } of blocksOf(source, dataBytes)) {
        if (hash('sha256', block) !== blocks[at / BLOCK_BYTES]) {
          throw new SnapshotDamagedError(`${snapshot}, offset ${at}: the digest of the block is wrong`)
        }
        requireRoom(disk, paths, block.length, reservedBytes)
        target.writeAt(block, at)
        pace.moved(block.length)
      }
      if (isDurable) target.sync()
    } finally {
      target.close()
    }
  } finally {
    source.close()
  }
  if (isDurable) disk.syncDirectory(directory)
}

/** The first `length` bytes of a file, block by block; a block is valid until the next one. */
function* blocksOf(file: DiskFile, length: number): Generator<{ readonly block: Buffer; readonly at: number }> {
  const bytes = Buffer.allocUnsafeSlow(Math.min(BLOCK_BYTES, length))
  for (let at = 0; at < length; at += BLOCK_BYTES) {
    const block = bytes.subarray(0, Math.min(BLOCK_BYTES, length - at))
    if (file.readAt(block, at, block.length) !== block.length) throw new Error(`${file.path} became shorter`)
    yield { block, at }
  }
}

/** @throws DiskFullError */
export function requireRoom(disk: Disk, paths: StorePaths, bytes: number, reservedBytes: number): void {
  const { availableBytes } = disk.space(paths.root)
  if (availableBytes - bytes >= reservedBytes) return
  throw new DiskFullError(`a snapshot needs ${bytes} bytes more than storage.reserved_mib, ${availableBytes} are free`)
}
