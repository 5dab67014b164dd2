import type { Disk } from '../engine/disk/disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import { AccessSeal } from './access-seal.ts'
import { ProjectionEnvironment } from './lmdb-environment.ts'
import { ProjectionStateStore } from './apply/state-store.ts'
import { refuseNewer, SCHEMA_VERSION } from './tables/applied.ts'
import { openTables } from './tables/table-list.ts'

/** Projections opened for writing. */
export interface OpenedProjections {
  readonly environment: ProjectionEnvironment
  readonly state: ProjectionStateStore
  /** Why the existing projections were thrown away, if they were; for the log. */
  readonly discarded: string | undefined
}

/**
 * Opens the projections. Throws them away when they cannot be trusted: after a power cut, when LMDB cannot read them,
 * when their layout is of an earlier version, when somebody else wrote their rows of access. `rowKey` authenticates those;
 * without it they are not examined. Replay then builds them from the journal (J14).
 * @throws ProjectionsNewerError when their layout is of a later version: they are left as they are
 */
export async function openProjections(
  disk: Disk,
  paths: StorePaths,
  distrusted: string | undefined,
  rowKey?: Uint8Array,
): Promise<OpenedProjections> {
  const opening = paths.projectionsOpening
  // An interrupted rebuild or check may have left as much data as the projections themselves.
  for (const aside of [paths.projectionsRebuild, paths.projectionsCheck]) if (disk.exists(aside)) disk.removeTree(aside)
  let discarded = disk.exists(paths.projections) ? distrusted : undefined
  if (disk.exists(opening)) discarded ??= 'opening them ended the process'
  if (discarded === undefined) {
    const opened = await tryOpen(disk, paths, opening, rowKey)
    if (typeof opened !== 'string') return opened
    discarded = opened
  }
  disk.removeTree(paths.projections)
  const opened = await tryOpen(disk, paths, opening, undefined)
  if (typeof opened === 'string') throw new Error(`new projections cannot be opened: ${opened}`)
  return { ...opened, discarded }
}

/**
 * LMDB checks nothing and may end the process on a damaged file. The file `opening` exists while it reads them, so that
 * the next start does not repeat that.
 */
async function tryOpen(
  disk: Disk,
  paths: StorePaths,
  opening: string,
  rowKey: Uint8Array | undefined,
): Promise<OpenedProjections | string> {
  disk.remove(opening)
  disk.create(opening).close()
  try {
    return await openAndRead(disk, paths, rowKey)
  } finally {
    disk.remove(opening)
  }
}

/** Reads the first key of each table, so that damage to the pages before it shows here and not in a request. */
async function openAndRead(
  disk: Disk,
  paths: StorePaths,
  rowKey: Uint8Array | undefined,
): Promise<OpenedProjections | string> {
  const isNew = !disk.exists(paths.projections)
  disk.makeDirectory(paths.projections)
  let environment: ProjectionEnvironment | undefined
  try {
    environment = ProjectionEnvironment.open(paths.projections, { readOnly: false })
    for (const table of Object.values(openTables(environment))) Array.from(table.keys({ limit: 1 }))
  } catch (error) {
    await environment?.close()
    return `LMDB cannot read them: ${error instanceof Error ? error.message : String(error)}`
  }
  const state = new ProjectionStateStore(environment)
  try {
    refuseNewer(state.schemaVersion)
  } catch (error) {
    await environment.close()
    throw error
  }
  const cutOff = !isNew && state.applied() === undefined ? 'an earlier replay was cut off' : undefined
  const { schemaVersion } = state
  const isEarlier = schemaVersion !== undefined && schemaVersion < SCHEMA_VERSION
  const fault = isEarlier ? 'their layout is of an earlier version' : (cutOff ?? forgery(environment, isNew, rowKey))
  if (fault === undefined) return { environment, state, discarded: undefined }
  await environment.close()
  return fault
}

/** Rows of access that this store did not write let somebody in. */
function forgery(
  environment: ProjectionEnvironment,
  isNew: boolean,
  rowKey: Uint8Array | undefined,
): string | undefined {
  if (isNew || rowKey === undefined || new AccessSeal(environment, rowKey).holds()) return undefined
  return 'their rows of access are not those that this store wrote'
}
