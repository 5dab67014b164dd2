import { hash } from 'node:crypto'
import { join } from 'node:path'
import { type Disk, type DiskFile, DiskFullError } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { DATA_FILE } from '../lmdb-environment.ts'
import {
  BLOCK_BYTES,
  encodeEnd,
  readDescription,
  SnapshotDamagedError,
  type SnapshotDescription,
  snapshotPath,
} from './snapshot-file.ts'
import type { Pace } from '../steady-pace.ts'

/** Blocks that are read before they are wanted. */
const READS_AHEAD = 3

/** How the copies of a snapshot are made. */
export interface CopyOptions {
  readonly pace: Pace
  /** Free space that must be left on the file system of the store. */
  readonly reservedBytes: number
}

/**
 * Writes a snapshot of projections that do not change meanwhile. It gets its name only when it is whole and synced.
 * @returns bytes of the file
 * @throws DiskFullError when less than the reserve would be left, WorkStoppedError, and the disk's errors
 */
export function writeSnapshot(
  disk: Disk,
  paths: StorePaths,
  projections: string,
  about: Omit<SnapshotDescription, 'dataBytes' | 'blocks'>,
  { pace, reservedBytes }: CopyOptions,
): number {
  disk.makeDirectory(paths.snapshots)
  disk.remove(paths.snapshotMaking)
  const target = disk.create(paths.snapshotMaking)
  const source = disk.openToRead(join(projections, DATA_FILE))
  let bytes: number
  try {
    const dataBytes = source.size()
    const blocks: string[] = []
    for (const { block, at } of blocksOf(source, dataBytes)) {
      requireRoom(disk, paths, block.length, reservedBytes)
      blocks.push(hash('sha256', block))
      target.writeAt(block, at)
      // Many small syncs: one large sync would hold up syncs of the journal.
      target.sync()
      pace.moved(block.length)
    }
    const end = encodeEnd({ ...about, dataBytes, blocks })
    target.writeAt(end, dataBytes)
    target.sync()
    bytes = dataBytes + end.length
  } catch (error) {
    target.close()
    disk.remove(paths.snapshotMaking)
    throw error
  } finally {
    source.close()
  }
  target.close()
  disk.rename(paths.snapshotMaking, snapshotPath(paths, about.position.sequence))
  disk.syncDirectory(paths.snapshots)
  return bytes
}

/**
 * Copies the data of a snapshot into an empty directory, where LMDB can open it, checking every block on the way.
 * @param isDurable whether it is synced
 * @throws SnapshotDamagedError, DiskFullError, WorkStoppedError, and the disk's errors
 */
export async function copyData(
  disk: Disk,
  paths: StorePaths,
  snapshot: string,
  directory: string,
  { pace, reservedBytes, isDurable }: CopyOptions & { readonly isDurable: boolean },
): Promise<void> {
  disk.makeDirectory(directory)
  const source = disk.openToRead(snapshot)
  try {
    const target = disk.create(join(directory, DATA_FILE))
    try {
      for await (const { block, at } of checkedBlocks(source, readDescription(source))) {
        requireRoom(disk, paths, block.length, reservedBytes)
        target.writeAt(block, at)
        pace.moved(block.length)
      }
      if (isDurable) target.sync()
    } finally {
      target.close()
    }
  } finally {
    source.close()
  }
  if (isDurable) disk.syncDirectory(directory)
}

/**
 * Checks every block of a snapshot, and then moves its file into an empty directory, as the projections. Nothing is
 * copied, and there is one snapshot less. If the power fails before the names are durable and the old name comes back,
 * LMDB has changed the file under it, which the digests show.
 * @throws SnapshotDamagedError, before anything is changed, and the disk's errors
 */
export async function moveData(
  disk: Disk,
  paths: StorePaths,
  snapshot: string,
  directory: string,
  isDurable: boolean,
): Promise<void> {
  const dataBytes = await checkData(disk, snapshot)
  disk.makeDirectory(directory)
  const data = join(directory, DATA_FILE)
  disk.rename(snapshot, data)
  disk.syncDirectory(paths.snapshots)
  const target = disk.openToWrite(data)
  try {
    target.truncate(dataBytes)
    if (isDurable) target.sync()
  } finally {
    target.close()
  }
  if (isDurable) disk.syncDirectory(directory)
}

/**
 * Checks every block of a file.
 * @returns the length of the data
 * @throws SnapshotDamagedError, and the disk's errors
 */
export async function checkData(disk: Disk, snapshot: string): Promise<number> {
  const source = disk.openToRead(snapshot)
  try {
    const description = readDescription(source)
    for await (const _ of checkedBlocks(source, description));
    return description.dataBytes
  } finally {
    source.close()
  }
}

interface Block {
  readonly block: Buffer
  readonly at: number
}

/**
 * The data of a snapshot block by block, each with its digest checked; a block is valid until the next one. The next
 * ones are read while this one is hashed: reads from the disk are slow, and other processors help.
 * @throws SnapshotDamagedError
 */
async function* checkedBlocks(file: DiskFile, { dataBytes, blocks }: SnapshotDescription): AsyncGenerator<Block> {
  const buffers = Array.from({ length: READS_AHEAD + 1 }, () =>
    Buffer.allocUnsafeSlow(Math.min(BLOCK_BYTES, dataBytes)),
  )
  const read = async (index: number): Promise<Buffer> => {
    const length = Math.max(0, Math.min(BLOCK_BYTES, dataBytes - index * BLOCK_BYTES))
    const block = (buffers[index % buffers.length] as Buffer).subarray(0, length)
    if ((await file.readAtAsync(block, index * BLOCK_BYTES, length)) !== length) throw becameShorter(file)
    return block
  }
  const begin = (index: number): Promise<Buffer> => {
    const reading = read(index)
    // A fault counts when its block is wanted.
    reading.catch(() => undefined)
    return reading
  }
  const ahead = Array.from({ length: READS_AHEAD }, (_, index) => begin(index))
  try {
    for (const [index, digest] of blocks.entries()) {
      const block = (await ahead[index % READS_AHEAD]) as Buffer
      ahead[index % READS_AHEAD] = begin(index + READS_AHEAD)
      const at = index * BLOCK_BYTES
      if (hash('sha256', block) !== digest) {
        throw new SnapshotDamagedError(`${file.path}, offset ${at}: the digest of the block is wrong`)
      }
      yield { block, at }
    }
  } finally {
    // The reads must end first: the caller closes the file, and another file may get its number.
    await Promise.allSettled(ahead)
  }
}

/** The first `length` bytes of a file, block by block; a block is valid until the next one. */
function* blocksOf(file: DiskFile, length: number): Generator<Block> {
  const bytes = Buffer.allocUnsafeSlow(Math.min(BLOCK_BYTES, length))
  for (let at = 0; at < length; at += BLOCK_BYTES) {
    const block = bytes.subarray(0, Math.min(BLOCK_BYTES, length - at))
    if (file.readAt(block, at, block.length) !== block.length) throw becameShorter(file)
    yield { block, at }
  }
}

function becameShorter({ path }: DiskFile): Error {
  return new Error(`${path} became shorter`)
}

/** @throws DiskFullError */
export function requireRoom(disk: Disk, paths: StorePaths, bytes: number, reservedBytes: number): void {
  const { availableBytes } = disk.space(paths.root)
  if (availableBytes - bytes >= reservedBytes) return
  throw new DiskFullError(`a snapshot needs ${bytes} bytes more than storage.reserved_mib, ${availableBytes} are free`)
}
