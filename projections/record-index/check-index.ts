import type { Disk } from '../../engine/disk/disk.ts'
import { isUnreadable } from '../../engine/disk/unreadable.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { IndexFile } from './index-file.ts'
import { RecordIndexDamagedError } from './index-format.ts'
import { listIndex } from './index-names.ts'

/** Blocks of a step: 1 MiB. */
const STEP_BLOCKS = 128

/** A file that a check found damaged. */
interface DamagedIndex {
  readonly path: string
  readonly reason: string
}

/** Reads every block of every file of the record index, some in a step. */
export class IndexCheck {
  readonly #disk: Disk
  readonly #paths: StorePaths
  /** Paths of the pass that are left. */
  #left: string[] | undefined
  #file: { readonly path: string; readonly file: IndexFile; readonly blocks: Generator<number, void> } | undefined

  constructor(disk: Disk, paths: StorePaths) {
    this.#disk = disk
    this.#paths = paths
  }

  /** @throws the disk's errors, other than that bytes cannot be read */
  next(): 'more' | 'over' | DamagedIndex {
    this.#left ??= listIndex(this.#disk, this.#paths).used.map(({ path }) => path)
    const path = this.#file?.path ?? this.#left.shift()
    if (path === undefined) {
      this.#left = undefined
      return 'over'
    }
    try {
      this.#some(path)
      return 'more'
    } catch (error) {
      this.close()
      // It was put together with others meanwhile, which were read for it.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'more'
      if (!(error instanceof RecordIndexDamagedError) && !isUnreadable(error)) throw error
      return { path, reason: (error as Error).message }
    }
  }

  close(): void {
    this.#file?.file.close()
    this.#file = undefined
  }

  #some(path: string): void {
    if (this.#file === undefined) {
      const file = IndexFile.open(this.#disk, path)
      this.#file = { path, file, blocks: file.check() }
    }
    const { blocks } = this.#file
    for (let count = 0; count < STEP_BLOCKS; count += 1) if (blocks.next().done === true) return this.close()
  }
}
