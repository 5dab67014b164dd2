import type { Disk } from '../disk/disk.ts'
import { SpareFile } from '../disk/spare-file.ts'
import type { StorePaths } from '../disk/store-paths.ts'
import type { SpaceGuard } from './space-guard.ts'

/** More than the projections can grow between two checks. */
const RESERVE_BYTES = 32 << 20

/**
 * A file of zeros that reserves space for the projections. When something else fills the disk it is removed, so deletions
 * still have room to be applied; it is created again when there is space.
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

  /** Checks the free space. Called before every batch; costs next to nothing. */
  keepUp(): void {
    const { availableBytes } = this.#space.space
    if (this.#held && availableBytes < RESERVE_BYTES) {
      this.#held = false
      this.#file.discard()
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
