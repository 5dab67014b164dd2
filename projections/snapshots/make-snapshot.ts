import { basename } from 'node:path'
import { type Milliseconds, previous, type Sequence } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { RowDamagedError } from '../../engine/errors.ts'
import { JournalDamagedError } from '../../engine/journal/journal-errors.ts'
import type { AppliedPosition } from '../../engine/journal/positions.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import { AccessAuthentication } from '../../engine/access/access-authentication.ts'
import { AccessSeal } from '../apply/access-seal.ts'
import { ProjectionEnvironment } from '../lmdb-environment.ts'
import type { AccessKeys } from '../replay/rebuild.ts'
import { replay } from '../replay/replay.ts'
import { RowWalk } from '../row-walk.ts'
import { getApplied, SCHEMA_VERSION } from '../tables/applied.ts'
import { TABLES } from '../tables/table-list.ts'
import { requireRoom, writeSnapshot } from './copy-snapshot.ts'
import { ChangesWriter, type KeptChanges } from './changes-writer.ts'
import { restoreChain } from './restore-chain.ts'
import type { RefusedSnapshot } from './restore-snapshot.ts'
import { changesBytes, changesNames, chains, removeSuperseded } from './snapshot-chain.ts'
import { type SnapshotDescription, snapshotNames, snapshotPath } from './snapshot-file.ts'
import type { Pace } from '../steady-pace.ts'

/** Rows of the follower that are read at once. */
const ROWS_WALKED = 5000
/** Rows held back by the follower: fewer than at a start, so that each burst of writes is short. */
const ROWS_MAXIMUM = 20_000
/** Files of changes after a whole snapshot. */
const CHANGES_MAXIMUM = 512
/** Bytes of changes for each byte of the newest whole snapshot: so the files take at most three times the bytes of the changes. */
export const CHANGES_SHARE = 0.5

/** Inputs for making a snapshot. Can be sent to another thread, except for the disk and the pace. */
export interface SnapshotRequest {
  /** In hexadecimal. */
  readonly deploymentId: string
  readonly keys: AccessKeys
  /** Whether the follower is as the last snapshot that this process made has left it. */
  readonly followerIsWhole: boolean
  /** Free space that must be left. */
  readonly reservedBytes: number
  /** File names of snapshots that a start refused: they are replaced although nothing newer is sealed. */
  readonly refused: readonly string[]
  /** Whole snapshots that are kept, a new one among them: 1 or 2. */
  readonly kept: number
  /** Bytes of changes for each byte of the newest whole snapshot, from which on another whole one is made. */
  readonly changesShare: number
  readonly createdMilliseconds: Milliseconds
}

/** The snapshot that was made. */
export interface MadeSnapshot {
  readonly sequence: Sequence
  /** Written to files of snapshots. */
  readonly bytes: number
  /** Whether all rows were written, and not only those that had changed. */
  readonly isWhole: boolean
  /** Records replayed for it. */
  readonly records: number
  /** Snapshots that were there and could not be used; they are removed. */
  readonly refused: readonly RefusedSnapshot[]
}

/**
 * Makes a snapshot of the state after all sealed segments, and removes what it supersedes. It is a file of the rows that changed
 * since the last one, and now and then a whole one.
 *
 * The live tables are not touched: a copy of them would need a read transaction as long as the copy takes, and LMDB
 * cannot use a page again meanwhile. Other projections follow the journal instead, and are copied while they do not
 * change.
 * @returns undefined when there is nothing newer than the last snapshot
 * @throws JournalDamagedError, DiskFullError, WorkStoppedError, and the disk's errors
 */
export async function makeSnapshot(
  disk: Disk,
  paths: StorePaths,
  request: SnapshotRequest,
  pace: Pace,
): Promise<MadeSnapshot | undefined> {
  const before = segmentFirsts(disk, paths).at(-1) ?? 0
  const { refused: spoilt } = request
  // In place of what was refused a whole one is made.
  const isThere = chains(disk, paths, spoilt).some(({ whole, sequence }) => {
    return (spoilt.length > 0 ? whole.sequence : sequence) === before - 1
  })
  if (before === 0 || isThere) return undefined
  const refused: RefusedSnapshot[] = []
  const followed = await wholeFollower(disk, paths, request, pace, before as Sequence, refused)
  const { records, position, written, isWhole } = followed
  const copied = isWhole
    ? writeSnapshot(disk, paths, paths.projectionsFollower, aboutOf(request, position), { ...request, pace })
    : 0
  const { sequence } = position
  const made = [written?.path, isWhole ? snapshotPath(paths, sequence) : undefined]
  removeUnusable(disk, paths, sequence, new Set(refused.map(({ name }) => name)), made)
  removeSuperseded(disk, paths, request.kept)
  return { sequence, bytes: (written?.bytes ?? 0) + copied, isWhole, records, refused }
}

function aboutOf(
  { deploymentId, createdMilliseconds }: SnapshotRequest,
  position: AppliedPosition,
): Pick<SnapshotDescription, 'deploymentId' | 'createdMilliseconds' | 'position'> {
  return { deploymentId, position, createdMilliseconds }
}

interface Followed {
  readonly records: number
  readonly position: AppliedPosition
  /** The file of changes that was written, if one was. */
  readonly written: KeptChanges | undefined
  /** Whether a whole snapshot must be written as well: then every row was read. */
  readonly isWhole: boolean
}

/**
 * Brings a follower up to `before`: the existing follower, or a new follower from the newest files that are sound, or from the
 * journal alone. Writes what changes on the way.
 */
async function wholeFollower(
  disk: Disk,
  paths: StorePaths,
  request: SnapshotRequest,
  pace: Pace,
  before: Sequence,
  refused: RefusedSnapshot[],
): Promise<Followed> {
  const { deploymentId, reservedBytes, followerIsWhole } = request
  const directory = paths.projectionsFollower
  const tried = () => follow(disk, paths, request, pace, before, refused).catch(damageOf)
  if (followerIsWhole) {
    const followed = await tried()
    if (typeof followed !== 'string') return followed
    refused.push({ name: basename(directory), reason: followed })
  }
  for (const chain of chains(disk, paths)) {
    disk.removeTree(directory)
    const target = { deploymentId, directory, isDurable: false, isMoved: false, opening: unnoted }
    const restored = await restoreChain(disk, paths, chain, target, { pace, reservedBytes })
    refused.push(...restored.refused.filter(({ name }) => !refused.some((known) => known.name === name)))
    const followed = restored.fault ?? (await tried())
    if (typeof followed !== 'string') return followed
    const { name, path } = chain.whole
    refused.push({ name: restored.fault === undefined ? name : restored.name, reason: followed })
    // Its digests are right, so a start would use it.
    if (restored.fault === undefined) disk.remove(path)
  }
  disk.removeTree(directory)
  disk.makeDirectory(directory)
  return follow(disk, paths, request, pace, before, refused)
}

/** No note is left: nothing but a start looks for one. */
function unnoted<T>(work: () => Promise<T>): Promise<T> {
  return work()
}

/** @throws what is not the damage of a row */
function damageOf(error: unknown): string {
  if (error instanceof RowDamagedError) return `a row of it is damaged: table ${error.table}, key ${error.key}`
  throw error
}

/**
 * Applies what the follower lacks of the sealed segments, which all begin before `before`, and writes the rows that change to a
 * file of changes, if its position is the end of a snapshot. Every row is read before a whole snapshot, which has rows that nothing has read since.
 * @throws RowDamagedError
 */
async function follow(
  disk: Disk,
  paths: StorePaths,
  request: SnapshotRequest,
  pace: Pace,
  before: Sequence,
  refused: readonly RefusedSnapshot[],
): Promise<Followed> {
  const { reservedBytes } = request
  const environment = ProjectionEnvironment.open(paths.projectionsFollower, { readOnly: false })
  let writer: ChangesWriter | undefined
  try {
    const applied = getApplied(environment.table(TABLES.applied))?.position
    const spoilt = [...request.refused, ...refused.map(({ name }) => name)]
    const goesOn = chains(disk, paths, spoilt).some(({ sequence }) => sequence === applied?.sequence)
    writer =
      goesOn && applied?.sequence !== previous(before)
        ? new ChangesWriter(disk, paths, { pace, reservedBytes })
        : undefined
    let isRecounted = false
    const records = replay(disk, paths, environment, applied, {
      before,
      rowsMaximum: ROWS_MAXIMUM,
      access: new AccessAuthentication(request.keys),
      lot: (held) => writer?.add(held),
      recounted: () => {
        isRecounted = true
      },
      progress: () => {
        requireRoom(disk, paths, 0, reservedBytes)
        pace.worked()
      },
    })
    const position = getApplied(environment.table(TABLES.applied))?.position
    if (position?.sequence !== previous(before)) {
      throw new JournalDamagedError(`replay ended at sequence ${position?.sequence}, before segment ${before}`)
    }
    environment.write(() => new AccessSeal(environment, request.keys.accessRows).sealAll())
    environment.refresh()
    writer?.addSeal(environment)
    const added = writer?.finish()
    // Counters that were counted again are not among the changes.
    const isWhole = isRecounted || added === undefined || wholeIsDue(disk, paths, request, spoilt, added)
    if (isWhole) readRows(environment, pace)
    const isOfUse = writer !== undefined && applied !== undefined && !isRecounted && !(isWhole && request.kept === 1)
    const written = isOfUse ? writer?.keep(applied.sequence, aboutOf(request, position)) : undefined
    if (written !== undefined) writer = undefined
    return { records, position, written, isWhole }
  } finally {
    writer?.abandon()
    await environment.close()
  }
}

/** @throws RowDamagedError, WorkStoppedError */
function readRows(environment: ProjectionEnvironment, pace: Pace): void {
  const walk = new RowWalk(environment)
  while (walk.next(ROWS_WALKED)) pace.worked()
}

/**
 * Whether a whole snapshot is made in addition to the changes: so few are kept, something was damaged, or the changes after the newest have reached
 * their share of it, so that what a start reads, and what is written, stay in proportion.
 * @param spoilt names of files that are not used
 * @param added bytes of the changes that are about to be kept
 */
export function wholeIsDue(
  disk: Disk,
  paths: StorePaths,
  { kept, changesShare }: Pick<SnapshotRequest, 'kept' | 'changesShare'>,
  spoilt: readonly string[],
  added: number,
): boolean {
  const sound = chains(disk, paths, spoilt)
  const [newest] = sound
  if (newest === undefined || sound.length < kept) return true
  if (spoilt.length > 0 || newest.changes.length >= CHANGES_MAXIMUM) return true
  const bytes = changesBytes(disk, newest) + added
  return bytes >= changesShare * disk.sizeOf(newest.whole.path)
}

/** Removes files that are spoilt, unless new ones have their names, of positions ahead of the journal, or of another version of the tables. */
function removeUnusable(
  disk: Disk,
  paths: StorePaths,
  newest: Sequence,
  spoilt: ReadonlySet<string>,
  made: readonly (string | undefined)[],
): void {
  const gone = [...snapshotNames(disk, paths), ...changesNames(disk, paths)].filter(
    ({ name, path, version, sequence }) =>
      version !== SCHEMA_VERSION || sequence > newest || (spoilt.has(name) && !made.includes(path)),
  )
  for (const { path } of gone) disk.remove(path)
  if (gone.length > 0) disk.syncDirectory(paths.snapshots)
}
