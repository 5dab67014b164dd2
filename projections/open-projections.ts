import type { Disk } from '../engine/disk/disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import { ProjectionEnvironment, type Table } from './lmdb-environment.ts'
import { ProjectionStateStore } from './state-store.ts'
import { openTables } from './table-list.ts'

/** Projections opened for writing, and whether they must be filled from the start of the journal. */
export interface OpenedProjections {
  readonly environment: ProjectionEnvironment
  readonly state: ProjectionStateStore
  /** Why what was there is not used, if so; for the log. */
  readonly discarded: string | undefined
}

/**
 * Opens the projections, or throws them away when they cannot be trusted: after a power cut, when LMDB cannot read
 * them, when their layout is another one. They are made again from the journal (J14).
 */
export async function openProjections(
  disk: Disk,
  paths: StorePaths,
  distrusted: string | undefined,
): Promise<OpenedProjections> {
  const opening = paths.projectionsOpening
  // A rebuild or a check that could not end in order may have left as much as the projections themselves take.
  for (const aside of [paths.projectionsRebuild, paths.projectionsCheck]) if (disk.exists(aside)) disk.removeTree(aside)
  let discarded = disk.exists(paths.projections) ? distrusted : undefined
  if (disk.exists(opening)) discarded ??= 'opening them ended the process'
  if (discarded === undefined) {
    const opened = await tryOpen(disk, paths, opening)
    if (typeof opened !== 'string') return opened
    discarded = opened
  }
  disk.removeTree(paths.projections)
  const opened = await tryOpen(disk, paths, opening)
  if (typeof opened === 'string') throw new Error(`new projections cannot be opened: ${opened}`)
  return { ...opened, discarded }
}

/**
 * Opens what is there. LMDB proves nothing and may end the process on a file that is damaged; the file `opening` stands
 * while it looks at it, so that the next start does not do the same again.
 */
async function tryOpen(disk: Disk, paths: StorePaths, opening: string): Promise<OpenedProjections | string> {
  disk.remove(opening)
  disk.create(opening).close()
  const opened = await openAndLook(disk, paths)
  disk.remove(opening)
  return opened
}

/** Reads the way to the first row: damage to the pages on it is met here and not under a request. */
function firstKey(table: Table): Buffer | undefined {
  return Array.from(table.keys({ limit: 1 }))[0]
}

async function openAndLook(disk: Disk, paths: StorePaths): Promise<OpenedProjections | string> {
  const isNew = !disk.exists(paths.projections)
  disk.makeDirectory(paths.projections)
  let environment: ProjectionEnvironment | undefined
  try {
    environment = ProjectionEnvironment.open(paths.projections, { readOnly: false })
    for (const table of Object.values({ ...openTables(environment) })) firstKey(table)
  } catch (error) {
    await environment?.close()
    return `LMDB cannot read them: ${error instanceof Error ? error.message : String(error)}`
  }
  const state = new ProjectionStateStore(environment)
  if (state.isOfAnotherVersion) {
    await environment.close()
    return 'their layout is of another version'
  }
  if (!isNew && state.applied() === undefined) {
    await environment.close()
    return 'an earlier replay was cut off'
  }
  return { environment, state, discarded: undefined }
}
