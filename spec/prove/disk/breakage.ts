import type { Disk } from '../../../engine/disk/disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'

/** A way to break a store from outside, for showing that the proof would notice. */
export interface Breakage {
  readonly name: string
  /** Stands between the store and its disk. */
  readonly wrap?: (disk: Disk) => Disk
  /** Happens before each opening. */
  readonly beforeOpening?: (disk: Disk, paths: StorePaths) => void
  /** Changes a part of the engine, until the function that it returns is called. */
  readonly install?: () => () => void
}

export const UNBROKEN: Breakage = { name: 'none' }
