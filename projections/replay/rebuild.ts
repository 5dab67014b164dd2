import type { Sequence } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { AccessAuthentication } from '../../engine/access/access-authentication.ts'
import type { StoreKeys } from '../../engine/keys/store-keys.ts'
import { AccessSeal } from '../apply/access-seal.ts'
import { ProjectionEnvironment } from '../lmdb-environment.ts'
import type { Recounted } from '../apply/recount.ts'
import { getApplied } from '../tables/applied.ts'
import { TABLES } from '../tables/table-list.ts'
import { buildTrees } from '../checkpoints/build-trees.ts'
import { TreeFiles, treesIn } from '../checkpoints/tree-files.ts'
import { type ReplayProgress, replay } from './replay.ts'

/**
 * Rebuilds the projections from the journal and replaces the existing ones. The caller holds the store's lock. They are
 * built in another directory and synced before they get their name, so neither a crash nor damage in the journal leaves
 * half of them in place. Existing trees are made again.
 * @param recounted called with counters that were wrong in the end, and were counted again
 * @param keys without them changes of access are not checked, and the next start builds the projections again
 * @returns records read
 * @throws JournalDamagedError
 */
export async function rebuildProjections(
  disk: Disk,
  paths: StorePaths,
  progress?: ReplayProgress,
  keys?: AccessKeys,
  recounted?: (found: Recounted) => void,
): Promise<number> {
  const aside = paths.projectionsRebuild
  disk.removeTree(aside)
  try {
    const records = await buildProjections(disk, paths, aside, { progress, keys, recounted })
    if (TreeFiles.exist(disk, treesIn(paths.projections))) await buildTreesOf(disk, paths, aside)
    disk.removeTree(paths.projections)
    disk.rename(aside, paths.projections)
    // They are about the rows that were replaced: the next start would throw the new ones away.
    for (const note of [paths.projectionsDamaged, paths.projectionsOpening]) disk.remove(note)
    disk.syncDirectory(paths.root)
    return records
  } finally {
    disk.removeTree(aside)
  }
}

/** Makes the trees of projections that were just built, up to where they come. */
export async function buildTreesOf(disk: Disk, paths: StorePaths, directory: string): Promise<void> {
  const environment = ProjectionEnvironment.open(directory, { readOnly: true })
  try {
    const applied = getApplied(environment.table(TABLES.applied))
    if (applied !== undefined) buildTrees(disk, paths, directory, applied.position)
  } finally {
    await environment.close()
  }
}

/** The keys that changes and rows of access are authenticated with. */
export type AccessKeys = Pick<StoreKeys, 'accessChanges' | 'accessRows' | 'earlier'>

/** Checks changes of access with the keys of the store. */
export function accessOf(keys: AccessKeys): AccessAuthentication {
  return new AccessAuthentication(keys)
}

interface BuildOptions {
  readonly progress?: ReplayProgress | undefined
  readonly until?: Sequence | 'none' | undefined
  readonly keys?: AccessKeys | undefined
  readonly recounted?: ((found: Recounted) => void) | undefined
}

/** Builds projections in an empty directory, up to `until` or the end of the journal. */
export async function buildProjections(
  disk: Disk,
  paths: StorePaths,
  directory: string,
  { progress, until, keys, recounted }: BuildOptions = {},
): Promise<number> {
  disk.makeDirectory(directory)
  const environment = ProjectionEnvironment.open(directory, { readOnly: false })
  try {
    const records = replay(disk, paths, environment, undefined, {
      progress,
      until,
      recounted,
      access: keys && accessOf(keys),
    })
    if (keys !== undefined) environment.write(() => new AccessSeal(environment, keys.accessRows).sealAll())
    await environment.sync()
    return records
  } finally {
    await environment.close()
  }
}
