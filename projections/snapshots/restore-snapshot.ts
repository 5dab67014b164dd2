import { type Disk, isDiskFull } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { checkData, type CopyOptions, copyData, moveData } from './copy-snapshot.ts'
import { readDescription, SnapshotDamagedError, type SnapshotDescription } from './snapshot-file.ts'
import type { ChangesName } from './snapshot-chain.ts'
import { next, type Sequence } from '../../engine/brands.ts'
import { JournalDamagedError } from '../../engine/journal/journal-errors.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import { readSegmentFacts, type SegmentFacts } from '../../engine/journal/segment-chain.ts'

/** A snapshot that was there and was not used. */
export interface RefusedSnapshot {
  /** Of its file. */
  readonly name: string
  readonly reason: string
}

/** Where the projections come from and go to. */
interface Restored {
  /** Path of the snapshot. */
  readonly path: string
  /** Of its last record, as its name says. */
  readonly sequence: Sequence
  /** In hexadecimal. */
  readonly deploymentId: string
  /** Where the projections go; it does not exist, or is empty. */
  readonly directory: string
  /** Whether they are synced. */
  readonly isDurable: boolean
}

/**
 * The description of a snapshot.
 * @throws SnapshotDamagedError, and the disk's errors
 */
export function descriptionOf(disk: Disk, path: string): SnapshotDescription {
  const file = disk.openToRead(path)
  try {
    return readDescription(file)
  } finally {
    file.close()
  }
}

/**
 * Copies the projections out of a snapshot, checking that it continues into the journal and that every block of it is
 * whole.
 * @returns why it cannot be used; then the copy is worthless
 * @throws DiskFullError, WorkStoppedError
 */
export function copyFault(
  disk: Disk,
  paths: StorePaths,
  restored: Restored,
  options: CopyOptions,
): Promise<string | undefined> {
  const { path, directory, isDurable } = restored
  return faultOf(disk, paths, restored, () => {
    requireNamed(disk, restored)
    return copyData(disk, paths, path, directory, { ...options, isDurable })
  })
}

/**
 * The same without a copy: the snapshot's file becomes the projections' file. A snapshot that cannot be used stays
 * where it is.
 * @returns why it cannot be used
 */
export function moveFault(disk: Disk, paths: StorePaths, restored: Restored): Promise<string | undefined> {
  const { path, directory, isDurable } = restored
  return faultOf(disk, paths, restored, () => {
    requireNamed(disk, restored)
    return moveData(disk, paths, path, directory, isDurable)
  })
}

/** @throws SnapshotDamagedError for a snapshot under the name of another one */
function requireNamed(disk: Disk, { path, sequence }: Restored): void {
  const { changes, position } = descriptionOf(disk, path)
  if (changes === undefined && position.sequence === sequence) return
  throw new SnapshotDamagedError(`${path}: its rows are of another position than its name says`)
}

/**
 * Why a file of changes cannot be used: it does not continue into the journal, is not what its name says, or a block of it is
 * damaged.
 */
export function changesFault(
  disk: Disk,
  paths: StorePaths,
  { path, from, sequence }: ChangesName,
  deploymentId: string,
): Promise<string | undefined> {
  return faultOf(disk, paths, { path, deploymentId }, async () => {
    const { changes, position } = descriptionOf(disk, path)
    if (changes?.from !== from || position.sequence !== sequence) {
      throw new SnapshotDamagedError(`${path}: its changes are others than its name says`)
    }
    await checkData(disk, path)
  })
}

async function faultOf(
  disk: Disk,
  paths: StorePaths,
  { path, deploymentId }: Pick<Restored, 'path' | 'deploymentId'>,
  restore: () => Promise<void>,
): Promise<string | undefined> {
  try {
    const fault = placeFault(disk, paths, deploymentId, descriptionOf(disk, path))
    if (fault === undefined) await restore()
    return fault
  } catch (error) {
    if (isDiskFull(error)) throw error
    if (error instanceof SnapshotDamagedError) return error.message
    // A disk that cannot read it is as good as damage.
    if ((error as NodeJS.ErrnoException).code === 'EIO') return `it cannot be read: ${(error as Error).message}`
    throw error
  }
}

/**
 * Why a snapshot does not continue into this journal; undefined when it does. Its last record must be in the journal, with
 * the same hash, at the same place, and be the seal that the next segment continues.
 * @param deploymentId in hexadecimal
 */
function placeFault(
  disk: Disk,
  paths: StorePaths,
  deploymentId: string,
  description: Pick<SnapshotDescription, 'deploymentId' | 'position'>,
): string | undefined {
  if (description.deploymentId !== deploymentId) return 'it is of another deployment'
  const { position } = description
  const { sequence, segmentFirstSequence: own } = position
  const following = next(sequence)
  const firsts = segmentFirsts(disk, paths)
  const last = firsts.at(-1) ?? 0
  if (following > last) {
    return `it is ahead of the journal: it holds sequence ${sequence}, and the last segment begins with ${last}`
  }
  const missing = [own, following].find((first) => !firsts.includes(first))
  if (missing !== undefined) return `no segment of the journal begins with sequence ${missing}`
  const [segment, after] = [own, following].map((first) => factsOf(disk, paths.segment(first)))
  if (after === undefined) return `the segment after sequence ${sequence} cannot be read`
  const { sealed, header } = segment ?? {}
  const stated = Buffer.from(position.head)
  if (!stated.equals(sealed?.hash ?? stated) || !stated.equals(after.header.chainHead)) {
    return `the journal has another hash for sequence ${sequence}`
  }
  // The segment after it alone proves the last record of the one before, which may be damaged.
  const isSealedThere =
    sealed === undefined ||
    (sealed.seal.lastSequence + 1 === sequence &&
      sealed.batch === position.batch &&
      sealed.offset === position.batchOffset)
  const isThere =
    isSealedThere &&
    (header === undefined || header.segmentNumber === position.segmentNumber) &&
    after.header.segmentNumber === position.segmentNumber + 1 &&
    after.header.firstBatch === position.batch + 1
  if (!isThere) return `sequence ${sequence} is at another place of the journal`
  const ids = [header ?? after.header, after.header].map(({ deploymentId: id }) => Buffer.from(id).toString('hex'))
  return ids.every((id) => id === deploymentId) ? undefined : 'the segments around it are of another deployment'
}

function factsOf(disk: Disk, path: string): SegmentFacts | undefined {
  try {
    return readSegmentFacts(disk, path)
  } catch (error) {
    if (error instanceof JournalDamagedError) return undefined
    throw error
  }
}
