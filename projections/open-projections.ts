import type { Disk } from '../engine/disk/disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import { ProjectionEnvironment } from './lmdb-environment.ts'
import { ProjectionStateStore } from './state-store.ts'

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
  let discarded = disk.exists(paths.projections) ? distrusted : undefined
  if (discarded === undefined) {
    const opened = await tryOpen(disk, paths)
    if (typeof opened !== 'string') return opened
    discarded = opened
  }
  disk.removeTree(paths.projections)
  const opened = await tryOpen(disk, paths)
  if (typeof opened === 'string') throw new Error(`new projections cannot be opened: ${opened}`)
  return { ...opened, discarded }
}

async function tryOpen(disk: Disk, paths: StorePaths): Promise<OpenedProjections | string> {
  const isNew = !disk.exists(paths.projections)
  disk.makeDirectory(paths.projections)
  let environment: ProjectionEnvironment
  try {
    environment = ProjectionEnvironment.open(paths.projections, { readOnly: false })
  } catch (error) {
    return `LMDB cannot open them: ${error instanceof Error ? error.message : String(error)}`
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
