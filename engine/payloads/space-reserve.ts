import type { Disk } from '../disk/disk.ts'
import { SpareFile } from '../disk/spare-file.ts'
import type { StorePaths } from '../disk/store-paths.ts'
import type { SpaceGuard } from './space-guard.ts'

/** More than the projections can grow between two checks. */
const RESERVE_BYTES = 32 << 20

/** Kept of it for the next start, which writes to the projections as well. */
const START_BYTES = 8 << 20
/** Bytes of the reserve that one start takes when the disk is full. */
const ONE_START_BYTES = 1 << 20

/** Gives a start on a full disk the space that it needs, from what an earlier run has kept for it. */
export function giveBackForStart(disk: Disk, paths: StorePaths): void {
  const kept = disk.sizeOf(paths.reserve)
  if (kept === 0 || disk.space(paths.root).availableBytes >= ONE_START_BYTES) return
  const file = disk.openToWrite(paths.reserve)
  try {
    file.truncate(Math.max(0, Math.min(START_BYTES, kept) - ONE_START_BYTES))
  } finally {
    file.close()
  }
}

/**
 * A file of zeros that reserves space for the projections. When something else fills the disk it is cut to what the
 * next start needs, so that deletions still have room to be applied; it is created again when there is space.
 */
export class SpaceReserve {
  readonly #space: SpaceGuard
  readonly #reservedBytes: number
  readonly #file: SpareFile
  #held = false

  constructor(disk: Disk, paths: StorePaths, space: SpaceGuard, reservedBytes: number) {
    this.#space = space
    this.#reservedBytes = reservedBytes
    this.#file = new SpareFile(disk, paths.root, paths.reserve, RESERVE_BYTES)
  }

  /** Whether its space is still set aside. */
  get isHeld(): boolean {
    return this.#held
  }

  /** Checks the free space. Called before every batch; costs next to nothing. */
  keepUp(): void {
    const { availableBytes } = this.#space.space
    if (this.#held && availableBytes < RESERVE_BYTES) {
      this.#held = false
      this.#file.shrink(START_BYTES)
      this.#space.readAgain()
    } else if (!this.#held && availableBytes > this.#reservedBytes + 2 * RESERVE_BYTES) {
      this.#held = true
      void this.#file.prepare().then(() => {
        // It did not fit, or a disk error: the next check tries again.
        if (!this.#file.ready) this.#held = false
      })
    }
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}
