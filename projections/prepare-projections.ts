import type { Sequence } from '../engine/brands.ts'
import { type Disk, isDiskFull } from '../engine/disk/disk.ts'
import { lockStore } from '../engine/disk/store-lock.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import { segmentFirsts } from '../engine/journal/segment.ts'
import { AccessSeal } from './apply/access-seal.ts'
import { asFullDisk } from './full-disk.ts'
import { ProjectionEnvironment } from './lmdb-environment.ts'
import { emptyPrepared, noteMade, preparedRowsOf, resumeNext } from './next-projections.ts'
import { type AccessKeys, accessOf } from './replay/rebuild.ts'
import { AHEAD_FROM_BYTES, replay, type ReplayProgress } from './replay/replay.ts'
import { requireRoom } from './snapshots/copy-snapshot.ts'
import { layoutOf, refuseNewer, SCHEMA_VERSION } from './tables/applied.ts'
import { TABLES } from './tables/table-list.ts'
import { type Opening, tryOpen } from './try-open.ts'

interface Preparing {
  readonly bootId: string
  readonly keys: AccessKeys
  /** Free space that must be left. */
  readonly reservedBytes: number
  readonly progress?: ReplayProgress | undefined
  /** As of `replay`; for specs. */
  readonly rowsMaximum?: number
  readonly aheadFromBytes?: number
}

/** Projections that a start of this program finds ready. */
interface Prepared {
  /** Records read. */
  readonly records: number
  /** The last record that they have; undefined while no segment is sealed. */
  readonly through: Sequence | undefined
}

/** Rows of an earlier start that are read before they are gone on with. */
const ROWS_READ_MAXIMUM = 20_000

/**
 * Makes projections of this program's layout from the sealed segments of the journal, while a server of an earlier layout may run and
 * write. They are in a directory of their own, `projections-prepared`, which the first start of this program takes its new ones from.
 * The next process continues the rows of a process that was killed.
 * @returns undefined when the projections in place have this layout: there is nothing to prepare
 * @throws StoreLockedError while another process prepares, DiskFullError (then nothing is kept), JournalDamagedError,
 *   ProjectionsNewerError
 */
export async function prepareProjections(
  disk: Disk,
  paths: StorePaths,
  preparing: Preparing,
): Promise<Prepared | undefined> {
  disk.makeDirectory(paths.projectionsPrepared)
  const lock = await lockStore(disk, paths.projectionsPrepared)
  try {
    const prepared = await prepare(disk, paths, preparing)
    // A start that did not wait has made its own meanwhile.
    if (!(await isInPlace(disk, paths))) return prepared
    disk.removeTree(preparedRowsOf(paths))
    return undefined
  } catch (thrown) {
    const error = asFullDisk(thrown)
    // What does not fit must not take the space of the server that runs.
    if (isDiskFull(error)) disk.removeTree(preparedRowsOf(paths))
    throw error
  } finally {
    await lock.release()
  }
}

async function isInPlace(disk: Disk, paths: StorePaths): Promise<boolean> {
  return disk.exists(paths.projections) && (await layoutInPlace(paths)) === SCHEMA_VERSION
}

/**
 * The layout of the projections in place, which another process may have open; undefined where they have no position.
 * @throws ProjectionsNewerError
 */
export async function layoutInPlace({ projections }: StorePaths): Promise<number | undefined> {
  const environment = ProjectionEnvironment.open(projections, { readOnly: true })
  try {
    const layout = layoutOf(environment.rawTable(TABLES.applied))
    refuseNewer(layout)
    return layout
  } finally {
    await environment.close()
  }
}

async function prepare(disk: Disk, paths: StorePaths, preparing: Preparing): Promise<Prepared | undefined> {
  if (await isInPlace(disk, paths)) return undefined
  const { bootId } = preparing
  const { environment, state } = await openPrepared(disk, paths, preparing)
  try {
    let records = 0
    for (;;) {
      const before = segmentFirsts(disk, paths).at(-1)
      const applied = state.applied()
      if (before === undefined || (applied?.sequence ?? -1) >= before - 1) break
      records += follow(disk, paths, environment, { ...preparing, before, applied, read: records })
    }
    await environment.sync()
    noteMade(disk, preparedRowsOf(paths), { bootId, isDurable: true })
    return { records, through: state.applied()?.sequence }
  } finally {
    await environment.close()
  }
}

interface Following extends Preparing {
  /** First sequence of the open segment. */
  readonly before: Sequence
  readonly applied: ReturnType<Opening['state']['applied']>
  /** Records that were read before. */
  readonly read: number
}

/** Applies the sealed segments before the open one. */
function follow(disk: Disk, paths: StorePaths, environment: ProjectionEnvironment, following: Following): number {
  const { keys, before, applied, read, reservedBytes, progress, rowsMaximum } = following
  return replay(disk, paths, environment, applied, {
    before,
    rowsMaximum,
    aheadFromBytes: following.aheadFromBytes ?? AHEAD_FROM_BYTES,
    access: accessOf(keys),
    seal: new AccessSeal(environment, keys.accessRows),
    progress: (records) => {
      requireRoom(disk, paths, 0, reservedBytes)
      progress?.(read + records)
    },
  })
}

/** Opens the rows of a process that was killed, or new ones. */
async function openPrepared(disk: Disk, paths: StorePaths, { bootId, keys }: Preparing): Promise<Opening> {
  const rows = preparedRowsOf(paths)
  const resumed = await resumeNext(disk, rows, { bootId, rowKey: keys.accessRows, rowsMaximum: ROWS_READ_MAXIMUM })
  if (resumed !== undefined && !('fault' in resumed)) return resumed
  emptyPrepared(disk, paths)
  const opened = await tryOpen(disk, rows, undefined)
  if ('fault' in opened) throw new Error(`new projections cannot be opened: ${opened.fault}`)
  noteMade(disk, rows, { bootId, isDurable: false })
  return opened
}
