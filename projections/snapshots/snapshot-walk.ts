import { createHash, type Hash } from 'node:crypto'
import type { Disk, DiskFile } from '../../engine/disk/disk.ts'
import { isUnreadable } from '../../engine/disk/unreadable.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import {
  BLOCK_BYTES,
  readDescription,
  SnapshotDamagedError,
  type SnapshotDescription,
  type SnapshotName,
} from './snapshot-file.ts'
import type { RefusedSnapshot } from './restore-snapshot.ts'
import { chainFiles } from './snapshot-chain.ts'

/** A snapshot that was found damaged, and removed. */
export type DamagedSnapshot = RefusedSnapshot

interface OpenSnapshot {
  readonly snapshot: SnapshotName
  readonly file: DiskFile
  readonly description: SnapshotDescription
  /** Of the bytes of its block before `position`. */
  hash: Hash
  position: number
}

/** Reads every snapshot, some bytes at a time, and removes damaged ones: what they are derived from is the journal. */
export class SnapshotWalk {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #piece: Buffer
  /** Names that this pass has read. */
  readonly #read = new Set<string>()
  #open: OpenSnapshot | undefined

  /** @param pieceBytes bytes that are read at once: a whole number of them is a block */
  constructor(disk: Disk, paths: StorePaths, pieceBytes: number) {
    this.#disk = disk
    this.#paths = paths
    this.#piece = Buffer.allocUnsafeSlow(pieceBytes)
  }

  /**
   * Reads on by a piece, or opens the next snapshot.
   * @returns a damaged snapshot when it met one; `over` at the end of a pass, and then the next call is the first of another
   */
  next(): 'more' | 'over' | DamagedSnapshot {
    const snapshot =
      this.#open?.snapshot ?? chainFiles(this.#disk, this.#paths).find(({ name }) => !this.#read.has(name))
    if (snapshot === undefined) {
      this.#read.clear()
      return 'over'
    }
    try {
      this.#readOn(snapshot)
      return 'more'
    } catch (error) {
      this.close()
      this.#read.add(snapshot.name)
      // A newer snapshot has taken its place meanwhile.
      if (!this.#disk.exists(snapshot.path)) return 'more'
      if (!(error instanceof SnapshotDamagedError) && !isUnreadable(error)) throw error
      this.#disk.remove(snapshot.path)
      this.#disk.syncDirectory(this.#paths.snapshots)
      return { name: snapshot.name, reason: (error as Error).message }
    }
  }

  close(): void {
    this.#open?.file.close()
    this.#open = undefined
  }

  /** @throws SnapshotDamagedError, and the disk's errors */
  #readOn(snapshot: SnapshotName): void {
    const open = (this.#open ??= opened(this.#disk, snapshot))
    const { file, position, description } = open
    const { dataBytes, blocks } = description
    const length = Math.min(this.#piece.length, dataBytes - position)
    if (file.readAt(this.#piece, position, length) !== length) throw damaged(file, position, 'the file became shorter')
    open.hash.update(this.#piece.subarray(0, length))
    open.position += length
    const isOver = open.position === dataBytes
    if (isOver || open.position % BLOCK_BYTES === 0) {
      const index = Math.ceil(open.position / BLOCK_BYTES) - 1
      if (open.hash.digest('hex') !== blocks[index]) {
        throw damaged(file, index * BLOCK_BYTES, 'the digest of the block is wrong')
      }
      open.hash = createHash('sha256')
    }
    if (!isOver) return
    this.close()
    this.#read.add(snapshot.name)
  }
}

function opened(disk: Disk, snapshot: SnapshotName): OpenSnapshot {
  const file = disk.openToRead(snapshot.path)
  try {
    return { snapshot, file, description: readDescription(file), hash: createHash('sha256'), position: 0 }
  } catch (error) {
    file.close()
    throw error
  }
}

function damaged({ path }: DiskFile, at: number, what: string): SnapshotDamagedError {
  return new SnapshotDamagedError(`${path}, offset ${at}: ${what}`)
}
