import type { Disk } from '../engine/disk/disk.ts'
import { RowDamagedError } from '../engine/errors.ts'
import { AccessSeal } from './apply/access-seal.ts'
import { finishLot } from './apply/kept-lot.ts'
import { ProjectionStateStore } from './apply/state-store.ts'
import { openNoting } from './damaged-note.ts'
import { isOfHost } from './full-disk.ts'
import { ProjectionEnvironment } from './lmdb-environment.ts'
import { tableWithoutRows } from './row-walk.ts'
import { layoutOf, ProjectionsNewerError, refuseNewer, SCHEMA_VERSION } from './tables/applied.ts'
import { TABLES } from './tables/table-list.ts'

/** Projections opened for writing. */
export interface Opening {
  readonly environment: ProjectionEnvironment
  readonly state: ProjectionStateStore
  /** The seal that their rows of access have, which has read them all; undefined when it was not looked at. */
  readonly seal: AccessSeal | undefined
}

/** Projections that cannot be used. */
export interface Fault {
  readonly fault: string
  /** `rows`: some are damaged or missing; `layout`: it is of an earlier program, which can use them. */
  readonly of: 'rows' | 'layout' | 'other'
}

/** A look at projections before they are used. */
export interface Look {
  /** Authenticates rows of access; undefined: they are not examined. */
  readonly rowKey: Uint8Array | undefined
  /** Rows that are read at most. */
  readonly rowsMaximum: number
}

export function otherFault(fault: string): Fault {
  return { fault, of: 'other' }
}

/** Path of the file that exists while LMDB opens the projections in a directory, which may end the process. */
export function openingNoteOf(directory: string): string {
  return `${directory}-opening`
}

/**
 * LMDB checks nothing and may end the process on a damaged file. The file `opening` exists while it reads them, so that
 * the next start does not repeat that.
 */
export async function noting<T>(disk: Disk, directory: string, work: () => Promise<T>): Promise<T> {
  const opening = openingNoteOf(directory)
  disk.remove(opening)
  disk.create(opening).close()
  try {
    return await work()
  } finally {
    disk.remove(opening)
  }
}

/**
 * Opens the projections in a directory, which is made if it is missing.
 * @param look undefined: the rows are used as they are
 * @throws ProjectionsNewerError, and what the host is short of: the rows may be sound, and stay
 */
export function tryOpen(disk: Disk, directory: string, look: Look | undefined): Promise<Opening | Fault> {
  return noting(disk, directory, () => openAndRead(disk, directory, look))
}

async function openAndRead(disk: Disk, directory: string, look: Look | undefined): Promise<Opening | Fault> {
  const isNew = !disk.exists(directory)
  // A look writes nothing to rows of an earlier layout: the program that made them may need them as they are.
  if (!isNew && look !== undefined && (await isOfEarlierLayout(directory))) {
    return { fault: 'their layout is of an earlier version', of: 'layout' }
  }
  disk.makeDirectory(directory)
  let environment: ProjectionEnvironment | undefined
  try {
    environment = openNoting(disk, directory, { readOnly: false })
    if (!isNew && look !== undefined) finishLot(disk, environment)
    const state = new ProjectionStateStore(environment)
    const fault = isNew || look === undefined ? undefined : faultOf(environment, state, look)
    // Rows written by someone else would grant access, or release a lock.
    const seal = isNew || look?.rowKey === undefined ? undefined : new AccessSeal(environment, look.rowKey)
    if (fault === undefined && seal?.holds() !== false) return { environment, state, seal }
    await environment.close()
    return fault ?? otherFault('their rows of access, buckets or locks are not those that this store wrote')
  } catch (error) {
    await environment?.close()
    if (error instanceof ProjectionsNewerError || isOfHost(error)) throw error
    if (error instanceof RowDamagedError) return { fault: 'a row of them is damaged', of: 'rows' }
    return otherFault(`LMDB cannot read them: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** @throws ProjectionsNewerError */
async function isOfEarlierLayout(directory: string): Promise<boolean> {
  let environment: ProjectionEnvironment | undefined
  try {
    environment = ProjectionEnvironment.open(directory, { readOnly: true })
    // Rows of an earlier layout may have no sums.
    const layout = layoutOf(environment.rawTable(TABLES.applied))
    refuseNewer(layout)
    return layout !== undefined && layout < SCHEMA_VERSION
  } catch (error) {
    if (error instanceof ProjectionsNewerError || isOfHost(error)) throw error
    // Whatever it is, the look itself finds it, and has a name for it.
    return false
  } finally {
    await environment?.close()
  }
}

/**
 * Reads rows of each table, so that damage to the pages before them shows here and not in a request.
 * @throws RowDamagedError
 */
function faultOf(
  environment: ProjectionEnvironment,
  state: ProjectionStateStore,
  { rowsMaximum }: Look,
): Fault | undefined {
  if (state.applied() === undefined) return otherFault('an earlier replay was cut off')
  const lacking = tableWithoutRows(environment, rowsMaximum)
  return lacking === undefined ? undefined : { fault: `rows of them are missing: table ${lacking}`, of: 'rows' }
}
