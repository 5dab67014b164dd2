import { type Disk, isDiskFull } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { type CopyOptions, copyData, moveData } from './copy-snapshot.ts'
import { readDescription, SnapshotDamagedError, type SnapshotDescription } from './snapshot-file.ts'
import { placeFault } from './snapshot-place.ts'

/** A snapshot that was there and was not used. */
export interface RefusedSnapshot {
  /** Of its file. */
  readonly name: string
  readonly reason: string
}

/** Where the projections come from and go to. */
interface Restored {
  /** Path of the snapshot. */
  readonly path: string
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
 * Copies the projections out of a snapshot, checking that it continues into the journal and that every block of it is
 * whole.
 * @returns why it cannot be used; then the copy is worthless
 * @throws DiskFullError, SnapshotStoppedError
 */
export function copyFault(
  disk: Disk,
  paths: StorePaths,
  restored: Restored,
  options: CopyOptions,
): Promise<string | undefined> {
  const { path, directory, isDurable } = restored
  return faultOf(disk, paths, restored, () => copyData(disk, paths, path, directory, { ...options, isDurable }))
}

/**
 * The same without a copy: the snapshot's file becomes the projections' file. A snapshot that cannot be used stays
 * where it is.
 * @returns why it cannot be used
 */
export function moveFault(disk: Disk, paths: StorePaths, restored: Restored): Promise<string | undefined> {
  const { path, directory, isDurable } = restored
  return faultOf(disk, paths, restored, () => moveData(disk, paths, path, directory, isDurable))
}

async function faultOf(
  disk: Disk,
  paths: StorePaths,
  { path, deploymentId }: Restored,
  restore: () => Promise<void>,
): Promise<string | undefined> {
  try {
    const fault = placeFault(disk, paths, deploymentId, descriptionOf(disk, path))
    if (fault === undefined) await restore()
    return fault
  } catch (error) {
    if (isDiskFull(error)) throw error
    if (error instanceof SnapshotDamagedError) return error.message
    // A disk that cannot read it is as good as damage.
    if ((error as NodeJS.ErrnoException).code === 'EIO') return `it cannot be read: ${(error as Error).message}`
    throw error
  }
}
