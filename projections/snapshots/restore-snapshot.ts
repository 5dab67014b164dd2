import { type Disk, isDiskFull } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { type CopyOptions, copyData } from './copy-snapshot.ts'
import { readDescription, SnapshotDamagedError, type SnapshotDescription } from './snapshot-file.ts'
import { placeFault } from './snapshot-place.ts'

/** A snapshot that was there and was not used. */
export interface RefusedSnapshot {
  /** Of its file. */
  readonly name: string
  readonly reason: string
}

interface RestoreOptions extends CopyOptions {
  /** In hexadecimal. */
  readonly deploymentId: string
  /** Where the projections go; it does not exist, or is empty. */
  readonly directory: string
  /** Whether they are synced. */
  readonly isDurable: boolean
}

/**
 * The description of a snapshot.
 * @throws SnapshotDamagedError, and the disk's errors
 */
export function descriptionOf(disk: Disk, path: string): SnapshotDescription {
  const file = disk.openToRead(path)
  try {
    return readDescription(file)
  } finally {
    file.close()
  }
}

/**
 * Copies the projections out of a snapshot, checking that it continues into the journal and that every block of it is whole.
 * @returns why it cannot be used; then what was copied is worth nothing
 * @throws DiskFullError, SnapshotStoppedError
 */
export function copyFault(
  disk: Disk,
  paths: StorePaths,
  path: string,
  { deploymentId, directory, ...options }: RestoreOptions,
): string | undefined {
  try {
    const fault = placeFault(disk, paths, deploymentId, descriptionOf(disk, path))
    if (fault !== undefined) return fault
    copyData(disk, paths, path, directory, options)
    return undefined
  } catch (error) {
    if (isDiskFull(error)) throw error
    if (error instanceof SnapshotDamagedError) return error.message
    // A disk that cannot read it is as good as damage.
    if ((error as NodeJS.ErrnoException).code === 'EIO') return `it cannot be read: ${(error as Error).message}`
    throw error
  }
}
