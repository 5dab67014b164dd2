import { type Milliseconds, previous, type Sequence } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { JournalDamagedError } from '../../engine/journal/journal-errors.ts'
import type { AppliedPosition } from '../../engine/journal/positions.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import { AccessAuthentication } from '../../engine/access/access-authentication.ts'
import { AccessSeal } from '../access/access-seal.ts'
import { ProjectionEnvironment } from '../lmdb-environment.ts'
import type { AccessKeys } from '../replay/rebuild.ts'
import { replay } from '../replay/replay.ts'
import { getApplied, SCHEMA_VERSION } from '../tables/applied.ts'
import { TABLES } from '../tables/table-list.ts'
import { requireRoom, writeSnapshot } from './copy-snapshot.ts'
import { copyFault, type RefusedSnapshot } from './restore-snapshot.ts'
import { snapshotNames, usableNames } from './snapshot-file.ts'
import type { Pace } from './snapshot-pace.ts'

/** Rows held back by the follower: fewer than at a start, so that each burst of writes is short. */
const ROWS_MAXIMUM = 20_000

/** Inputs for making a snapshot. Can be sent to another thread, except for the disk and the pace. */
export interface SnapshotRequest {
  /** In hexadecimal. */
  readonly deploymentId: string
  readonly keys: AccessKeys
  /** Whether the follower is as the last snapshot that this process made has left it. */
  readonly followerIsWhole: boolean
  /** Free space that must be left. */
  readonly reservedBytes: number
  /** Snapshots that are kept, the new one among them: 1 or 2. */
  readonly kept: number
  readonly createdMilliseconds: Milliseconds
}

/** The snapshot that was made. */
export interface MadeSnapshot {
  readonly sequence: Sequence
  readonly bytes: number
  /** Records replayed for it. */
  readonly records: number
  /** Snapshots that were there and could not be used; they are removed. */
  readonly refused: readonly RefusedSnapshot[]
}

/**
 * Makes a snapshot of the state after all sealed segments, and removes older ones.
 *
 * The live tables are not touched: a copy of them would need a read transaction as long as the copy takes, and LMDB
 * cannot use a page again meanwhile. Other projections follow the journal instead, and are copied while they do not
 * change.
 * @returns undefined when there is nothing newer than the last snapshot
 * @throws JournalDamagedError, DiskFullError, SnapshotStoppedError, and the disk's errors
 */
export async function makeSnapshot(
  disk: Disk,
  paths: StorePaths,
  request: SnapshotRequest,
  pace: Pace,
): Promise<MadeSnapshot | undefined> {
  const before = segmentFirsts(disk, paths).at(-1) ?? 0
  const newest = usableNames(disk, paths)[0]
  if (before === 0 || newest?.sequence === before - 1) return undefined
  const refused: RefusedSnapshot[] = []
  if (!request.followerIsWhole) await beginFollower(disk, paths, request, pace, refused)
  const { records, position } = await follow(disk, paths, request, pace, before as Sequence)
  const about = {
    deploymentId: request.deploymentId,
    position,
    createdMilliseconds: request.createdMilliseconds,
  }
  const bytes = writeSnapshot(disk, paths, paths.projectionsFollower, about, { ...request, pace })
  const spoilt = new Set(refused.map(({ name }) => name))
  removeOlder(disk, paths, position.sequence, request.kept, spoilt)
  return { sequence: position.sequence, bytes, records, refused }
}

/** Makes the follower from the newest snapshot that can be used, or empty. */
async function beginFollower(
  disk: Disk,
  paths: StorePaths,
  { deploymentId, reservedBytes }: SnapshotRequest,
  pace: Pace,
  refused: RefusedSnapshot[],
): Promise<void> {
  const directory = paths.projectionsFollower
  for (const { name, path } of usableNames(disk, paths)) {
    disk.removeTree(directory)
    const restored = { path, deploymentId, directory, isDurable: false }
    const reason = await copyFault(disk, paths, restored, { pace, reservedBytes })
    if (reason === undefined) return
    refused.push({ name, reason })
  }
  disk.removeTree(directory)
  disk.makeDirectory(directory)
}

/** Applies what the follower lacks of the sealed segments, which all begin before `before`. */
async function follow(
  disk: Disk,
  paths: StorePaths,
  request: SnapshotRequest,
  pace: Pace,
  before: Sequence,
): Promise<{ readonly records: number; readonly position: AppliedPosition }> {
  const environment = ProjectionEnvironment.open(paths.projectionsFollower, { readOnly: false })
  try {
    const applied = getApplied(environment.table(TABLES.applied))?.position
    const records = replay(disk, paths, environment, applied, {
      before,
      rowsMaximum: ROWS_MAXIMUM,
      access: new AccessAuthentication(request.keys),
      progress: () => {
        requireRoom(disk, paths, 0, request.reservedBytes)
        pace.worked()
      },
    })
    const position = getApplied(environment.table(TABLES.applied))?.position
    if (position?.sequence !== previous(before)) {
      throw new JournalDamagedError(`replay ended at sequence ${position?.sequence}, before segment ${before}`)
    }
    environment.write(() => new AccessSeal(environment, request.keys.accessRows).sealAll())
    return { records, position }
  } finally {
    await environment.close()
  }
}

/** Removes snapshots that the newest replaces, that are spoilt, of another version of the tables, or ahead of the journal. */
function removeOlder(disk: Disk, paths: StorePaths, newest: Sequence, kept: number, spoilt: ReadonlySet<string>): void {
  let left = kept
  const gone = snapshotNames(disk, paths).filter(({ name, version, sequence }) => {
    if (version !== SCHEMA_VERSION || sequence > newest) return true
    if (spoilt.has(name) && sequence < newest) return true
    left -= 1
    return left < 0
  })
  for (const { path } of gone) disk.remove(path)
  if (gone.length > 0) disk.syncDirectory(paths.snapshots)
}
