import type { Disk } from '../engine/disk/disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import { ProjectionEnvironment } from './lmdb-environment.ts'
import { type ReplayProgress, replay } from './replay.ts'

/**
 * Makes the projections again from the journal and puts them in the place of those that are there. The caller holds the
 * store's lock. They are made aside and are on the medium before they get their name: neither a crash nor damage that is
 * found in the journal on the way leaves anything half made in their place.
 * @returns records read
 * @throws JournalDamagedError
 */
export async function rebuildProjections(disk: Disk, paths: StorePaths, progress?: ReplayProgress): Promise<number> {
  const aside = paths.projectionsRebuild
  disk.removeTree(aside)
  try {
    const records = await buildProjections(disk, paths, aside, progress)
    disk.removeTree(paths.projections)
    disk.rename(aside, paths.projections)
    disk.syncDirectory(paths.root)
    return records
  } finally {
    disk.removeTree(aside)
  }
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
    const records = replay(disk, paths, environment, undefined, { progress, untilSequence })
    await environment.sync()
    return records
  } finally {
    await environment.close()
  }
}
