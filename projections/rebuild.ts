import type { Disk } from '../engine/disk/disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import { ProjectionEnvironment } from './lmdb-environment.ts'
import { type ReplayProgress, replay } from './replay.ts'

/**
 * Throws the projections away and makes them again from the journal. The caller holds the store's lock. A crash in the
 * middle leaves projections without a position, which the next start throws away.
 * @returns records read
 * @throws JournalDamagedError
 */
export async function rebuildProjections(disk: Disk, paths: StorePaths, progress?: ReplayProgress): Promise<number> {
  disk.removeTree(paths.projections)
  return buildProjections(disk, paths, paths.projections, progress)
}

/** Makes projections in an empty directory, up to the end of the journal. */
export async function buildProjections(
  disk: Disk,
  paths: StorePaths,
  directory: string,
  progress?: ReplayProgress,
  untilSequence?: number,
): Promise<number> {
  disk.makeDirectory(directory)
  const environment = ProjectionEnvironment.open(directory, { readOnly: false })
  try {
    const records = replay(disk, paths, environment, undefined, progress, untilSequence)
    await environment.sync()
    return records
  } finally {
    await environment.close()
  }
}
