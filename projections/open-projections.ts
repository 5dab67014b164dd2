import type { Disk } from '../engine/disk/disk.ts'
import { isDiskFull } from '../engine/disk/disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import { RowDamagedError } from '../engine/errors.ts'
import { AccessSeal } from './access/access-seal.ts'
import { notedDamage, openNoting } from './damaged-note.ts'
import type { ProjectionEnvironment } from './lmdb-environment.ts'
import { ProjectionStateStore } from './apply/state-store.ts'
import { copyFault, moveFault, type RefusedSnapshot } from './snapshots/restore-snapshot.ts'
import { type SnapshotName, usableNames } from './snapshots/snapshot-file.ts'
import { NO_PACE } from './snapshots/snapshot-pace.ts'
import { tableWithoutRows } from './row-walk.ts'
import { stopFault } from './stop-sums.ts'
import { layoutOf, ProjectionsNewerError, refuseNewer, SCHEMA_VERSION } from './tables/applied.ts'
import { TABLES } from './tables/table-list.ts'

/** Projections opened for writing. */
export interface OpenedProjections {
  readonly environment: ProjectionEnvironment
  readonly state: ProjectionStateStore
  /** Why the existing projections were thrown away, if they were; for the log. */
  readonly discarded: string | undefined
  /** File name of the snapshot that they were made from, if they were. */
  readonly snapshot: string | undefined
  readonly refusedSnapshots: readonly RefusedSnapshot[]
}

/** A start's knowledge about the projections before it opens them. */
export interface ProjectionsBefore {
  /** Why they cannot be trusted, if so. */
  readonly distrusted: string | undefined
  /** Whether the mark records a clean stop: then they must survive a power cut at once. */
  readonly wasClean: boolean
  /**
   * Of this deployment, when they are known; `rowKey` authenticates rows of access. Without them rows of access are not
   * examined, and no snapshot is used.
   */
  readonly identity: { readonly rowKey: Uint8Array; readonly deploymentId: string } | undefined
}

/** Of a start: 10 ms. */
const ROWS_READ_MAXIMUM = 20_000

type Opening = Pick<OpenedProjections, 'environment' | 'state'>

/**
 * Opens the projections. Throws them away when they cannot be trusted: after a power cut, when LMDB cannot read them, when a row
 * of them is damaged, when their layout is of an earlier version, when their rows of access are forged. They are then made from the newest
 * snapshot that passes every check, or start empty, and replay brings them up to the journal (J14).
 * @throws ProjectionsNewerError when their layout is of a later version: they are left as they are
 */
export async function openProjections(
  disk: Disk,
  paths: StorePaths,
  before: ProjectionsBefore,
): Promise<OpenedProjections> {
  removeUnfinished(disk, paths)
  const rowKey = before.identity?.rowKey
  const exists = disk.exists(paths.projections)
  const damaged = notedDamage(disk, paths)
  const endedProcess = disk.exists(paths.projectionsOpening)
  let discarded = exists ? before.distrusted : undefined
  if (exists && damaged !== undefined) discarded ??= `a row of them was found damaged: ${damaged}`
  if (exists && before.wasClean) discarded ??= stopFault(disk, paths)
  if (endedProcess) discarded ??= 'opening them ended the process'
  if (exists && discarded === undefined) {
    const opened = await tryOpen(disk, paths, rowKey)
    disk.remove(paths.projectionsSums)
    if (typeof opened !== 'string') return { ...opened, discarded, snapshot: undefined, refusedSnapshots: [] }
    discarded = opened
  }
  disk.removeTree(paths.projections)
  disk.remove(paths.projectionsDamaged)
  const refusedSnapshots: RefusedSnapshot[] = []
  // They may come from a snapshot: a snapshot that ends the process must not do so at every start.
  const restored = endedProcess ? undefined : await openSnapshot(disk, paths, before, refusedSnapshots)
  if (restored !== undefined) return { ...restored, discarded, refusedSnapshots }
  const opened = await tryOpen(disk, paths, undefined)
  if (typeof opened === 'string') throw new Error(`new projections cannot be opened: ${opened}`)
  return { ...opened, discarded, snapshot: undefined, refusedSnapshots }
}

/**
 * Removes the remains of an interrupted rebuild, check, start or snapshot, which may be as large as the projections.
 */
function removeUnfinished(disk: Disk, paths: StorePaths): void {
  const { projectionsRebuild, projectionsCheck, projectionsFollower, projectionsRestore } = paths
  for (const aside of [projectionsRebuild, projectionsCheck, projectionsFollower, projectionsRestore]) {
    if (disk.exists(aside)) disk.removeTree(aside)
  }
  disk.remove(paths.snapshotMaking)
}

/**
 * Makes the projections from the newest snapshot that can be used. The last one is copied, so that the next power cut finds
 * one as well; before that, its file is moved, which takes no longer than to read it.
 */
async function openSnapshot(
  disk: Disk,
  paths: StorePaths,
  before: ProjectionsBefore,
  refused: RefusedSnapshot[],
): Promise<(Opening & { readonly snapshot: string }) | undefined> {
  const { identity } = before
  if (identity === undefined) return undefined
  const snapshots = usableNames(disk, paths)
  for (const snapshot of snapshots) {
    const isLast = snapshot === snapshots.at(-1)
    const opened = await tryRestore(disk, paths, snapshot, isLast, identity, before.wasClean)
    if (typeof opened !== 'string') return { ...opened, snapshot: snapshot.name }
    refused.push({ name: snapshot.name, reason: opened })
    for (const directory of [paths.projectionsRestore, paths.projections]) disk.removeTree(directory)
  }
  return undefined
}

async function tryRestore(
  disk: Disk,
  paths: StorePaths,
  { path, sequence }: SnapshotName,
  isKept: boolean,
  { rowKey, deploymentId }: NonNullable<ProjectionsBefore['identity']>,
  isDurable: boolean,
): Promise<Opening | string> {
  const directory = paths.projectionsRestore
  try {
    const restored = { path, deploymentId, directory, isDurable }
    const fault = await (isKept
      ? copyFault(disk, paths, restored, { pace: NO_PACE, reservedBytes: 0 })
      : moveFault(disk, paths, restored))
    if (fault !== undefined) return fault
  } catch (error) {
    if (!isDiskFull(error)) throw error
    return 'the disk is full'
  }
  // Half of a copy must never have the name that a start trusts after `kill -9`.
  disk.rename(directory, paths.projections)
  if (isDurable) disk.syncDirectory(paths.root)
  const opened = await tryOpen(disk, paths, rowKey)
  if (typeof opened === 'string') return opened
  if (opened.state.applied()?.sequence === sequence) return opened
  await opened.environment.close()
  return 'its rows are of another position than its name says'
}

/**
 * LMDB checks nothing and may end the process on a damaged file. The file `opening` exists while it reads them, so that
 * the next start does not repeat that.
 */
async function tryOpen(disk: Disk, paths: StorePaths, rowKey: Uint8Array | undefined): Promise<Opening | string> {
  const opening = paths.projectionsOpening
  disk.remove(opening)
  disk.create(opening).close()
  try {
    const opened = await openAndRead(disk, paths, rowKey)
    // What they are made again from must not be thrown away for them.
    if (typeof opened === 'string') disk.remove(paths.projectionsDamaged)
    return opened
  } finally {
    disk.remove(opening)
  }
}

/** @throws ProjectionsNewerError */
async function openAndRead(disk: Disk, paths: StorePaths, rowKey: Uint8Array | undefined): Promise<Opening | string> {
  const isNew = !disk.exists(paths.projections)
  disk.makeDirectory(paths.projections)
  let environment: ProjectionEnvironment | undefined
  try {
    environment = openNoting(disk, paths, { readOnly: false })
    const state = new ProjectionStateStore(environment)
    const fault = isNew ? undefined : faultOf(environment, state, rowKey)
    if (fault === undefined) return { environment, state }
    await environment.close()
    return fault
  } catch (error) {
    await environment?.close()
    if (error instanceof ProjectionsNewerError) throw error
    if (error instanceof RowDamagedError) return 'a row of them is damaged'
    return `LMDB cannot read them: ${error instanceof Error ? error.message : String(error)}`
  }
}

/**
 * Reads rows of each table, so that damage to the pages before them shows here and not in a request.
 * @throws ProjectionsNewerError, RowDamagedError
 */
function faultOf(
  environment: ProjectionEnvironment,
  state: ProjectionStateStore,
  rowKey: Uint8Array | undefined,
): string | undefined {
  // Rows of an earlier layout may have no sums.
  const layout = layoutOf(environment.rawTable(TABLES.applied))
  refuseNewer(layout)
  if (layout !== undefined && layout < SCHEMA_VERSION) return 'their layout is of an earlier version'
  if (state.applied() === undefined) return 'an earlier replay was cut off'
  const lacking = tableWithoutRows(environment, ROWS_READ_MAXIMUM)
  return lacking === undefined ? forgery(environment, rowKey) : `rows of them are missing: table ${lacking}`
}

/** Rows written by someone else would grant access, or release a lock. */
function forgery(environment: ProjectionEnvironment, rowKey: Uint8Array | undefined): string | undefined {
  if (rowKey === undefined || new AccessSeal(environment, rowKey).holds()) return undefined
  return 'their rows of access, buckets or locks are not those that this store wrote'
}
