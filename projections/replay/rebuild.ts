import type { Sequence } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { ProjectionEnvironment } from '../lmdb-environment.ts'
import { type ReplayProgress, replay } from './replay.ts'

/**
 * Rebuilds the projections from the journal and replaces the existing ones. The caller holds the store's lock. They are
 * built in another directory and synced before they get their name, so neither a crash nor damage in the journal leaves
 * half of them in place.
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

/** Builds projections in an empty directory, up to `until` or the end of the journal. */
export async function buildProjections(
  disk: Disk,
  paths: StorePaths,
  directory: string,
  progress?: ReplayProgress,
  until?: Sequence | 'none',
): Promise<number> {
  disk.makeDirectory(directory)
  const environment = ProjectionEnvironment.open(directory, { readOnly: false })
  try {
    const records = replay(disk, paths, environment, undefined, { progress, until })
    await environment.sync()
    return records
  } finally {
    await environment.close()
  }
}
