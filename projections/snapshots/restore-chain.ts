import { isDiskFull } from '../../engine/disk/disk.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import type { Sequence } from '../../engine/brands.ts'
import { ProjectionEnvironment } from '../lmdb-environment.ts'
import { applyChanges } from './apply-changes.ts'
import type { CopyOptions } from './copy-snapshot.ts'
import { changesFault, copyFault, descriptionOf, moveFault, type RefusedSnapshot } from './restore-snapshot.ts'
import type { Chain, ChangesName } from './snapshot-chain.ts'
import { SnapshotDamagedError, type SnapshotName } from './snapshot-file.ts'
import { StartStoppedError } from '../../engine/errors.ts'
import { WorkStoppedError } from '../steady-pace.ts'
import { getApplied } from '../tables/applied.ts'
import { openTables, TABLES } from '../tables/table-list.ts'

/** Where the projections go, and how. */
interface Target {
  /** In hexadecimal. */
  readonly deploymentId: string
  /** It does not exist, or is empty. */
  readonly directory: string
  /** Whether they are synced. */
  readonly isDurable: boolean
  /** Whether the file of the whole snapshot becomes the projections' file; otherwise it is copied. */
  readonly isMoved: boolean
  /** Runs what opens them: LMDB may end the process. */
  readonly opening: <T>(work: () => Promise<T>) => Promise<T>
}

/** Projections that were made from a chain, or why they could not be. */
export interface RestoredChain {
  /** Undefined: the projections are whole. Otherwise what is in the directory is worthless. */
  readonly fault: string | undefined
  /** Name of the last file that they were made from, or of the file at fault. */
  readonly name: string
  /** Of the last record that their rows hold. */
  readonly sequence: Sequence
  /** Files of changes that could not be used: those after them were not either. */
  readonly refused: readonly RefusedSnapshot[]
}

/**
 * Makes projections from a whole snapshot and the files of changes after it, as far as these are sound: every file is checked before
 * anything is changed.
 * @throws DiskFullError, WorkStoppedError, and what the pace throws: then what is in the directory is worthless
 */
export async function restoreChain(
  disk: Disk,
  paths: StorePaths,
  { whole, changes }: Chain,
  target: Target,
  options: CopyOptions,
): Promise<RestoredChain> {
  const { deploymentId, directory, isDurable, isMoved } = target
  const refused: RefusedSnapshot[] = []
  const sound: ChangesName[] = []
  for (const file of changes) {
    const reason = await changesFault(disk, paths, file, deploymentId)
    if (reason !== undefined) {
      refused.push({ name: file.name, reason })
      break
    }
    sound.push(file)
  }
  const { name, sequence } = sound.at(-1) ?? whole
  const restored = { path: whole.path, sequence: whole.sequence, deploymentId, directory, isDurable }
  const fault = await (isMoved ? moveFault(disk, paths, restored) : copyFault(disk, paths, restored, options))
  if (fault !== undefined) return { fault, name: whole.name, sequence, refused }
  const late = sound.length === 0 ? undefined : await changed(disk, target, whole, sound, options)
  return { fault: late?.reason, name: late?.name ?? name, sequence, refused }
}

/** @returns why the changes could not be applied, and the file at fault */
async function changed(
  disk: Disk,
  { directory, isDurable, opening }: Target,
  whole: SnapshotName,
  files: readonly ChangesName[],
  { pace }: CopyOptions,
): Promise<RefusedSnapshot | undefined> {
  const { name } = files.at(-1) ?? whole
  let environment: ProjectionEnvironment | undefined
  try {
    environment = await opening(() => openedToChange(directory))
    // Rows of another position would get the changes without a word, and then have the position of the last file.
    if (getApplied(environment.table(TABLES.applied))?.position.sequence !== whole.sequence) {
      return { name: whole.name, reason: 'its rows are of another position than its name says' }
    }
    const checked = files.map(({ path }) => ({ path, description: descriptionOf(disk, path) }))
    applyChanges(disk, environment, checked, pace)
    if (isDurable) await environment.sync()
    return undefined
  } catch (error) {
    if (isDiskFull(error) || error instanceof WorkStoppedError || error instanceof StartStoppedError) throw error
    if (error instanceof SnapshotDamagedError) return { name, reason: error.message }
    const what = error instanceof Error ? error.message : String(error)
    return { name, reason: `the changes after it cannot be applied: ${what}` }
  } finally {
    await environment?.close()
  }
}

async function openedToChange(directory: string): Promise<ProjectionEnvironment> {
  const environment = ProjectionEnvironment.open(directory, { readOnly: false })
  try {
    openTables(environment)
    return environment
  } catch (error) {
    await environment.close()
    throw error
  }
}
