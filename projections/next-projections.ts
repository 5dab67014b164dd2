import { join } from 'node:path'
import type { Disk } from '../engine/disk/disk.ts'
import { lockStore, type StoreLock, StoreLockedError } from '../engine/disk/store-lock.ts'
import { type StorePaths, SUMS_FILE } from '../engine/disk/store-paths.ts'
import { damagedNoteOf } from './damaged-note.ts'
import { DATA_FILE, type ProjectionEnvironment } from './lmdb-environment.ts'
import { SCHEMA_VERSION } from './tables/applied.ts'
import { type Fault, type Opening, openingNoteOf, tryOpen } from './try-open.ts'

/**
 * Projections that a start makes in `projections-next` while the old ones stay in place. They replace the old ones when they have
 * the whole journal. A start that fails, or is killed, leaves the old ones as they were, and the next start continues the new ones.
 *
 * The file `made` in their directory says for how long the new ones can be trusted: nothing is synced while they are made, so
 * they survive the end of the process and not of the kernel.
 */
interface Made {
  readonly layout: number
  readonly bootId: string
  /** Whether all of it is synced. */
  readonly isDurable: boolean
}

const MADE_BYTES_MAXIMUM = 1024

function madeOf(directory: string): string {
  return join(directory, 'made')
}

/** Says, durably, for how long the projections in a directory can be trusted. */
export function noteMade(disk: Disk, directory: string, made: Omit<Made, 'layout'>): void {
  const path = madeOf(directory)
  const making = `${path}-making`
  disk.remove(making)
  const file = disk.create(making)
  try {
    file.writeAt(Buffer.from(JSON.stringify({ layout: SCHEMA_VERSION, ...made })), 0)
    file.sync()
  } finally {
    file.close()
  }
  disk.rename(making, path)
  disk.syncDirectory(directory)
}

function readMade(disk: Disk, directory: string): Made | undefined {
  const path = madeOf(directory)
  if (!disk.exists(path)) return undefined
  const file = disk.openToRead(path)
  try {
    const text = Buffer.alloc(MADE_BYTES_MAXIMUM)
    return JSON.parse(text.toString('utf8', 0, file.readAt(text, 0, text.length))) as Made
  } catch {
    return undefined
  } finally {
    file.close()
  }
}

/** Who may go on with half-made projections. */
interface Resuming {
  readonly bootId: string
  /** Authenticates rows of access. */
  readonly rowKey: Uint8Array
  readonly rowsMaximum: number
}

/**
 * Opens new projections that an earlier process has begun.
 * @returns undefined where that made none or they cannot be trusted, and a fault where they cannot be used
 */
export async function resumeNext(
  disk: Disk,
  directory: string,
  { bootId, ...look }: Resuming,
): Promise<Opening | Fault | undefined> {
  if (!disk.exists(directory)) return undefined
  const made = readMade(disk, directory)
  const unusable = [openingNoteOf(directory), damagedNoteOf(directory)].some((note) => disk.exists(note))
  const isTrusted = made?.isDurable === true || made?.bootId === bootId
  if (made?.layout !== SCHEMA_VERSION || unusable || !isTrusted) return undefined
  const opened = await tryOpen(disk, directory, look)
  // Of projections that were put back: they are written to from here on.
  disk.remove(join(directory, SUMS_FILE))
  if (!('fault' in opened)) noteMade(disk, directory, { bootId, isDurable: false })
  return opened
}

/** Removes new projections that nothing needs, unless a newer program made them. */
export function removeOldNext(disk: Disk, paths: StorePaths): void {
  const { projectionsNext: directory } = paths
  if (!disk.exists(directory)) return
  const layout = readMade(disk, directory)?.layout
  if (layout === undefined || layout <= SCHEMA_VERSION) removeNext(disk, paths)
}

/** Removes the new projections, with the notes about them: these would keep a start from others of that name. */
function removeNext(disk: Disk, { projectionsNext: directory }: StorePaths): void {
  disk.removeTree(directory)
  for (const noteOf of [openingNoteOf, damagedNoteOf]) disk.remove(noteOf(directory))
}

/** In the directory of prepared projections: sockets of the process that prepares them. */
const LOCK = 'lock'

/** Where prepared projections are: their parent directory has the lock of the process that prepares them. */
export function preparedRowsOf({ projectionsPrepared }: StorePaths): string {
  return join(projectionsPrepared, 'rows')
}

/**
 * Moves prepared projections (`prepare-projections.ts`) to where a start makes its new ones.
 * @returns false where there are none of this layout, or a process is at work on them
 */
export async function takePrepared(disk: Disk, paths: StorePaths): Promise<boolean> {
  const rows = preparedRowsOf(paths)
  const isUsable = ![openingNoteOf(rows), damagedNoteOf(rows)].some((note) => disk.exists(note))
  if (!disk.exists(rows) || !isUsable || readMade(disk, rows)?.layout !== SCHEMA_VERSION) return false
  const lock = await lockOf(disk, paths)
  if (lock === undefined) return false
  try {
    removeNext(disk, paths)
    disk.rename(rows, paths.projectionsNext)
    disk.syncDirectory(paths.root)
    emptyPrepared(disk, paths)
  } finally {
    await lock.release()
  }
  removeEmptyPrepared(disk, paths)
  return true
}

/** Removes prepared projections that nothing needs, unless a newer program made them or a process is at work on them. */
export async function removeOldPrepared(disk: Disk, paths: StorePaths): Promise<void> {
  if (!disk.exists(paths.projectionsPrepared)) return
  const layout = readMade(disk, preparedRowsOf(paths))?.layout
  if (layout !== undefined && layout > SCHEMA_VERSION) return
  const lock = await lockOf(disk, paths)
  if (lock === undefined) return
  try {
    emptyPrepared(disk, paths)
  } finally {
    await lock.release()
  }
  removeEmptyPrepared(disk, paths)
}

/** Removes all but the lock, which the caller holds: without it another process may have begun to prepare. */
export function emptyPrepared(disk: Disk, { projectionsPrepared: directory }: StorePaths): void {
  for (const name of disk.list(directory)) if (name !== LOCK) disk.removeTree(join(directory, name))
}

/** Removes the directory, unless another process has begun to prepare there. */
function removeEmptyPrepared(disk: Disk, { projectionsPrepared: directory }: StorePaths): void {
  const isEmpty = disk.list(directory).every((name) => name === LOCK) && disk.list(join(directory, LOCK)).length === 0
  if (isEmpty) disk.removeTree(directory)
}

async function lockOf(disk: Disk, { projectionsPrepared }: StorePaths): Promise<StoreLock | undefined> {
  try {
    return await lockStore(disk, projectionsPrepared)
  } catch (error) {
    if (error instanceof StoreLockedError) return undefined
    throw error
  }
}

/** Puts back what a switch that was killed in the middle has taken away. */
export function finishSwitch(disk: Disk, { projections, projectionsReplaced }: StorePaths): void {
  if (disk.exists(projections) || !disk.exists(projectionsReplaced)) return
  disk.rename(projectionsReplaced, projections)
}

/**
 * Closes the new projections, puts them in the place of the old ones, and opens them there.
 * @param keepsReplaced the old ones stay aside until the server accepts requests; otherwise they are removed
 * @param isDurable whether the mark of the journal says that the projections are synced
 */
export async function takePlace(
  disk: Disk,
  paths: StorePaths,
  environment: ProjectionEnvironment,
  { keepsReplaced, isDurable }: { readonly keepsReplaced: boolean; readonly isDurable: boolean },
): Promise<Opening> {
  if (isDurable) await environment.sync()
  await environment.close()
  if (keepsReplaced) {
    disk.removeTree(paths.projectionsReplaced)
    disk.rename(paths.projections, paths.projectionsReplaced)
  } else disk.removeTree(paths.projections)
  disk.rename(paths.projectionsNext, paths.projections)
  // They are about the rows that were replaced: the next start would throw the new ones away.
  for (const note of [paths.projectionsDamaged, paths.projectionsOpening]) disk.remove(note)
  disk.syncDirectory(paths.root)
  const opened = await tryOpen(disk, paths.projections, undefined)
  if ('fault' in opened) throw new Error(`new projections cannot be opened: ${opened.fault}`)
  return opened
}

/**
 * After a start that failed behind the switch: puts the projections of the earlier layout back, so that the program that made them
 * runs on, and keeps the new ones for the next start. Nothing has either of them open.
 */
export function putBack(disk: Disk, paths: StorePaths): void {
  const { projections, projectionsReplaced, projectionsNext, projectionsDamaged } = paths
  if (!disk.exists(projectionsReplaced)) return
  disk.removeTree(projectionsNext)
  if (disk.exists(projectionsDamaged)) {
    disk.removeTree(projections)
    disk.remove(projectionsDamaged)
  } else disk.rename(projections, projectionsNext)
  // The mark may say of these that they are synced.
  const file = disk.openToWrite(join(projectionsReplaced, DATA_FILE))
  try {
    file.sync()
  } finally {
    file.close()
  }
  disk.rename(projectionsReplaced, projections)
  disk.syncDirectory(paths.root)
}

/** Removes the projections that were replaced: the server accepts requests. A large file takes a while, so not in this thread. */
export async function dropReplaced(disk: Disk, { projectionsReplaced: directory }: StorePaths): Promise<void> {
  if (!disk.exists(directory)) return
  await disk.removeAsync(join(directory, DATA_FILE))
  disk.removeTree(directory)
}
